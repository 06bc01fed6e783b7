package query

import (
	"context"
	"fmt"
	"math"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/llm"
)

// Shares and weights of the offline reranker's scores. They were chosen by the shipped corpus and questions and
// by the collections of docs/quality.md.
const (
	// sentenceShare of a score is how well the best place of the text answers, the rest is the text as a whole:
	// a passage that answers is better than one that only speaks of the same things here and there.
	sentenceShare = 0.25
	// saturation and lengthShare are k1 and b of BM25: how soon more of the same word counts no more, and how
	// much of it a text longer than the others owes to its length.
	saturation  = 1.2
	lengthShare = 0.75
	// pairWeight discounts two neighbouring sentences against one.
	pairWeight = 0.9
	// commonWeight is what an everyday word of the question counts beside a word of substance.
	commonWeight = 0.6
	// inflectedWeight is what another form of a word of the question counts: who founded it is not what it found.
	inflectedWeight = 0.75
)

// offlineReranker scores by the words that a text shares with the question.
type offlineReranker struct{}

// NewOfflineReranker returns a Reranker that works without a model. A text scores, from 0 to 1, by the share
// of the question's words that it holds, words in any inflection, rare ones among the texts counting more: in
// the text as a whole as BM25 has it (Robertson and Zaragoza, 2009), and standing together in the best sentence
// or pair of neighbouring sentences. It knows no synonyms and no other language than the question's. It is safe
// for concurrent use.
func NewOfflineReranker() llm.Reranker { return offlineReranker{} }

// ID implements llm.Reranker.
func (offlineReranker) ID() string { return "offline/v2" }

// Rerank implements llm.Reranker. It fails only with the error of ctx.
func (offlineReranker) Rerank(ctx context.Context, question string, docs []string) ([]float64, error) {
	terms := questionTerms(question)
	texts := make([]termText, len(docs))
	in := make([]int, len(terms.weights)) // number of texts that hold a term
	length := 0.0                         // mean of the texts
	for i, doc := range docs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("query: rerank offline: %w", err)
		}
		texts[i] = terms.read(doc)
		length += float64(texts[i].length) / float64(len(docs))
		for k, n := range texts[i].counts {
			if n > 0 {
				in[k]++
			}
		}
	}
	total := 0.0
	for k := range terms.weights {
		// The texts were found by the question, so that a word of all of them still says something.
		terms.weights[k] *= math.Log(1 + float64(len(docs)+1)/(float64(in[k])+0.5))
		total += terms.weights[k]
	}
	scores := make([]float64, len(docs))
	if total == 0 {
		return scores, nil
	}
	for i, t := range texts {
		best := 0.0
		for k, sentence := range t.sentences {
			best = max(best, terms.weigh(sentence, nil))
			if k > 0 {
				best = max(best, pairWeight*terms.weigh(sentence, t.sentences[k-1]))
			}
		}
		whole := 0.0
		for k, n := range t.counts {
			if n > 0 {
				whole += terms.weights[k] * n / (n + saturation*(1-lengthShare+lengthShare*float64(t.length)/length))
			}
		}
		scores[i] = (sentenceShare*best + (1-sentenceShare)*whole) / total
	}
	return scores, nil
}

// wantedTerms are the terms of a question that say something, numbered, so that sums are made in one order.
type wantedTerms struct {
	number  map[string]int
	weights []float64
	words   []map[string]bool // the forms in which the question has each
	known   map[string][]hit  // of tokens met before
}

func questionTerms(question string) wantedTerms {
	w := wantedTerms{number: make(map[string]int), known: make(map[string][]hit)}
	lexical.Terms(question[:min(len(question), maxQuestionRead)], func(t lexical.Term) bool {
		weight := 1.0
		switch t.Rank {
		case lexical.Stop:
			return true
		case lexical.Common:
			weight = commonWeight
		}
		k, known := w.number[t.Text]
		if !known {
			k = len(w.weights)
			w.number[t.Text] = k
			w.weights = append(w.weights, 0)
			w.words = append(w.words, make(map[string]bool))
		}
		w.weights[k] = max(w.weights[k], weight)
		w.words[k][t.Word] = true
		return true
	})
	return w
}

// termSet tells for each wanted term how well it is held: 1 in the question's form, inflectedWeight in
// another, 0 not at all. nil holds none.
type termSet []float64

// termText is a text reduced to the wanted terms it holds.
type termText struct {
	sentences []termSet // with a nil between those that are not neighbours
	counts    []float64 // of each term in the whole text, another form counting less
	length    int       // in tokens
}

func (w wantedTerms) read(text string) termText {
	t := termText{counts: make([]float64, len(w.weights))}
	for _, s := range lexical.Sentences(text) {
		var set termSet
		sentence := text[s.Start:s.End]
		tokens := lexical.Tokens(sentence)
		t.length += len(tokens)
		for _, token := range tokens {
			for _, h := range w.hits(sentence[token.Start:token.End]) {
				if set == nil {
					set = make(termSet, len(w.weights))
				}
				set[h.term] = max(set[h.term], h.held)
				t.counts[h.term] += h.held
			}
		}
		if n := len(t.sentences); set != nil || n > 0 && t.sentences[n-1] != nil {
			t.sentences = append(t.sentences, set)
		}
	}
	return t
}

// hit is a wanted term in a token.
type hit struct {
	term int
	held float64
}

// hits returns the wanted terms in a token. Words come again and again: their stems are found once.
func (w wantedTerms) hits(token string) []hit {
	if known, ok := w.known[token]; ok {
		return known
	}
	var hits []hit
	lexical.Terms(token, func(t lexical.Term) bool {
		if k, ok := w.number[t.Text]; ok {
			h := hit{k, 1}
			if !t.Unspaced && !w.words[k][t.Word] {
				h.held = inflectedWeight
			}
			hits = append(hits, h)
		}
		return true
	})
	w.known[token] = hits
	return hits
}

// weigh sums the weights of the terms in two sets together.
func (w wantedTerms) weigh(a, b termSet) (sum float64) {
	for k, weight := range w.weights {
		held := 0.0
		if a != nil {
			held = a[k]
		}
		if b != nil {
			held = max(held, b[k])
		}
		sum += held * weight
	}
	return sum
}
