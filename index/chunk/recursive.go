package chunk

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// recursive is LightRAG's recursive character strategy: a text is divided at the strongest separator in it, pieces
// that are too large at the next ones, and chunks are filled with neighbouring small pieces up to the size, the
// last of them again in the next chunk while they fit the overlap.
//
// Where no separator helps, a chunk stays larger than size: Limit cuts it.
type recursive struct {
	tok           llm.Tokenizer
	size, overlap int
	separators    []string
	leading       bool
	id            string
}

// piece is a part of a text before chunks are filled.
type piece struct{ start, end, tokens int }

func (r *recursive) ID() string { return r.id }

func (r *recursive) Split(ctx context.Context, text string) ([]Span, error) {
	if !utf8.ValidString(text) {
		return nil, ErrUTF8
	}
	spans, err := r.split(ctx, nil, text, 0, len(text), r.separators)
	return ordered(spans), err
}

// split appends the chunks of text[from:to].
func (r *recursive) split(ctx context.Context, dst []Span, text string, from, to int, separators []string) ([]Span, error) {
	var borders []int
	for len(separators) > 0 && len(borders) == 0 {
		borders = r.borders(text, from, to, separators[0])
		separators = separators[1:]
	}
	var run []piece
	for i := 0; i <= len(borders); i++ {
		if i%countsPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := piece{start: from, end: to}
		if i > 0 {
			p.start = borders[i-1]
		}
		if i < len(borders) {
			p.end = borders[i]
		}
		p.tokens = r.tok.Count(text[p.start:p.end])
		switch {
		case p.tokens < r.size:
			run = append(run, p)
			continue
		case len(borders) == 0 || len(separators) == 0: // it cannot be divided
			dst = r.emit(r.fill(dst, text, run), text, p.start, p.end)
		default:
			var err error
			if dst, err = r.split(ctx, r.fill(dst, text, run), text, p.start, p.end, separators); err != nil {
				return nil, err
			}
		}
		run = run[:0]
	}
	return r.fill(dst, text, run), nil
}

// countsPerCheck is how many pieces are counted between two looks at the context.
const countsPerCheck = 1024

// borders are the places inside text[from:to] where sep divides it.
func (r *recursive) borders(text string, from, to int, sep string) []int {
	if sep == "" {
		return characters(text, from, to)
	}
	ends := !r.leading && strings.TrimSpace(sep) != ""
	var out []int
	for at := from; ; {
		i := strings.Index(text[at:to], sep)
		if i < 0 {
			return out
		}
		border := at + i
		at = border + len(sep)
		if ends {
			border = at
		}
		if from < border && border < to {
			out = append(out, border)
		}
	}
}

// characters are the places between characters as a reader sees them: not before a combining mark, a variation
// selector or a skin tone, nor beside a joiner.
func characters(text string, from, to int) []int {
	var out []int
	joined := true
	for i, c := range text[from:to] {
		if !joined && !continues(c) {
			out = append(out, from+i)
		}
		joined = c == zeroWidthJoiner
	}
	return out
}

const zeroWidthJoiner = '\u200d'

func continues(c rune) bool {
	return c >= 0x300 && (c == zeroWidthJoiner || c >= 0x1f3fb && c <= 0x1f3ff || unicode.Is(unicode.M, c))
}

// fill appends chunks made of neighbouring pieces.
func (r *recursive) fill(dst []Span, text string, pieces []piece) []Span {
	first, total := 0, 0 // pieces[first:i] are in the chunk
	for i, p := range pieces {
		if total+p.tokens > r.size && i > first {
			dst = r.emit(dst, text, pieces[first].start, pieces[i-1].end)
			for first < i && (total > r.overlap || total+p.tokens > r.size) {
				total -= pieces[first].tokens
				first++
			}
		}
		total += p.tokens
	}
	if first < len(pieces) {
		dst = r.emit(dst, text, pieces[first].start, pieces[len(pieces)-1].end)
	}
	return dst
}

// emit appends text[start:end], white space cut off, unless nothing is left.
func (r *recursive) emit(dst []Span, text string, start, end int) []Span {
	if start, end = trim(text, start, end); start == end {
		return dst
	}
	return append(dst, Span{Start: start, End: end, Tokens: r.tok.Count(text[start:end])})
}
