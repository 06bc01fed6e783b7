package chunk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// semantic is LightRAG's semantic vector strategy: every sentence is embedded together with its neighbours, and
// the text is cut after those whose distance to the next is above a threshold. Chunks above the size are cut as
// recursive does, without overlap.
type semantic struct {
	spec  Spec // with defaults
	tok   llm.Tokenizer
	embed Embed
	id    string
}

const (
	// embedGroups is how many groups of sentences are embedded in one call, which bounds memory for long texts.
	embedGroups = 256
	// maxGroupBytes is how much of a group of sentences is embedded: what goes on longer without an end is cut
	// elsewhere anyway.
	maxGroupBytes = 8 << 10
)

func (m *semantic) ID() string { return m.id }

func (m *semantic) Split(ctx context.Context, text string) ([]Span, error) {
	if !utf8.ValidString(text) {
		return nil, ErrUTF8
	}
	list := sentences(text)
	breaks, err := m.breaks(ctx, text, list)
	if err != nil {
		return nil, err
	}
	large := &recursive{tok: m.tok, size: m.spec.Size, separators: DefaultSeparators()}
	var out []Span
	first, characters := 0, 0 // sentence of the chunk, and its length so far
	for i := range list {
		start, end := list[first].start, list[i].end
		if i > first {
			characters += utf8.RuneCountInString(text[list[i-1].end:list[i].start])
		}
		characters += utf8.RuneCountInString(text[list[i].start:end])
		if i < len(list)-1 && (!breaks[i] || characters < m.spec.MinCharacters) {
			continue
		}
		first, characters = i+1, 0
		if n := m.tok.Count(text[start:end]); n <= m.spec.Size {
			out = append(out, Span{Start: start, End: end, Tokens: n})
		} else if out, err = large.split(ctx, out, text, start, end, large.separators); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sentences divides a text after ".", "?" and "!" before white space, and after "。", "？" and "！". White space
// between sentences belongs to none.
func sentences(text string) (list []piece) {
	add := func(start, end int) {
		if start, end = trim(text, start, end); start < end {
			list = append(list, piece{start: start, end: end})
		}
	}
	start := 0
	var before rune
	for i, c := range text {
		if strings.ContainsRune(".?!", before) && unicode.IsSpace(c) || strings.ContainsRune("。？！", before) {
			add(start, i)
			start = i
		}
		before = c
	}
	add(start, len(text))
	return list
}

// breaks tells after which sentences the text is cut.
func (m *semantic) breaks(ctx context.Context, text string, list []piece) ([]bool, error) {
	if len(list) < 2 {
		return make([]bool, len(list)), nil
	}
	if m.spec.Threshold == Gradient && len(list) == 2 { // no slope to look at
		return []bool{true, false}, nil
	}
	values, err := m.distances(ctx, text, list)
	if err != nil {
		return nil, err
	}
	limit := 0.0
	switch {
	case m.spec.Chunks > 0:
		limit = percentile(values, shareFor(m.spec.Chunks, len(values)))
	case m.spec.Threshold == StandardDeviation:
		mean, deviation := moments(values)
		limit = mean + m.spec.Amount*deviation
	case m.spec.Threshold == Interquartile:
		mean, _ := moments(values)
		limit = mean + m.spec.Amount*(percentile(values, 75)-percentile(values, 25))
	case m.spec.Threshold == Gradient:
		values = gradient(values)
		limit = percentile(values, m.spec.Amount)
	default:
		limit = percentile(values, m.spec.Amount)
	}
	out := make([]bool, len(list))
	for i, v := range values {
		out[i] = v > limit
	}
	return out, nil
}

// distances are 1 - cosine of each group of sentences and the next.
func (m *semantic) distances(ctx context.Context, text string, list []piece) ([]float64, error) {
	buffer := max(m.spec.Buffer, 0)
	out := make([]float64, 0, len(list)-1)
	var last []float32
	for from := 0; from < len(list); from += embedGroups {
		var groups []string
		for i := from; i < min(from+embedGroups, len(list)); i++ {
			start, end := list[max(i-buffer, 0)].start, list[min(i+buffer, len(list)-1)].end
			groups = append(groups, prefix(text[start:end], maxGroupBytes))
		}
		vectors, err := m.embed(ctx, groups)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(groups) {
			return nil, fmt.Errorf("chunk: %d vectors for %d texts", len(vectors), len(groups))
		}
		for _, v := range vectors {
			if last != nil {
				d, err := distance(last, v)
				if err != nil {
					return nil, err
				}
				out = append(out, d)
			}
			last = v
		}
	}
	return out, nil
}

// prefix is the longest beginning of s of at most n bytes that cuts no character.
func prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func distance(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("chunk: vectors of %d and %d dimensions", len(a), len(b))
	}
	var ab, aa, bb float64
	for i, x := range a {
		y := float64(b[i])
		ab += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	switch norm := math.Sqrt(aa) * math.Sqrt(bb); {
	case math.IsNaN(norm) || math.IsInf(norm, 0):
		return 0, errors.New("chunk: a vector with values that are no numbers")
	case norm == 0: // it says nothing
		return 1, nil
	default:
		return 1 - ab/norm, nil
	}
}

// percentile is that of values, between neighbours by linear interpolation.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := p / 100 * float64(len(sorted)-1)
	low := min(int(at), len(sorted)-1)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}

// shareFor is the percentile above which about chunks-1 of n distances lie.
func shareFor(chunks, n int) float64 {
	if n == 1 {
		return 100
	}
	x := max(min(float64(chunks), float64(n)), 1)
	return 100 * (x - float64(n)) / (1 - float64(n))
}

func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)))
}

// gradient is the slope at each value: half the difference of its neighbours, at the ends that to the only one.
func gradient(values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		low, high := max(i-1, 0), min(i+1, len(values)-1)
		out[i] = (values[high] - values[low]) / float64(max(high-low, 1))
	}
	return out
}
