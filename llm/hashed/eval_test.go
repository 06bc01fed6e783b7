package hashed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
)

// judged is a retrieval collection: documents, questions, and the gain of each relevant document.
type judged struct {
	docs, questions []string
	gains           []map[int]float64
}

// TestRetrievalQuality holds what the embedder reaches on public judgements, beside plain BM25 for
// orientation: BM25 knows the collection's word statistics, the embedder knows nothing.
func TestRetrievalQuality(t *testing.T) {
	e := newEmbedder(t)
	t.Run("cranfield", func(t *testing.T) {
		c := cranfield(t)
		got, plain := measure(c, cosines(t, e, c)), measure(c, bm25(c))
		t.Logf("nDCG@10 %.3f (BM25 %.3f); relevant above the threshold %.2f, all %.2f", got.ndcg10, plain.ndcg10, got.relevantPass, got.allPass)
		floor(t, "nDCG@10", got.ndcg10, 0.42)
		floor(t, "relevant documents above the threshold", got.relevantPass, 0.8)
	})
	t.Run("musique", func(t *testing.T) {
		c := musique(t)
		got, plain := measure(c, cosines(t, e, c)), measure(c, bm25(c))
		t.Logf("recall@5 %.3f (BM25 %.3f); gold above the threshold %.2f, all %.2f", got.recall5, plain.recall5, got.relevantPass, got.allPass)
		floor(t, "recall@5", got.recall5, 0.43)
		floor(t, "gold passages above the threshold", got.relevantPass, 0.75)
		if got.allPass > 0.2 {
			t.Errorf("%.2f of all passages are above the threshold: it tells nothing apart", got.allPass)
		}
	})
}

func floor(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want {
		t.Errorf("%s: %.3f, want at least %.3f", what, got, want)
	}
}

// threshold is the default cosine threshold of queries.
const threshold = 0.2

type quality struct{ ndcg10, recall5, relevantPass, allPass float64 }

// measure averages over the questions that have relevant documents.
func measure(c judged, rank func(question string) []float64) quality {
	var sum quality
	n := 0.0
	for q, question := range c.questions {
		gains := c.gains[q]
		if len(gains) == 0 {
			continue
		}
		n++
		scores := rank(question)
		order := make([]int, len(scores))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case scores[a] > scores[b]:
				return -1
			case scores[a] < scores[b]:
				return 1
			}
			return a - b
		})
		var dcg, ideal, found, passed float64
		best := make([]float64, 0, len(gains))
		for d, g := range gains {
			best = append(best, g)
			if scores[d] > threshold {
				passed++
			}
		}
		slices.SortFunc(best, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		for k := range 10 {
			discount := math.Log2(float64(k + 2))
			dcg += gains[order[k]] / discount
			if k < len(best) {
				ideal += best[k] / discount
			}
			if k < 5 && gains[order[k]] > 0 {
				found++
			}
		}
		all := 0.0
		for _, s := range scores {
			if s > threshold {
				all++
			}
		}
		sum.ndcg10 += dcg / ideal
		sum.recall5 += found / float64(len(gains))
		sum.relevantPass += passed / float64(len(gains))
		sum.allPass += all / float64(len(scores))
	}
	return quality{sum.ndcg10 / n, sum.recall5 / n, sum.relevantPass / n, sum.allPass / n}
}

func cosines(t *testing.T, e *Embedder, c judged) func(string) []float64 {
	docs, err := e.Embed(context.Background(), c.docs, llm.ForDocument)
	if err != nil {
		t.Fatal(err)
	}
	return func(question string) []float64 {
		q, err := e.Embed(context.Background(), []string{question}, llm.ForQuery)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(docs))
		for i, d := range docs {
			out[i] = dot(q[0], d)
		}
		return out
	}
}

func dot(a, b []float32) float64 {
	var s float32
	for i := range a {
		s += a[i] * b[i]
	}
	return float64(s)
}

// bm25 ranks by Okapi BM25 (k1 1.2, b 0.75) over the same terms.
func bm25(c judged) func(string) []float64 {
	type posting struct {
		doc   int
		count float64
	}
	index := make(map[string][]posting)
	lengths := make([]float64, len(c.docs))
	average := 0.0
	terms := func(text string) map[string]float64 {
		counts := make(map[string]float64)
		lexical.Terms(text, func(t lexical.Term) bool {
			if t.Rank != lexical.Stop {
				counts[t.Text]++
			}
			return true
		})
		return counts
	}
	for d, text := range c.docs {
		for w, n := range terms(text) {
			index[w] = append(index[w], posting{d, n})
			lengths[d] += n
		}
		average += lengths[d] / float64(len(c.docs))
	}
	return func(question string) []float64 {
		out := make([]float64, len(c.docs))
		for w := range terms(question) {
			n := float64(len(index[w]))
			idf := math.Log(1 + (float64(len(c.docs))-n+0.5)/(n+0.5))
			for _, p := range index[w] {
				out[p.doc] += idf * p.count * 2.2 / (p.count + 1.2*(0.25+0.75*lengths[p.doc]/average))
			}
		}
		return out
	}
}

func cranfield(t *testing.T) judged {
	dir := testkit.Data(t, "eval-cranfield")
	c := judged{docs: smart(t, filepath.Join(dir, "cran.all.1400")), questions: smart(t, filepath.Join(dir, "cran.qry"))}
	c.gains = make([]map[int]float64, len(c.questions))
	f, err := os.Open(filepath.Join(dir, "cranqrel"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var question, doc, grade int
		if _, err := fmt.Sscan(lines.Text(), &question, &doc, &grade); err != nil {
			t.Fatalf("judgement %q: %v", lines.Text(), err)
		}
		if c.gains[question-1] == nil {
			c.gains[question-1] = make(map[int]float64)
		}
		c.gains[question-1][doc-1] = float64(5 - max(grade, 1)) // 1 is best; a few are -1, which also means relevant
	}
	return c
}

// smart reads the texts (.W) of a file in SMART format.
func smart(t *testing.T, path string) []string {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, item := range strings.Split("\n"+string(raw), "\n.I ")[1:] {
		_, text, _ := strings.Cut(strings.ReplaceAll(item, "\r", ""), "\n.W\n")
		out = append(out, text)
	}
	return out
}

func musique(t *testing.T) judged {
	dir := testkit.Data(t, "eval-musique-train")
	var passages []struct{ Title, Text string }
	var questions []struct {
		Question   string
		Paragraphs []struct {
			Title      string
			Text       string `json:"paragraph_text"`
			Supporting bool   `json:"is_supporting"`
		}
	}
	readJSON(t, filepath.Join(dir, "musique_train_corpus.json"), &passages)
	readJSON(t, filepath.Join(dir, "musique_train.json"), &questions)
	var c judged
	at := make(map[string]int)
	for _, p := range passages {
		text := p.Title + "\n" + p.Text
		at[text] = len(c.docs)
		c.docs = append(c.docs, text)
	}
	for _, q := range questions {
		gains := make(map[int]float64)
		for _, p := range q.Paragraphs {
			if p.Supporting {
				gains[at[p.Title+"\n"+p.Text]] = 1
			}
		}
		c.questions = append(c.questions, q.Question)
		c.gains = append(c.gains, gains)
	}
	return c
}

func readJSON(t *testing.T, path string, v any) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
}
