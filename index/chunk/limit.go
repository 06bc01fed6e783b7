package chunk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Limit puts a Chunker, for example a caller's own, under the engine's rules. Its spans are checked
// (C1 to C3), counted by w's tokenizer, and those over w's size are cut into windows of w; with refuse
// they are a *LimitError instead. A span that breaks a rule is a *SpanError that names it.
func Limit(c Chunker, w *Window, refuse bool) Chunker {
	return &limited{c.ID(), c, w, refuse}
}

type limited struct {
	name   string // in messages
	inner  Chunker
	window *Window
	refuse bool
}

func (l *limited) ID() string {
	return fmt.Sprintf("limit(%s,%s,refuse=%t)", l.inner.ID(), l.window.ID(), l.refuse)
}

func (l *limited) Split(ctx context.Context, text string) ([]Span, error) {
	spans, err := l.inner.Split(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("chunk: %s: %w", l.name, err)
	}
	if err := Check(text, spans); err != nil {
		return nil, fmt.Errorf("chunk: %s: %w", l.name, err)
	}
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		s.Tokens = l.window.tok.Count(s.Text(text))
		switch {
		case s.Tokens <= l.window.size:
			out = append(out, s)
		case l.refuse:
			return nil, &LimitError{Tokens: s.Tokens, Limit: l.window.size, Start: s.Start, End: s.End, Preview: preview(s.Text(text))}
		default:
			n := len(out)
			if out, err = l.window.windows(ctx, out, text, s.Start, s.End); err != nil {
				return nil, err
			}
			for i := range out[n:] {
				out[n+i].Context = s.Context
			}
		}
	}
	return ordered(out), nil
}

// ordered restores C2 and C3 where the windows of overlapping spans interleave.
func ordered(spans []Span) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return slices.CompactFunc(spans, func(a, b Span) bool { return a.Start == b.Start && a.End == b.End })
}
