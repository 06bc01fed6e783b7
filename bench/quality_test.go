package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db"
	"github.com/glimdb/db/eval"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/query"
)

// ranker answers a question with the numbers of documents, best first; ten are looked at.
type ranker func(question string) []int

// measure are means over the questions of a collection.
func (c *judged) measure(rank ranker) eval.Measures { return eval.Mean(c.each(rank)) }

// each measures each question of a collection, at the Ks of the table. Cranfield's judgements are graded.
func (c *judged) each(rank ranker) []eval.Measures {
	all := make([]eval.Measures, len(c.questions))
	for i, question := range c.questions {
		gold := make(eval.Gold, len(c.gains[i]))
		for doc, gain := range c.gains[i] {
			gold[judgedID(doc)] = gain
		}
		var ids []string
		for _, doc := range rank(question) {
			ids = append(ids, judgedID(doc))
		}
		all[i] = eval.Judge(ids, gold, 2, 5, 10)
	}
	return all
}

// paired compares two rankings question by question: in the mean, how many are better and worse, and how often chance alone
// makes a difference of the mean at least as large (10,000 draws of signs, Fisher's randomisation test).
type paired struct {
	mean          float64
	better, worse int
	chance        float64
}

func pairedNDCG(a, b []eval.Measures) (p paired) {
	var diffs []float64
	last := len(a[0].At) - 1
	for i := range a {
		d := a[i].At[last].NDCG - b[i].At[last].NDCG
		p.mean += d / float64(len(a))
		switch {
		case d > 1e-12:
			p.better++
		case d < -1e-12:
			p.worse++
		default:
			continue
		}
		diffs = append(diffs, d)
	}
	const draws = 10_000
	rng, as := rand.New(rand.NewPCG(1, 2)), 0
	for range draws {
		sum := 0.0
		for _, d := range diffs {
			if rng.IntN(2) == 0 {
				d = -d
			}
			sum += d / float64(len(a))
		}
		if math.Abs(sum) >= math.Abs(p.mean)-1e-12 {
			as++
		}
	}
	p.chance = float64(as) / draws
	return p
}

// bm25 ranks whole documents by Okapi BM25 (k1 1.2, b 0.75; Robertson and Zaragoza, 2009) over the stems of
// their words without function words.
func (c *judged) bm25() ranker {
	type posting struct {
		doc   int
		count float64
	}
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
	postings := make(map[string][]posting)
	lengths := make([]float64, len(c.docs))
	average := 0.0
	for d, doc := range c.docs {
		for w, n := range terms(doc.Text) {
			postings[w] = append(postings[w], posting{d, n})
			lengths[d] += n
		}
		average += lengths[d] / float64(len(c.docs))
	}
	return func(question string) []int {
		scores := make([]float64, len(c.docs))
		asked := terms(question)
		words := make([]string, 0, len(asked))
		for w := range asked {
			words = append(words, w)
		}
		slices.Sort(words) // one order of summation
		for _, w := range words {
			n := float64(len(postings[w]))
			idf := math.Log(1 + (float64(len(c.docs))-n+0.5)/(n+0.5))
			for _, p := range postings[w] {
				scores[p.doc] += idf * p.count * 2.2 / (p.count + 1.2*(0.25+0.75*lengths[p.doc]/average))
			}
		}
		var order []int
		for d, s := range scores {
			if s > 0 {
				order = append(order, d)
			}
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
		return order
	}
}

// nothing extracts nothing.
type nothing struct{}

func (nothing) ID() string { return "nothing" }

func (nothing) Extract(context.Context, index.ExtractInput) (index.Extraction, error) {
	return index.Extraction{}, nil
}

// TestSearchByWordsIsBM25: what the postings find of Cranfield is what the formula finds over the texts, to the fourth
// decimal of nDCG@10, also after other documents came and went.
func TestSearchByWordsIsBM25(t *testing.T) {
	c := cranfield(t)
	ctx := context.Background()
	d, err := db.Open("words", db.WithOptions(db.Options{FS: vfs.NewMem(), Extractor: nothing{}}))
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	var others []index.Document
	for i, doc := range c.docs[:300] {
		others = append(others, index.Document{ID: fmt.Sprint("other", i), Text: strings.ToUpper(doc.Text) + " flutter flutter"})
	}
	_, err = d.Insert(ctx, slices.Concat(others[:150], c.docs, others[150:])...)
	must(t, err)
	for _, doc := range others {
		_, err := d.Delete(ctx, doc.ID)
		must(t, err)
	}
	for p, err := range d.Check(ctx) {
		must(t, err)
		t.Error(p)
	}
	got := c.measure(c.in(t, d, query.Options{Mode: query.Naive, Search: query.SearchText, NoRerank: true}))
	want := c.measure(c.bm25())
	last := len(want.At) - 1 // at 10
	if math.Abs(got.At[last].NDCG-want.At[last].NDCG) >= 5e-5 || math.Abs(got.At[last].Recall-want.At[last].Recall) >= 5e-5 {
		t.Errorf("postings %+v, formula %+v", got, want)
	}
}

// open makes a database of the collection with everything offline: embedder, extractor, keywords, reranker.
func (c *judged) open(b *testing.B) *db.DB {
	b.Helper()
	ctx := context.Background()
	d, err := db.Open("quality", db.WithOptions(db.Options{FS: vfs.NewMem(), Index: index.Options{EntityWords: index.EntityWordsOn}}))
	must(b, err)
	b.Cleanup(func() { must(b, d.Close()) })
	if c.graph != nil {
		_, err := d.InsertGraph(ctx, *c.graph, index.CustomOptions{Lenient: true})
		must(b, err)
	} else {
		for docs := range slices.Chunk(c.docs, 100) {
			_, err := d.Insert(ctx, docs...)
			must(b, err)
		}
	}
	must(b, d.Settle(ctx))
	return d
}

// in ranks documents by the first of their chunks that a query shows.
func (c *judged) in(b testing.TB, d *db.DB, o query.Options) ranker {
	number := make(map[string]int)
	for i, doc := range c.docs {
		number[doc.ID] = i
	}
	o.Want = query.WantData
	return func(question string) (ranking []int) {
		r, err := d.Query(context.Background(), question, o)
		must(b, err)
		seen := make(map[int]bool)
		for _, k := range r.Data.Chunks {
			doc := k.Order
			if c.graph == nil {
				doc = number[k.Document]
			}
			if !seen[doc] {
				seen[doc] = true
				ranking = append(ranking, doc)
			}
		}
		return ranking
	}
}

// BenchmarkQuality measures what retrieval finds on public collections, without any model, and prints one
// table, which docs/quality.md keeps. An operation is one pass over all questions of a collection.
func BenchmarkQuality(b *testing.B) {
	var table, pairs strings.Builder
	pairs.WriteString("| collection | | against | nDCG@10 | better, worse, equal questions | by chance |\n|---|---|---|---|---|---|\n")
	table.WriteString("| collection | mode | Recall@2 | Recall@5 | Recall@10 | MRR | nDCG@10 |\n|---|---|---|---|---|---|---|\n")
	for _, set := range []struct {
		name  string
		load  func(testing.TB) *judged
		least float64 // nDCG@10 of mix
	}{
		{"MuSiQue, given triples", musiqueTriples, .59}, {"MuSiQue, offline extractor", musique, .58}, {"Cranfield", cranfield, .51},
		{"LightRAG's sample", sample, .93}, {"Novels", novels, .94},
	} {
		b.Run(set.name, func(b *testing.B) {
			c := set.load(b)
			d := c.open(b)
			rows := make(map[string][]eval.Measures)
			row := func(name string, rank ranker) {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						rows[name] = c.each(rank)
					}
					q := eval.Mean(rows[name])
					at2, at5, at10 := q.At[0], q.At[1], q.At[2]
					if name == string(query.Mix) && at10.NDCG < set.least {
						b.Errorf("nDCG@10 is %.3f, want at least %.2f", at10.NDCG, set.least)
					}
					b.ReportMetric(at5.Recall, "recall@5")
					b.ReportMetric(at10.NDCG, "nDCG@10")
					fmt.Fprintf(&table, "| %s | %s | %.3f | %.3f | %.3f | %.3f | %.3f |\n", set.name, name,
						at2.Recall, at5.Recall, at10.Recall, q.MRR, at10.NDCG)
				})
			}
			row("BM25", c.bm25())
			for _, mode := range query.Modes() {
				if mode != query.Bypass {
					row(string(mode), c.in(b, d, query.Options{Mode: mode}))
				}
			}
			for _, search := range []query.Search{query.SearchText, query.SearchHybrid} {
				row(fmt.Sprintf("%s, search %s", query.Local, search), c.in(b, d, query.Options{Mode: query.Local, Search: search}))
			}
			for _, search := range query.Searches() {
				for _, mode := range []query.Mode{query.Naive, query.Mix} {
					if search != query.SearchVector {
						row(fmt.Sprintf("%s, search %s", mode, search), c.in(b, d, query.Options{Mode: mode, Search: search}))
					}
					row(fmt.Sprintf("%s, search %s, no reranker", mode, search), c.in(b, d, query.Options{Mode: mode, Search: search, NoRerank: true}))
				}
			}
			for _, pair := range [][2]string{{"naive, search hybrid", "naive"}, {"naive, search hybrid", "naive, search bm25"},
				{"naive, search hybrid, no reranker", "naive, search vector, no reranker"}, {"naive, search hybrid, no reranker", "naive, search bm25, no reranker"},
				{"local, search hybrid", "local"}, {"mix", "naive, search hybrid"}} {
				a, against := rows[pair[0]], rows[pair[1]]
				if a == nil || against == nil {
					continue // not asked for
				}
				p := pairedNDCG(a, against)
				fmt.Fprintf(&pairs, "| %s | %s | %s | %+.4f | %d, %d, %d | %.2f |\n", set.name, pair[0], pair[1],
					p.mean, p.better, p.worse, len(a)-p.better-p.worse, p.chance)
			}
		})
	}
	fmt.Print("\n", table.String(), "\n", pairs.String(), "\n")
}
