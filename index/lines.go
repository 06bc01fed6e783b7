package index

import (
	"context"
	"slices"
	"strings"

	"github.com/glimdb/db/index/chunk"
)

// Stored text keeps its line ends, but what is made of it must not depend on them: a text saved on Windows has
// the chunks, entities and relations that it has elsewhere. So windows are cut, and rules applied, as if every line
// ended with LF, and the spans are moved to where they lie in the stored text. A caller's own chunker, and a model,
// get the text as it is.

// anyLines is a chunker for which all line ends are one.
type anyLines struct{ chunk.Chunker }

func (c anyLines) Split(ctx context.Context, text string) ([]chunk.Span, error) {
	lf, shortened := lineFeeds(text)
	spans, err := c.Chunker.Split(ctx, lf)
	return restore(spans, shortened), err
}

// lineFeeds returns text with every line ended by LF, and where CR LF stood: the places of those LFs in the result.
func lineFeeds(text string) (lf string, shortened []int) {
	if strings.IndexByte(text, '\r') < 0 {
		return text, nil
	}
	var sb strings.Builder
	sb.Grow(len(text))
	for {
		line, rest, found := strings.Cut(text, "\r")
		sb.WriteString(line)
		if !found {
			return sb.String(), shortened
		}
		if strings.HasPrefix(rest, "\n") {
			shortened = append(shortened, sb.Len())
			rest = rest[1:]
		}
		sb.WriteByte('\n')
		text = rest
	}
}

// restore moves spans of the text with line feeds to the original. A border beside a line end stays on its side.
func restore(spans []chunk.Span, shortened []int) []chunk.Span {
	if len(shortened) == 0 {
		return spans
	}
	out := make([]chunk.Span, len(spans))
	for i, s := range spans {
		s.Start += removedBelow(shortened, s.Start)
		s.End += removedBelow(shortened, s.End)
		out[i] = s
	}
	return out
}

// removedBelow counts the places below offset.
func removedBelow(places []int, offset int) int {
	n, _ := slices.BinarySearch(places, offset)
	return n
}
