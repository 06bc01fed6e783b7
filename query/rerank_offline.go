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
	// It is less where the store's statistics weigh the whole.
	sentenceShare = 0.25
	knownShare    = 0.15
	// saturation and lengthShare are k1 and b of BM25: how soon more of the same word counts no more, and how
	// much of it a text longer than the others owes to its length.
	saturation  = 1.2
	lengthShare = 0.75
	// knownSaturation is k1 where the store's statistics weigh the whole.
	knownSaturation = 2.0
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
// or pair of neighbouring sentences. An Engine whose Config.Reranker it is, with postings that cover every document, gives
// it the word statistics of the workspace in the view of the query: whole texts are then weighed by these, sentences
// by the texts still. It knows no synonyms and no other language than the question's. It is safe for concurrent use.
func NewOfflineReranker() llm.Reranker { return offlineReranker{} }

// ID implements llm.Reranker.
func (offlineReranker) ID() string { return "offline/v3" }

// Rerank implements llm.Reranker. It fails only with the error of ctx.
func (r offlineReranker) Rerank(ctx context.Context, question string, docs []string) ([]float64, error) {
	return r.rerank(ctx, question, docs, nil)
}

// rerank implements statisticsReranker.
func (offlineReranker) rerank(ctx context.Context, question string, docs []string, s *statistics) ([]float64, error) {
	terms := questionTerms(question)
	texts := make([]termText, len(docs))
	in := make([]int, len(terms.common)) // number of texts that hold a term
	length := 0.0                        // of a text in the mean
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
	scores := make([]float64, len(docs))
	together := terms.weigh(len(docs), in)
	if s == nil {
		for i, t := range texts {
			scores[i] = sentenceShare*together.best(t.sentences) + (1-sentenceShare)*together.saturated(t.counts, saturation, float64(t.length)/length)
		}
		return scores, nil
	}
	whole := terms.weighBy(s)
	for i, t := range texts {
		scores[i] = knownShare*together.best(t.sentences) + (1-knownShare)*whole.saturated(t.counts, knownSaturation, float64(t.terms)/s.length)
	}
	return scores, nil
}

// wantedTerms are the terms of a question that say something, numbered, so that sums are made in one order.
type wantedTerms struct {
	number map[string]int
	common []bool             // everyday words, in all their forms
	words  []map[string]bool  // the forms in which the question has each
	known  map[string]reading // of tokens met before
}

func questionTerms(question string) wantedTerms {
	w := wantedTerms{number: make(map[string]int), known: make(map[string]reading)}
	lexical.Terms(question[:min(len(question), maxQuestionRead)], func(t lexical.Term) bool {
		if t.Rank == lexical.Stop {
			return true
		}
		k, known := w.number[t.Text]
		if !known {
			k = len(w.common)
			w.number[t.Text] = k
			w.common = append(w.common, true)
			w.words = append(w.words, make(map[string]bool))
		}
		w.common[k] = w.common[k] && t.Rank == lexical.Common
		w.words[k][t.Word] = true
		return true
	})
	return w
}

// weights are those of the wanted terms; their sum is 1, or 0 where nothing is wanted.
type weights []float64

// make weighs each term by a rarity, everyday ones less.
func (w wantedTerms) make(rarity func(k int) float64) weights {
	out, total := make(weights, len(w.common)), 0.0
	for k := range out {
		out[k] = rarity(k)
		if w.common[k] {
			out[k] *= commonWeight
		}
		total += out[k]
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

// weigh weighs by the texts alone, of which in[k] hold term k. They were found by the question, so that a word of all of
// them still says something.
func (w wantedTerms) weigh(texts int, in []int) weights {
	return w.make(func(k int) float64 { return math.Log(1 + float64(texts+1)/(float64(in[k])+0.5)) })
}

// weighBy weighs by the statistics of the store, as BM25 does.
func (w wantedTerms) weighBy(s *statistics) weights {
	return w.make(func(k int) float64 {
		holding := 0
		for word := range w.words[k] {
			holding = max(holding, s.holding[word])
		}
		return math.Log(1 + (float64(s.passages-holding)+0.5)/(float64(holding)+0.5))
	})
}

// termSet tells for each wanted term how well it is held: 1 in the question's form, inflectedWeight in
// another, 0 not at all. nil holds none.
type termSet []float64

// termText is a text reduced to the wanted terms it holds.
type termText struct {
	sentences []termSet // with a nil between those that are not neighbours
	counts    []float64 // of each term in the whole text, another form counting less
	length    int       // in tokens
	terms     int       // function words left out: the length that postings know
}

func (w wantedTerms) read(text string) termText {
	t := termText{counts: make([]float64, len(w.common))}
	for _, s := range lexical.Sentences(text) {
		var set termSet
		sentence := text[s.Start:s.End]
		tokens := lexical.Tokens(sentence)
		t.length += len(tokens)
		for _, token := range tokens {
			r := w.readToken(sentence[token.Start:token.End])
			t.terms += r.terms
			for _, h := range r.hits {
				if set == nil {
					set = make(termSet, len(w.common))
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

// reading is what a token holds.
type reading struct {
	terms int // function words left out
	hits  []hit
}

// readToken reads a token. Words come again and again: their stems are found once.
func (w wantedTerms) readToken(token string) reading {
	if known, ok := w.known[token]; ok {
		return known
	}
	var r reading
	lexical.Terms(token, func(t lexical.Term) bool {
		if t.Rank != lexical.Stop {
			r.terms++
		}
		if k, ok := w.number[t.Text]; ok {
			h := hit{k, 1}
			if !t.Unspaced && !w.words[k][t.Word] {
				h.held = inflectedWeight
			}
			r.hits = append(r.hits, h)
		}
		return true
	})
	w.known[token] = r
	return r
}

// best is the weight of the best sentence or pair of neighbouring ones.
func (w weights) best(sentences []termSet) (best float64) {
	for k, sentence := range sentences {
		best = max(best, w.of(sentence, nil))
		if k > 0 {
			best = max(best, pairWeight*w.of(sentence, sentences[k-1]))
		}
	}
	return best
}

// saturated is the weight of a whole text with these counts, length times as long as one is in the mean.
func (w weights) saturated(counts []float64, k1, length float64) (sum float64) {
	for k, n := range counts {
		if n > 0 {
			sum += w[k] * n / (n + k1*(1-lengthShare+lengthShare*length))
		}
	}
	return sum
}

// of sums the weights of the terms in two sets together.
func (w weights) of(a, b termSet) (sum float64) {
	for k, weight := range w {
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
