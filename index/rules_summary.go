package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/llm"
)

// DefaultExtractiveTokens is the length of an extractive summary: a dozen sentences.
const DefaultExtractiveTokens = 400

// extractiveVersion is part of the summarizer's ID.
const extractiveVersion = 1

const (
	// redundancy is how much likeness to a chosen sentence counts against a candidate (maximal marginal
	// relevance, Carbonell and Goldstein 1998).
	redundancy = 0.7
	// sameSentence: sentences that share this much of their terms say the same.
	sameSentence = 0.85
	// nameBonus prefers sentences that name what is summarised.
	nameBonus = 0.15
)

// ExtractiveOptions configure Extractive. The zero value is the default.
type ExtractiveOptions struct {
	// MaxTokens bounds a summary; 0 means DefaultExtractiveTokens, negative is an error.
	MaxTokens int
	// Tokenizer counts them. nil counts a token for every four bytes of ASCII and every other character.
	Tokenizer llm.Tokenizer
}

// Extractive is a Summarizer that needs no model: it picks whole sentences, those that are nearest to the
// centroid of all and least like each other, until the budget is full, and keeps their order. It invents
// nothing. It is safe for concurrent use if its tokenizer is.
type Extractive struct {
	maxTokens int
	tokenizer llm.Tokenizer
}

// NewExtractive returns the summarizer, or an error when an option is out of range.
func NewExtractive(o ExtractiveOptions) (*Extractive, error) {
	if o.MaxTokens < 0 {
		return nil, fmt.Errorf("%w: %d tokens of an extractive summary must not be negative", ErrConfig, o.MaxTokens)
	}
	return &Extractive{maxTokens: cmp.Or(o.MaxTokens, DefaultExtractiveTokens), tokenizer: o.Tokenizer}, nil
}

// ID names the method, its version, the budget and how it is counted.
func (x *Extractive) ID() string {
	counter := "runes"
	if x.tokenizer != nil {
		counter = x.tokenizer.ID()
	}
	return fmt.Sprintf("extractive/v%d/%d/%s", extractiveVersion, x.maxTokens, counter)
}

// Summarize implements Summarizer. No fragment with a sentence in it gives an empty summary. It fails only with
// the error of ctx. Cost is linear in the fragments times the number of sentences that fit the budget.
func (x *Extractive) Summarize(ctx context.Context, _, name string, fragments []string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	candidates := x.candidates(name, fragments)
	left := x.maxTokens
	for left > 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		best := pick(candidates, left)
		if best == nil {
			break
		}
		best.chosen = true
		left -= best.tokens
		for _, c := range candidates {
			if !c.chosen {
				c.likeness = max(c.likeness, best.dot(c))
			}
		}
	}
	var out []string
	for _, c := range candidates {
		if c.chosen {
			out = append(out, c.text)
		}
	}
	if len(out) == 0 && len(candidates) > 0 {
		return x.cut(candidates[0].text), nil
	}
	return strings.Join(out, " "), nil
}

var _ Summarizer = (*Extractive)(nil)

// candidate is a sentence that may be chosen.
type candidate struct {
	text     string
	tokens   int
	terms    map[string]float64 // unit length
	order    []string           // the terms in order, so that sums do not depend on map order
	score    float64            // likeness to the centroid
	likeness float64            // to the nearest chosen sentence
	chosen   bool
}

// pick returns the best sentence that is not chosen, fits and says something new, or nil.
func pick(candidates []*candidate, left int) *candidate {
	var best *candidate
	value := math.Inf(-1)
	for _, c := range candidates {
		if c.chosen || c.tokens > left || c.likeness >= sameSentence {
			continue
		}
		if v := c.score - redundancy*c.likeness; v > value {
			best, value = c, v
		}
	}
	return best
}

// dot is the cosine of two sentences.
func (c *candidate) dot(o *candidate) float64 {
	sum := 0.0
	for _, t := range c.order {
		sum += float64(c.terms[t] * o.terms[t])
	}
	return sum
}

// candidates returns the different sentences of the fragments, in order, scored.
func (x *Extractive) candidates(name string, fragments []string) []*candidate {
	var out []*candidate
	seen := make(map[string]bool)
	count := make(map[string]int) // sentences that hold a term
	for _, fragment := range fragments {
		for _, s := range lexical.Sentences(fragment) {
			text := collapse(fragment[s.Start:s.End])
			key := lexical.Normal(text)
			if key == "" || seen[key] {
				continue
			}
			seen[key] = true
			c := &candidate{text: text, tokens: x.count(text), terms: make(map[string]float64)}
			lexical.Terms(text, func(t lexical.Term) bool {
				if t.Rank == lexical.Stop {
					return true
				}
				if c.terms[t.Text] == 0 {
					c.order = append(c.order, t.Text)
					count[t.Text]++
				}
				c.terms[t.Text]++
				return true
			})
			out = append(out, c)
		}
	}
	centroid := make(map[string]float64)
	for _, c := range out {
		c.normalize(count, len(out))
		for _, t := range c.order {
			centroid[t] += c.terms[t]
		}
	}
	key := lexical.Normal(name)
	for _, c := range out {
		for _, t := range c.order {
			c.score += float64(c.terms[t]*centroid[t]) / float64(len(out))
		}
		if key != "" && strings.Contains(lexical.Normal(c.text), key) {
			c.score += nameBonus
		}
	}
	return out
}

// normalize weighs the terms by how few sentences hold them and scales to unit length.
func (c *candidate) normalize(count map[string]int, sentences int) {
	norm := 0.0
	for _, t := range c.order {
		w := (1 + math.Log(c.terms[t])) * math.Log(1+float64(sentences)/float64(count[t]))
		c.terms[t] = w
		norm += float64(w * w)
	}
	if norm == 0 {
		return
	}
	norm = math.Sqrt(norm)
	for _, t := range c.order {
		c.terms[t] /= norm
	}
}

// bytesPerToken is the usual length of a token of English.
const bytesPerToken = 4

func (x *Extractive) count(s string) int {
	if x.tokenizer != nil {
		return x.tokenizer.Count(s)
	}
	ascii, other := 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+bytesPerToken-1)/bytesPerToken + other
}

// cut returns the longest beginning of s, of whole characters, that fits the budget, marked as cut.
func (x *Extractive) cut(s string) string {
	const mark = " …"
	borders := make([]int, 0, len(s))
	for i := range s {
		borders = append(borders, i)
	}
	n, _ := slices.BinarySearchFunc(borders, x.maxTokens, func(end, limit int) int {
		return cmp.Compare(x.count(s[:end]+mark), limit+1)
	})
	if n == 0 {
		return ""
	}
	return strings.TrimSpace(s[:borders[n-1]]) + mark
}
