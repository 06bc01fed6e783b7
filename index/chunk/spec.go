package chunk

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// Method is a way to cut text.
type Method string

// The methods that New builds.
const (
	// Windows cuts windows of a fixed number of tokens that overlap, or at a separator of the caller's.
	Windows Method = "window"
	// Recursive cuts at the strongest separator that makes pieces small enough, and fills chunks with them.
	Recursive Method = "recursive"
	// Semantic cuts where the meaning of neighbouring sentences, by their embeddings, changes most.
	Semantic Method = "semantic"
	// Markdown cuts between sections and blocks, keeps tables and code together, and tells the headings above a
	// chunk in its Context.
	Markdown Method = "markdown"
)

// The methods of a document that was cut by its caller. New builds none of them.
const (
	// Given is spans that came with the document; Spec.ID is a hash of them.
	Given Method = "spans"
	// Custom is a Chunker of the caller; Spec.ID is its ID.
	Custom Method = "custom"
)

// Methods are those that New builds.
func Methods() []Method { return []Method{Windows, Recursive, Semantic, Markdown} }

// Threshold says which distances between sentences are breakpoints.
type Threshold string

// The thresholds, each with the default of Spec.Amount.
const (
	Percentile        Threshold = "percentile"         // distances above this percentile; 95
	StandardDeviation Threshold = "standard_deviation" // above the mean by so many standard deviations; 3
	Interquartile     Threshold = "interquartile"      // above the mean by so many interquartile ranges; 1.5
	Gradient          Threshold = "gradient"           // where the slope of the distances is above this percentile; 95
)

// thresholds in order, with their default amounts and largest values.
var thresholds = []struct {
	name         Threshold
	amount, most float64
}{{Percentile, 95, 100}, {StandardDeviation, 3, math.MaxFloat64}, {Interquartile, 1.5, math.MaxFloat64}, {Gradient, 95, 100}}

// Thresholds are all of them.
func Thresholds() []Threshold {
	var all []Threshold
	for _, t := range thresholds {
		all = append(all, t.name)
	}
	return all
}

// Spec describes a chunker as data: what an option names, and what is stored with a document. Zero fields mean
// the defaults; fields of other methods are not looked at.
type Spec struct {
	// Method; empty: Windows.
	Method Method `json:"method,omitempty"`
	// Size is the largest chunk in tokens; 0: 1200, range 1 to 2³⁰.
	Size int `json:"size,omitempty"`
	// Overlap is how many tokens a chunk may share with the next; 0: 100, at most a quarter of Size; negative:
	// none; less than Size. Markdown uses it inside blocks that are too large, Semantic never.
	Overlap int `json:"overlap,omitempty"`

	// Separator cuts the text of Windows first, literally; empty: none. See WithSeparator.
	Separator string `json:"separator,omitempty"`
	// SeparatorOnly makes a segment over Size a *LimitError instead of windows.
	SeparatorOnly bool `json:"separator_only,omitempty"`
	// SkipContained leaves out windows inside the one before, see WithoutContained.
	SkipContained bool `json:"skip_contained,omitempty"`

	// Separators of Recursive, strongest first; nil: DefaultSeparators. At most 64 of 256 bytes each; an empty one
	// means between any two characters, and belongs at the end.
	Separators []string `json:"separators,omitempty"`
	// LeadingPunctuation puts separators at the beginning of the piece that follows, as the reference does, where
	// "。" opens the next sentence. Without it those with a visible character end the piece before.
	LeadingPunctuation bool `json:"leading_punctuation,omitempty"`

	// Threshold of Semantic; empty: Percentile.
	Threshold Threshold `json:"threshold,omitempty"`
	// Amount of the threshold; 0: its default. Percentiles are at most 100, none is negative.
	Amount float64 `json:"amount,omitempty"`
	// Buffer is how many sentences on either side are embedded together with one; 0: 1, negative: none, at most 100.
	Buffer int `json:"buffer,omitempty"`
	// MinCharacters is the least length of a chunk: a breakpoint that would make a shorter one is none; 0: no
	// minimum.
	MinCharacters int `json:"min_characters,omitempty"`
	// Chunks, when above 0, replaces Threshold and Amount by the percentile of distances that gives about as many
	// chunks.
	Chunks int `json:"chunks,omitempty"`

	// ID belongs to Given and Custom.
	ID string `json:"id,omitempty"`
}

// Bounds of a Spec.
const (
	maxSeparators     = 64
	maxSeparatorBytes = 256
	maxBuffer         = 100
)

// DefaultSeparators are those of Recursive: blank line, line end, the sentence and clause marks of Chinese and
// Japanese, space, and between any two characters. ASCII marks are left out, since they stand in numbers and
// names, too.
func DefaultSeparators() []string {
	return []string{"\n\n", "\n", "。", "！", "？", "；", "，", " ", ""}
}

// Over returns s with zero fields taken from base: Method, Size and Overlap, and the others when the methods are
// the same.
func (s Spec) Over(base Spec) Spec {
	if s.Method == "" {
		s.Method = base.Method
	}
	if s.Size == 0 {
		s.Size = base.Size
		if s.Overlap == 0 {
			s.Overlap = base.Overlap
		}
	}
	if s.Method != base.Method {
		return s
	}
	if s.Separator == "" {
		s.Separator, s.SeparatorOnly = base.Separator, s.SeparatorOnly || base.SeparatorOnly
	}
	s.SkipContained = s.SkipContained || base.SkipContained
	if s.Separators == nil {
		s.Separators = slices.Clone(base.Separators)
	}
	s.LeadingPunctuation = s.LeadingPunctuation || base.LeadingPunctuation
	if s.Threshold == "" {
		s.Threshold = base.Threshold
		if s.Amount == 0 {
			s.Amount = base.Amount
		}
	}
	set := func(field *int, v int) {
		if *field == 0 {
			*field = v
		}
	}
	set(&s.Buffer, base.Buffer)
	set(&s.MinCharacters, base.MinCharacters)
	set(&s.Chunks, base.Chunks)
	return s
}

// WithDefaults fills zero fields, so that later defaults cannot change what s means, clears those of other
// methods, and returns a *ConfigError for one out of range. Doing it again changes nothing.
func (s Spec) WithDefaults() (Spec, error) {
	out := Spec{Method: s.Method, Size: s.Size, Overlap: s.Overlap}
	if out.Method == "" {
		out.Method = Windows
	}
	if out.Size == 0 {
		out.Size = DefaultSize
	}
	if out.Overlap == 0 {
		out.Overlap = min(DefaultOverlap, out.Size/4) // small windows are for tests and tiny texts
	}
	if out.Overlap <= 0 {
		out.Overlap = -1
	}
	if err := checkSize(out.Size, max(out.Overlap, 0)); err != nil {
		return s, err
	}
	var err error
	switch out.Method {
	case Windows:
		out.Separator, out.SeparatorOnly, out.SkipContained = s.Separator, s.SeparatorOnly && s.Separator != "", s.SkipContained
		if len(s.Separator) > maxSeparatorBytes || !utf8.ValidString(s.Separator) {
			err = &ConfigError{Field: "separator", Value: len(s.Separator), Reason: fmt.Sprintf("bytes: must be UTF-8 of at most %d", maxSeparatorBytes)}
		}
	case Recursive:
		out.Separators, out.LeadingPunctuation = slices.Clone(s.Separators), s.LeadingPunctuation
		if out.Separators == nil {
			out.Separators = DefaultSeparators()
		}
		err = checkSeparators(out.Separators)
	case Semantic:
		out.Overlap = -1
		out.Threshold, out.Amount, out.Buffer, out.MinCharacters, out.Chunks = s.Threshold, s.Amount, s.Buffer, s.MinCharacters, s.Chunks
		err = out.semanticDefaults()
	case Markdown:
	case Given, Custom:
		out.ID = s.ID
	default:
		err = &ConfigError{Field: "method", Reason: fmt.Sprintf("%.40q: must be one of %s", string(s.Method), list(Methods()))}
	}
	return out, err
}

func (s *Spec) semanticDefaults() error {
	if s.Threshold == "" {
		s.Threshold = Percentile
	}
	i := slices.Index(Thresholds(), s.Threshold)
	if i < 0 {
		return &ConfigError{Field: "threshold", Reason: fmt.Sprintf("%.40q: must be one of %s", string(s.Threshold), list(Thresholds()))}
	}
	if s.Amount == 0 {
		s.Amount = thresholds[i].amount
	}
	if s.Buffer == 0 {
		s.Buffer = 1
	}
	s.Buffer = max(s.Buffer, -1)
	switch {
	case !(s.Amount > 0 && s.Amount <= thresholds[i].most): // nor NaN
		return &ConfigError{Field: "amount", Reason: fmt.Sprintf("%g: must be above 0 and at most %g", s.Amount, thresholds[i].most)}
	case s.Buffer > maxBuffer:
		return &ConfigError{Field: "buffer", Value: s.Buffer, Reason: fmt.Sprintf("must be at most %d", maxBuffer)}
	case s.MinCharacters < 0:
		return &ConfigError{Field: "min_characters", Value: s.MinCharacters, Reason: "must be 0 or more"}
	case s.Chunks < 0:
		return &ConfigError{Field: "chunks", Value: s.Chunks, Reason: "must be 0 or more"}
	}
	return nil
}

func checkSeparators(seps []string) error {
	if len(seps) == 0 || len(seps) > maxSeparators {
		return &ConfigError{Field: "separators", Value: len(seps), Reason: fmt.Sprintf("must be 1 to %d", maxSeparators)}
	}
	for i, s := range seps {
		if len(s) > maxSeparatorBytes || !utf8.ValidString(s) {
			return &ConfigError{Field: "separators", Value: i, Reason: fmt.Sprintf("must be UTF-8 of at most %d bytes", maxSeparatorBytes)}
		}
	}
	return nil
}

func list[T ~string](all []T) string {
	var b strings.Builder
	for i, t := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(t))
	}
	return b.String()
}

// String is the JSON of s: equal for equal settings, and read by ParseSpec.
func (s Spec) String() string {
	b, err := json.Marshal(s)
	if err != nil { // a NaN, which WithDefaults refuses
		return err.Error()
	}
	return string(b)
}

// ParseSpec reads what String wrote. Unknown fields are an error: they would change the spans.
func ParseSpec(text string) (Spec, error) {
	var s Spec
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("chunk: description of a chunker: %w", err)
	}
	return s, nil
}

// Embed returns one vector for each text, all of one length. It must be deterministic for chunks to be.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// New returns the chunker that s describes; embed is needed for Semantic alone. No chunk of it is over s.Size (C6):
// what a method leaves larger, because nothing in the text lets it cut, is cut into windows. Errors are a
// *ConfigError; Split's are those of Window and of embed.
func New(s Spec, tok llm.Tokenizer, embed Embed) (Chunker, error) {
	s, err := s.WithDefaults()
	if err != nil {
		return nil, err
	}
	overlap := max(s.Overlap, 0)
	if s.Method == Windows {
		opts := []Option{WithSeparator(s.Separator, s.SeparatorOnly)}
		if s.SkipContained {
			opts = append(opts, WithoutContained())
		}
		return NewWindow(tok, s.Size, overlap, opts...)
	}
	w, err := NewWindow(tok, s.Size, overlap, WithDrift(0))
	if err != nil {
		return nil, err
	}
	var c Chunker
	id := fmt.Sprintf("%s(%s,%s)", s.Method, tok.ID(), s)
	switch s.Method {
	case Recursive:
		c = &recursive{tok: tok, size: s.Size, overlap: overlap, separators: s.Separators, leading: s.LeadingPunctuation, id: id}
	case Semantic:
		if embed == nil {
			return nil, &ConfigError{Field: "embed", Reason: "missing: the semantic method needs one"}
		}
		c = &semantic{spec: s, tok: tok, embed: embed, id: id}
	case Markdown:
		c = &markdown{tok: tok, size: s.Size, overlap: overlap, id: id}
	default:
		return nil, &ConfigError{Field: "method", Reason: fmt.Sprintf("%s: a chunker of the caller's", s.Method)}
	}
	return &limited{name: string(s.Method), inner: c, window: w}, nil
}
