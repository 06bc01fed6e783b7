package rerank

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// Aggregation says how the scores of a text's pieces become that of the text.
type Aggregation string

// The aggregations.
const (
	Max   Aggregation = "max"   // the best piece's
	Mean  Aggregation = "mean"  // of all pieces that have one
	First Aggregation = "first" // that of the first piece in the text that has one
)

// What suits a cross-encoder with an input of 512 tokens: it leaves room for the query.
const (
	DefaultMaxTokens = 480
	DefaultOverlap   = 32
)

const (
	fewTokens     = 64 // a piece below says little
	runesPerToken = 4  // where there is no tokenizer
)

// Splitting says how texts that are too long for a model are cut.
type Splitting struct {
	// MaxTokens is the longest piece, at least 1; a text of at most so many tokens stays whole. Pieces are cut between
	// characters, and may be a token longer where a token ends inside one.
	MaxTokens int
	// Overlap is the number of tokens that neighbouring pieces share, at least 0. From MaxTokens on it is taken as half
	// of MaxTokens. Where the last piece would bring fewer new tokens than that, it begins earlier and is full.
	Overlap int
	// Tokenizer counts; nil: four characters are taken for one token.
	Tokenizer llm.Tokenizer
	// Aggregate makes one score of those of the pieces; empty: Max.
	Aggregate Aggregation
	// Logger is told of settings that were changed or are of doubtful use; nil: silent.
	Logger *slog.Logger
}

// Split makes r, whose input is short, score long texts by their pieces. A text none of whose pieces has a score gets
// NaN. The error is an *llm.ConfigError.
func Split(r llm.Reranker, s Splitting) (llm.Reranker, error) {
	if s.MaxTokens < 1 {
		return nil, wrong("Split.MaxTokens", "%d: want at least 1", s.MaxTokens)
	}
	if s.Overlap < 0 {
		return nil, wrong("Split.Overlap", "%d is negative", s.Overlap)
	}
	switch s.Aggregate {
	case "":
		s.Aggregate = Max
	case Max, Mean, First:
	default:
		return nil, wrong("Split.Aggregate", "%q: want %s, %s or %s", string(s.Aggregate), Max, Mean, First)
	}
	warn := func(text string, args ...any) {
		if s.Logger != nil {
			s.Logger.Warn("reranker: "+text, args...)
		}
	}
	if s.MaxTokens < fewTokens {
		warn("pieces of so few tokens say little", "tokens", s.MaxTokens)
	}
	if s.Overlap >= s.MaxTokens {
		warn("the overlap of pieces is not less than their size, and is taken as half of it", "overlap", s.Overlap, "tokens", s.MaxTokens)
		s.Overlap = s.MaxTokens / 2
	}
	return &splitter{r, s}, nil
}

type splitter struct {
	llm.Reranker
	Splitting
}

// Rerank implements llm.Reranker.
func (s *splitter) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	var pieces []string
	first := make([]int, 0, len(docs)+1) // piece of each text
	for _, doc := range docs {
		first = append(first, len(pieces))
		pieces = s.split(pieces, doc)
	}
	first = append(first, len(pieces))
	scores, err := s.Reranker.Rerank(ctx, query, pieces)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(pieces) {
		return nil, &llm.Error{Provider: s.ID(), Op: opRerank, Message: fmt.Sprintf("%d scores for %d texts", len(scores), len(pieces)), Err: llm.ErrReply}
	}
	all := make([]float64, len(docs))
	for i := range docs {
		all[i] = s.Aggregate.of(scores[first[i]:first[i+1]])
	}
	return all, nil
}

// of makes one score of those of pieces; those that are not finite do not count.
func (a Aggregation) of(scores []float64) float64 {
	best, sum, n := math.Inf(-1), 0.0, 0
	for _, x := range scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if a == First {
			return x
		}
		best, sum, n = max(best, x), sum+x, n+1
	}
	switch {
	case n == 0:
		return math.NaN()
	case a == Mean:
		return sum / float64(n)
	}
	return best
}

// split appends the pieces of a text; an empty text is one piece.
func (s *splitter) split(pieces []string, text string) []string {
	borders, scale := s.borders(text)
	n, size, overlap := len(borders)-1, s.MaxTokens*scale, s.Overlap*scale
	if n <= size {
		return append(pieces, text)
	}
	for start := 0; ; {
		end := min(start+size, n)
		if fresh := end - (start + overlap); end == n && start > 0 && fresh < overlap {
			start = n - size
		}
		pieces = append(pieces, between(text, borders[start], borders[end]))
		if end == n {
			return pieces
		}
		start = end - overlap
	}
}

// borders returns where each unit of text begins, and its end; a token is scale units.
func (s *splitter) borders(text string) (borders []int, scale int) {
	if s.Tokenizer == nil {
		for at := range text {
			borders = append(borders, at)
		}
		return append(borders, len(text)), runesPerToken
	}
	ids := s.Tokenizer.Encode(nil, text)
	borders = make([]int, 1, len(ids)+1)
	for i := range ids {
		borders = append(borders, min(len(text), borders[i]+len(s.Tokenizer.Decode(ids[i:i+1]))))
	}
	borders[len(ids)] = len(text)
	return borders, 1
}

// between is text[from:to], widened to whole characters.
func between(text string, from, to int) string {
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to]
}
