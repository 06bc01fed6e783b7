package chunk

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// LightRAG's window, in tokens.
const (
	DefaultSize    = 1200
	DefaultOverlap = 100
)

// MaxSize is the largest window, four times the tokens that any document can have.
const MaxSize = 1 << 30

// driftShare is the default share of the size that WithDrift allows: 3 tokens of 1200, 2 of 800, none
// below 400. Cutting a text between two tokens can spoil merges of the encoder, so a window encoded on
// its own has now and then a token or two more than it had inside its text (LightRAG's recorded chunks:
// up to 1 at 1200, up to 2 at 800). At large sizes, which are budgets, the exact windows of the reference
// are worth more than that token.
const driftShare = 400

// Window cuts windows of Size tokens that start every Size-Overlap tokens: LightRAG's fixed-token
// strategy, byte for byte.
type Window struct {
	tok           llm.Tokenizer
	size, overlap int
	drift         int
	dropContained bool
	separator     string
	separatorOnly bool
}

// Option changes a Window.
type Option func(*Window)

// WithoutContained leaves out windows that lie wholly inside the one before, which is what the last
// window does when at most Overlap tokens remain. The reference keeps them, and so does the default.
func WithoutContained() Option { return func(w *Window) { w.dropContained = true } }

// WithDrift sets by how many tokens a chunk encoded on its own may exceed the size before it is
// shortened. The default is size/400: none for sizes below 400. Negative counts as none.
func WithDrift(tokens int) Option { return func(w *Window) { w.drift = min(max(tokens, 0), MaxSize) } }

// WithSeparator first cuts the text at every sep, literally; sep belongs to no chunk. Segments over the
// size are cut into windows that do not reach into other segments; small ones are not joined. With only,
// they are refused with a *LimitError instead. An empty sep counts as not given.
func WithSeparator(sep string, only bool) Option {
	return func(w *Window) { w.separator, w.separatorOnly = sep, only && sep != "" }
}

// NewWindow returns a window chunker; see DefaultSize and DefaultOverlap. size must be 1 to MaxSize
// and overlap between 0 and size-1, else the error is a *ConfigError.
func NewWindow(tok llm.Tokenizer, size, overlap int, opts ...Option) (*Window, error) {
	if tok == nil {
		return nil, &ConfigError{Field: "tokenizer", Reason: "missing"}
	}
	if err := checkSize(size, overlap); err != nil {
		return nil, err
	}
	w := &Window{tok: tok, size: size, overlap: overlap, drift: size / driftShare}
	for _, o := range opts {
		o(w)
	}
	return w, nil
}

func checkSize(size, overlap int) error {
	switch {
	case size < 1 || size > MaxSize:
		return &ConfigError{Field: "size", Value: size, Reason: fmt.Sprintf("must be 1 to %d", MaxSize)}
	case overlap < 0:
		return &ConfigError{Field: "overlap", Value: overlap, Reason: "must be 0 or more"}
	case overlap >= size:
		return &ConfigError{Field: "overlap", Value: overlap, Reason: fmt.Sprintf("must be less than the size, %d", size)}
	}
	return nil
}

// Size returns the window's length in tokens.
func (w *Window) Size() int { return w.size }

// ID names the encoding and every setting.
func (w *Window) ID() string {
	id := fmt.Sprintf("window(%s,%d,%d", w.tok.ID(), w.size, w.overlap)
	if w.drift != w.size/driftShare {
		id += fmt.Sprintf(",drift=%d", w.drift)
	}
	if w.dropContained {
		id += ",uncontained"
	}
	if w.separator != "" {
		id += fmt.Sprintf(",sep=%q,only=%t", w.separator, w.separatorOnly)
	}
	return id + ")"
}

// Split implements Chunker. It encodes the text once and each window once more, which costs
// size/(size-overlap) times the text. Errors: ErrUTF8; ErrTokenizer; *LimitError for a single character
// of more than size tokens, or as WithSeparator says; ctx's own.
func (w *Window) Split(ctx context.Context, text string) ([]Span, error) {
	if !utf8.ValidString(text) {
		return nil, ErrUTF8
	}
	if w.separator == "" {
		return w.windows(ctx, nil, text, 0, len(text))
	}
	var (
		spans []Span
		err   error
	)
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.Index(text[start:], w.separator); i >= 0 {
			end = start + i
		}
		if spans, err = w.segment(ctx, spans, text, start, end); err != nil {
			return nil, err
		}
		start = end + len(w.separator)
		if end == len(text) {
			break
		}
	}
	return spans, nil
}

// segment appends the chunks of text[start:end], which stays whole when it can.
func (w *Window) segment(ctx context.Context, dst []Span, text string, start, end int) ([]Span, error) {
	n := w.tok.Count(text[start:end])
	if n > w.size {
		if w.separatorOnly {
			return nil, &LimitError{Tokens: n, Limit: w.size, Start: start, End: end, Preview: preview(text[start:end])}
		}
		return w.windows(ctx, dst, text, start, end)
	}
	if s, e := trim(text, start, end); s < e {
		dst = append(dst, Span{Start: s, End: e, Tokens: n})
	}
	return dst, nil
}

// windows appends the windows of text[from:to].
//
// Nominal windows start at 0, step, 2·step, ... while they start inside the text, and take size tokens.
// An edge inside a character moves back to the beginning of that character; a window that is still over
// the size when encoded on its own gives up tokens at its end. Whenever that leaves a gap to the next
// nominal start, the next window starts where this one ended (C5), and windows go on until the end of
// the text is reached.
func (w *Window) windows(ctx context.Context, dst []Span, text string, from, to int) ([]Span, error) {
	cuts, err := w.cuts(text[from:to])
	if err != nil {
		return nil, err
	}
	total, step := len(cuts)-1, w.size-w.overlap
	// back returns the nearest cut at or before token i that cuts no character.
	back := func(i int) int {
		for i > 0 && !atCharacter(text[:to], from+cuts[i]) {
			i--
		}
		return i
	}
	prevStart, prevEnd := -1, 0
	for nominal := 0; nominal < total || prevEnd < total; nominal += step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := min(back(min(nominal, total)), prevEnd)
		if start == prevStart {
			continue // several nominal starts inside one character
		}
		end, s, e, err := w.fit(text, from, cuts, back, start)
		if err != nil {
			return nil, err
		}
		contained := end <= prevEnd
		prevStart, prevEnd = start, max(end, prevEnd)
		if s == e || contained && w.dropContained {
			continue
		}
		if n := len(dst); n > 0 && dst[n-1].Start == s && dst[n-1].End >= e {
			continue // its start differs from the last one's in white space only
		}
		dst = append(dst, Span{Start: s, End: e, Tokens: end - start})
	}
	return dst, nil
}

// fit chooses the end of the window that starts at token start and returns it with the window's bytes,
// white space cut off.
func (w *Window) fit(text string, from int, cuts []int, back func(int) int, start int) (end, s, e int, err error) {
	end = back(min(start+w.size, len(cuts)-1))
	for {
		if end <= start {
			return 0, 0, 0, w.tooLong(text, from+cuts[start])
		}
		s, e = trim(text, from+cuts[start], from+cuts[end])
		over := w.tok.Count(text[s:e]) - w.size - w.drift
		if over <= 0 {
			return end, s, e, nil
		}
		end = back(max(end-over, start))
	}
}

func (w *Window) tooLong(text string, at int) error {
	_, n := utf8.DecodeRuneInString(text[at:])
	char := text[at : at+n]
	return &LimitError{Tokens: w.tok.Count(char), Limit: w.size, Start: at, End: at + n, Preview: char}
}

// cuts returns the byte offset of every token of text, and len(text) at the end.
func (w *Window) cuts(text string) ([]int, error) {
	tokens := w.tok.Encode(nil, text)
	cuts := make([]int, len(tokens)+1)
	at := 0
	for i := range tokens {
		b := w.tok.Decode(tokens[i : i+1])
		if at+len(b) > len(text) || text[at:at+len(b)] != string(b) {
			return nil, fmt.Errorf("%w: %s at byte %d", ErrTokenizer, w.tok.ID(), at)
		}
		at += len(b)
		cuts[i+1] = at
	}
	if at != len(text) {
		return nil, fmt.Errorf("%w: %s stops at byte %d of %d", ErrTokenizer, w.tok.ID(), at, len(text))
	}
	return cuts, nil
}
