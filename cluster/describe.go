package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// topic is a cluster on its way to a description.
type topic struct {
	c       *Cluster
	ids     []string
	vectors [][]float32
	words   map[string]*word // by term
	note    *note
}

type word struct {
	count int
	forms map[string]int
}

// What a description looks at. The members nearest to the mean speak for a cluster; reading all would cost as much as
// indexing them.
const (
	nearMembers = 50  // are candidates for representatives
	readMembers = 32  // are read for keywords
	relevance   = 0.7 // of a representative, against being unlike those chosen (MMR; Carbonell and Goldstein, 1998)
	radiusShare = 0.95
	describers  = 8 // calls of a summariser at a time; models limit themselves
)

// describe fills the notes of topics, as r shows their texts. others are the clusters that summaries are told from; df
// tells how many of k clusters have a term.
func (l *Layer) describe(ctx context.Context, r kv.Reader, topics []*topic, o Options, others []*Cluster, df func(term string) int, k int) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for _, t := range topics {
		g.Go(func() error { return l.read(gctx, r, t, o) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if df == nil {
		df = documentFrequency(topics)
	}
	g, gctx = errgroup.WithContext(ctx)
	g.SetLimit(describers)
	for _, t := range topics {
		t.note.Keywords = t.keywords(o.Keywords, df, k)
		g.Go(func() error { return l.summarise(gctx, r, t, o) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return l.embed(ctx, topics, o, others)
}

// documentFrequency counts the topics that have a term.
func documentFrequency(topics []*topic) func(string) int {
	n := make(map[string]int)
	for _, t := range topics {
		for term := range t.words {
			n[term]++
		}
	}
	return func(term string) int { return n[term] }
}

// read chooses the representatives, and counts the words of the members next to the mean.
func (l *Layer) read(ctx context.Context, r kv.Reader, t *topic, o Options) error {
	t.note = &note{Size: t.c.Size, UpdatedAt: max(1, l.cfg.Now().Unix()), Mean: t.c.mean}
	near := make([]Scored, len(t.ids)) // ID is the number of the member
	for i, v := range t.vectors {
		near[i] = Scored{ID: uint32(i)}
		if t.c.mean != nil {
			near[i].Score = float64(simd.Dot(v, t.c.mean))
		}
	}
	slices.SortFunc(near, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(t.ids[a.ID], t.ids[b.ID]))
	})
	if len(near) > 0 {
		t.note.Radius = max(0, 1-near[int(radiusShare*float64(len(near)-1))].Score)
	}
	for _, i := range t.spokesmen(near[:min(len(near), nearMembers)], o.Representatives) {
		t.note.Representatives = append(t.note.Representatives, t.ids[i])
	}
	t.words = make(map[string]*word)
	for _, s := range near[:min(len(near), readMembers)] {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := l.text(r, t.ids[s.ID])
		if err != nil {
			return err
		}
		t.count(text)
	}
	return nil
}

// spokesmen picks n of the members by maximal marginal relevance.
func (t *topic) spokesmen(near []Scored, n int) (out []uint32) {
	likeness := make([]float64, len(near)) // to the nearest chosen one
	taken := make([]bool, len(near))
	for len(out) < min(n, len(near)) {
		best, value := -1, math.Inf(-1)
		for i, s := range near {
			if v := float64(relevance*s.Score) - float64((1-relevance)*likeness[i]); !taken[i] && v > value {
				best, value = i, v
			}
		}
		taken[best] = true
		out = append(out, near[best].ID)
		for i, s := range near {
			likeness[i] = max(likeness[i], float64(simd.Dot(t.vectors[s.ID], t.vectors[near[best].ID])))
		}
	}
	return out
}

func (t *topic) count(text string) {
	lexical.Terms(text, func(x lexical.Term) bool {
		if x.Rank == lexical.Stop || x.Part {
			return true
		}
		w := t.words[x.Text]
		if w == nil {
			w = &word{forms: make(map[string]int)}
			t.words[x.Text] = w
		}
		w.count++
		form := x.Word
		if x.Unspaced {
			form = x.Text
		}
		w.forms[form]++
		return true
	})
}

// form is the commonest form of a word, the first in order of several.
func (w *word) form() string {
	best := ""
	for f, n := range w.forms {
		if best == "" || n > w.forms[best] || n == w.forms[best] && f < best {
			best = f
		}
	}
	return best
}

// keywords are the n terms with the largest tf-idf.
func (t *topic) keywords(n int, df func(string) int, k int) []Keyword {
	out := make([]Keyword, 0, len(t.words))
	for term, w := range t.words {
		weight := (1 + math.Log(float64(w.count))) * math.Log(1+float64(k)/float64(max(1, df(term))))
		out = append(out, Keyword{Term: term, Word: w.form(), Weight: weight})
	}
	slices.SortFunc(out, func(a, b Keyword) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Term, b.Term))
	})
	out = slices.Clone(out[:min(n, len(out))])
	for i := len(out) - 1; i >= 0; i-- {
		out[i].Weight /= out[0].Weight
	}
	return out
}

// text is that of a chunk; empty when it is none.
func (l *Layer) text(r kv.Reader, id string) (string, error) {
	doc, order, ok := record.ParseChunkID(id)
	if !ok {
		return "", nil
	}
	v, err := r.Get(record.ChunkKey(l.cfg.Workspace, doc, order))
	if errors.Is(err, kv.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	c, err := record.DecodeChunk(doc, order, v)
	if err != nil {
		return "", fmt.Errorf("%w: chunk %s: %w", kv.ErrCorrupt, id, err)
	}
	return c.Content, nil
}

// summaryKind is what summarisers are told that they write about.
const summaryKind = "topic"

// summarise writes the summary: the core sentences of the representatives, or what a model makes of these or of the whole.
func (l *Layer) summarise(ctx context.Context, r kv.Reader, t *topic, o Options) error {
	if o.Summary == SummaryNone {
		return nil
	}
	var texts []string
	for _, id := range t.note.Representatives {
		text, err := l.text(r, id)
		if err != nil {
			return err
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	model := l.cfg.Model
	if o.Summary == SummaryExtractive {
		model = nil
	}
	if model == nil || o.Summary == SummaryHybrid {
		texts = coreSentences(texts)
		if t.note.Summary = strings.Join(texts, " "); model == nil || len(texts) == 0 {
			return nil
		}
	}
	s, err := model.Summarize(ctx, summaryKind, t.title(), texts)
	if err != nil {
		return fmt.Errorf("summarise cluster %d: %w", t.c.ID, err)
	}
	t.note.Summary = strings.TrimSpace(s)
	return nil
}

// titleWords of the keywords name a cluster.
const titleWords = 3

func (t *topic) title() string { return titleOf(t.note.Keywords) }

func titleOf(keywords []Keyword) string {
	var words []string
	for _, k := range keywords[:min(len(keywords), titleWords)] {
		words = append(words, k.Word)
	}
	return strings.Join(words, ", ")
}

// embed gives summaries their vectors, and audits them: one whose vector is nearer to the mean of another cluster than to
// its own does not say what the cluster is about, and is not compared with questions.
func (l *Layer) embed(ctx context.Context, topics []*topic, o Options, others []*Cluster) error {
	if o.Centroid == CentroidMean {
		return nil
	}
	var (
		texts []string
		of    []*topic
	)
	for _, t := range topics {
		if t.note.Summary != "" && t.c.mean != nil {
			texts, of = append(texts, t.note.Summary), append(of, t)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	e := l.cfg.Embedder()
	vectors, err := e.Embed(ctx, texts, llm.ForDocument)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%s gave %d vectors for %d texts", e.ID(), len(vectors), len(texts))
	}
	if err != nil {
		return fmt.Errorf("embed %d summaries: %w", len(texts), err)
	}
	for i, t := range of {
		if len(vectors[i]) != len(t.c.mean) {
			return fmt.Errorf("embed summaries: %s gave %d dimensions, want %d", e.ID(), len(vectors[i]), len(t.c.mean))
		}
		if t.note.Vector = unit(vectors[i]); t.note.Vector == nil {
			continue
		}
		own := simd.Dot(t.note.Vector, t.c.mean)
		t.note.Trusted = !slices.ContainsFunc(others, func(c *Cluster) bool {
			return c != nil && c.ID != t.c.ID && c.mean != nil && c.Size > 0 && simd.Dot(t.note.Vector, c.mean) > own
		})
	}
	return nil
}
