package chunk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a chunk: the bytes text[Start:End].
type Span struct {
	Start, End int
	// Tokens is the chunk's length by the engine's tokenizer. For Window it is the length of the window
	// before white space was cut off its ends. A Chunker that does not count may leave 0; Limit fills it.
	Tokens int
	// Context is what a reader of the chunk alone misses: the headings above it, outermost first, and in the later
	// part of a table its header row. It is no part of the text; at most MaxContext bytes, valid UTF-8; may be
	// empty.
	Context string
}

// MaxContext is the length of a span's Context in bytes.
const MaxContext = 1024

// Text returns the chunk's part of text.
func (s Span) Text(text string) string { return text[s.Start:s.End] }

// Chunker cuts a text into chunks. Users implement it; Func makes one of a function.
type Chunker interface {
	// Split returns the spans of text in order, none for a text without content. text is valid UTF-8 and
	// at most a document long. The slice is the caller's. Safe for concurrent use. It ends soon after ctx does.
	Split(ctx context.Context, text string) ([]Span, error)
	// ID names the method and every setting that changes its spans; it is stored with the document.
	ID() string
}

// Func makes a Chunker of a function.
func Func(id string, split func(ctx context.Context, text string) ([]Span, error)) Chunker {
	return funcChunker{id, split}
}

type funcChunker struct {
	id    string
	split func(ctx context.Context, text string) ([]Span, error)
}

func (f funcChunker) Split(ctx context.Context, text string) ([]Span, error) {
	return f.split(ctx, text)
}

func (f funcChunker) ID() string { return f.id }

// The errors of this package, for errors.Is.
var (
	// ErrConfig is in the chain of a *ConfigError.
	ErrConfig = errors.New("chunk: bad configuration")
	// ErrLimit is in the chain of a *LimitError.
	ErrLimit = errors.New("chunk: text over the token limit")
	// ErrSpan is in the chain of a *SpanError.
	ErrSpan = errors.New("chunk: bad span")
	// ErrUTF8 means a text that is not valid UTF-8.
	ErrUTF8 = errors.New("chunk: text is not valid UTF-8")
	// ErrTokenizer means a tokenizer whose tokens do not decode to the text they were made of.
	ErrTokenizer = errors.New("chunk: tokenizer does not reproduce its input")
)

// ConfigError says which setting cannot be used.
type ConfigError struct {
	Field  string // "tokenizer", or the name of a field of Spec in JSON
	Value  int    // of a number; else it is in Reason
	Reason string
}

func (e *ConfigError) Error() string {
	if e.Value == 0 {
		return fmt.Sprintf("%v: %s: %s", ErrConfig, e.Field, e.Reason)
	}
	return fmt.Sprintf("%v: %s %d: %s", ErrConfig, e.Field, e.Value, e.Reason)
}

// Unwrap returns ErrConfig.
func (e *ConfigError) Unwrap() error { return ErrConfig }

// LimitError says which part of a text is over the limit and may not or cannot be cut.
type LimitError struct {
	Tokens, Limit int
	// Start and End are the bytes of the text.
	Start, End int
	// Preview is the beginning of that part, at most 120 characters.
	Preview string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: bytes %d to %d have %d tokens, the limit is %d", ErrLimit, e.Start, e.End, e.Tokens, e.Limit)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// SpanError says what is wrong with a span.
type SpanError struct {
	Index  int // place in the list
	Span   Span
	Reason string
}

func (e *SpanError) Error() string {
	return fmt.Sprintf("%v: number %d, bytes %d to %d: %s", ErrSpan, e.Index, e.Span.Start, e.Span.End, e.Reason)
}

// Unwrap returns ErrSpan.
func (e *SpanError) Unwrap() error { return ErrSpan }

// Check reports the first span that breaks C1, C2 or C3 as a *SpanError, or nil. It costs one pass over
// the spans' texts.
func Check(text string, spans []Span) error {
	for i, s := range spans {
		reason := ""
		switch {
		case s.Start < 0 || s.End > len(text) || s.Start > s.End:
			reason = fmt.Sprintf("outside the text of %d bytes", len(text))
		case s.Start == s.End:
			reason = "empty"
		case s.Tokens < 0:
			reason = "negative token count"
		case !atCharacter(text, s.Start) || !atCharacter(text, s.End):
			reason = "an edge lies inside a character"
		case !utf8.ValidString(s.Text(text)):
			reason = "not valid UTF-8"
		case len(strings.TrimSpace(s.Text(text))) != s.End-s.Start:
			reason = "white space at an end"
		case len(s.Context) > MaxContext || !utf8.ValidString(s.Context):
			reason = fmt.Sprintf("its context is not UTF-8, or longer than %d bytes", MaxContext)
		case i > 0 && s.Start == spans[i-1].Start && s.End == spans[i-1].End:
			reason = "given twice"
		case i > 0 && (s.Start < spans[i-1].Start || s.Start == spans[i-1].Start && s.End < spans[i-1].End):
			reason = "out of order"
		default:
			continue
		}
		return &SpanError{Index: i, Span: s, Reason: reason}
	}
	return nil
}

// atCharacter tells whether no character of text is cut at byte i.
func atCharacter(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }

// trim narrows text[start:end] by the white space at its ends.
func trim(text string, start, end int) (int, int) {
	s := text[start:end]
	left := strings.TrimLeftFunc(s, unicode.IsSpace)
	start += len(s) - len(left)
	return start, start + len(strings.TrimRightFunc(left, unicode.IsSpace))
}

const previewRunes = 120

func preview(s string) string {
	n := 0
	for i := range s {
		if n == previewRunes {
			return s[:i]
		}
		n++
	}
	return s
}
