package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Navigation is one state of a generation: its clusters as of one commit. It never changes. Safe for concurrent use.
type Navigation struct {
	head     head
	lsn      kv.LSN     // the last commit that is in it
	since    kv.LSN     // older views show chunks that are in no cluster any more
	clusters []*Cluster // by id; nil: none has it, or none any more
	k, total int
	coll     *vector.Collection
	cells    *vector.Cells
	terms    map[string][]posting
	seen     *seen
}

// Cluster is a topic: vectors with a centroid and a description. Cluster 0 has neither; it is always searched.
type Cluster struct {
	ID   uint32
	Size int // chunks in it first of all
	sum  []int64
	note *note // never nil

	// What follows from these.
	mean   []float32 // of length one; nil when directions cancel out, or there are none
	spread float64   // mean squared distance of the members from the mean, both of length one
	dirty  bool      // the description is outdated
}

// Keyword is a term that sets a cluster apart.
type Keyword struct {
	Term string `json:"term"` // as it is matched: a stem, or neighbouring characters
	// Word is a form of it that stands in the texts.
	Word   string  `json:"word"`
	Weight float64 `json:"weight"` // tf-idf over the clusters, scaled to at most 1
}

type posting struct {
	cell   uint32
	weight float64
}

// alwaysSearched is the cluster of what belongs nowhere.
const alwaysSearched uint32 = 0

// fixedOne is 1 in fixed point: as fine as the float32 values that are added.
const fixedOne = 1 << 24

// add adds v to sum, by times: 1, or -1 to take it away again exactly.
func add(sum []int64, v []float32, by int64) {
	for i, x := range v {
		sum[i] += by * int64(math.RoundToEven(float64(x)*fixedOne))
	}
}

// meanOf is the direction of a sum; nil when there is none.
func meanOf(sum []int64) []float32 {
	norm := normOf(sum)
	if norm < 1e-6 {
		return nil
	}
	out := make([]float32, len(sum))
	for i, v := range sum {
		out[i] = float32(float64(v) / fixedOne / norm)
	}
	return out
}

func normOf(sum []int64) float64 {
	norm := 0.0
	for _, v := range sum {
		x := float64(v) / fixedOne
		norm += x * x
	}
	return math.Sqrt(norm)
}

// A description is outdated when the size changed by this share, or the mean moved that far, as 1 − cosine.
const (
	dirtySize  = 0.2
	dirtyDrift = 0.05
)

func newCluster(id uint32, n int, sum []int64, d *note) *Cluster {
	c := &Cluster{ID: id, Size: n, sum: sum, note: d}
	if id == alwaysSearched {
		return c
	}
	c.mean = meanOf(sum)
	if n > 0 {
		c.spread = max(0, 2*(1-normOf(sum)/float64(n)))
	}
	drift := 0.0
	if c.mean != nil && d.Mean != nil {
		drift = 1 - float64(simd.Dot(c.mean, d.Mean))
	}
	moved := math.Abs(float64(n - d.Size))
	c.dirty = d.UpdatedAt == 0 || moved > 0 && moved >= dirtySize*float64(d.Size) || drift > dirtyDrift
	return c
}

// described returns the cluster with another description.
func (c *Cluster) described(d *note) *Cluster { return newCluster(c.ID, c.Size, c.sum, d) }

// score compares v, of length one, with the cluster.
func (c *Cluster) score(v []float32, mode CentroidMode) float64 {
	s := math.Inf(-1)
	summary := mode != CentroidMean && c.note.Trusted
	if summary {
		s = float64(simd.Dot(v, c.note.Vector))
	}
	if c.mean != nil && (mode != CentroidSummary || !summary) {
		s = max(s, float64(simd.Dot(v, c.mean)))
	}
	return s
}

// Scored is a cluster with its likeness to a question.
type Scored struct {
	ID    uint32  `json:"id"`
	Score float64 `json:"score"`
}

func byScore(a, b Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// Nearest compares v, of length one, with every cluster that is not empty: best first, ties by id. It costs a dot product
// or two a cluster.
func (n *Navigation) Nearest(v []float32) []Scored {
	out := make([]Scored, 0, n.k)
	for _, c := range n.clusters {
		if c == nil || c.Size == 0 {
			continue
		}
		if s := c.score(v, n.head.Options.Centroid); !math.IsInf(s, -1) {
			out = append(out, Scored{c.ID, s})
		}
	}
	slices.SortFunc(out, byScore)
	return out
}

// ByKeyword scores the clusters that have one of terms among their keywords, Σ idf(term) · weight: best first, ties by id.
func (n *Navigation) ByKeyword(terms []string) []Scored {
	sums := make(map[uint32]float64)
	for _, t := range slices.Compact(slices.Sorted(slices.Values(terms))) {
		list := n.terms[t]
		idf := math.Log(1 + float64(n.k)/float64(1+len(list)))
		for _, p := range list {
			if n.clusters[p.cell].Size > 0 {
				sums[p.cell] += float64(idf * p.weight)
			}
		}
	}
	out := make([]Scored, 0, len(sums))
	for cell, s := range sums {
		out = append(out, Scored{cell, s})
	}
	slices.SortFunc(out, byScore)
	return out
}

// Search finds the vectors nearest to q among those of the cells, and of cluster 0, that r shows, exactly: see
// vector.Cells.Search.
func (n *Navigation) Search(ctx context.Context, r kv.Reader, q []float32, cells []uint32, o vector.SearchOptions) (hits []vector.Hit, compared int, err error) {
	return n.cells.Search(ctx, r, q, append(slices.Clone(cells), alwaysSearched), o)
}

// K is the number of clusters that are not empty, the one that is always searched left out.
func (n *Navigation) K() int { return n.k }

// Len is the number of chunks.
func (n *Navigation) Len() int { return n.total }

// Generation numbers the clusters.
func (n *Navigation) Generation() uint64 { return n.head.Generation }

// Data is the commit whose chunks the clusters were made from.
func (n *Navigation) Data() kv.LSN { return n.head.Data }

// Title is what a person may call a cluster: its first keywords. Size is the number of chunks in it.
func (n *Navigation) Title(id uint32) (title string, size int) {
	if c := n.at(id); c != nil {
		return titleOf(c.note.Keywords), c.Size
	}
	return "", 0
}

// Limits are those that were measured for the generation.
func (n *Navigation) Limits() Limits { return n.head.Limits }

// Quality is what was measured when it was built.
func (n *Navigation) Quality() Quality { return n.head.Quality }

// Fits reports why the navigation cannot serve searches of coll as r shows it with vectors of a model, or "".
func (n *Navigation) Fits(r kv.Reader, coll *vector.Collection, model string, dim int) string {
	switch {
	case n.head.Model != model || n.head.Dim != dim:
		return "the clusters are of another embedding model"
	case n.coll != coll:
		return "the clusters are of an earlier collection of chunks"
	case r.LSN() < n.since:
		return "the clusters are younger than the view"
	}
	return ""
}

// with returns the navigation after a commit that changed some clusters.
func (n *Navigation) with(lsn kv.LSN, h head, changed []*Cluster) *Navigation {
	out := &Navigation{head: h, lsn: lsn, since: max(n.since, h.Since), clusters: slices.Clone(n.clusters), coll: n.coll, cells: n.cells, terms: n.terms, seen: n.seen}
	described := false
	for _, c := range changed {
		for len(out.clusters) <= int(c.ID) {
			out.clusters = append(out.clusters, nil)
		}
		old := out.clusters[c.ID]
		described = described || old == nil || old.note != c.note
		if c.Size == 0 && old != nil && old.Size > 0 {
			out.since = lsn
		}
		out.clusters[c.ID] = c
	}
	out.count()
	if described {
		out.terms = postings(out.clusters)
	}
	return out
}

func (n *Navigation) count() {
	n.k, n.total = 0, 0
	for _, c := range n.clusters {
		if c == nil {
			continue
		}
		n.total += c.Size
		if c.ID != alwaysSearched && c.Size > 0 {
			n.k++
		}
	}
}

// postings is the inverted index of the keywords.
func postings(clusters []*Cluster) map[string][]posting {
	out := make(map[string][]posting)
	for _, c := range clusters {
		if c == nil {
			continue
		}
		for _, k := range c.note.Keywords {
			out[k.Term] = append(out[k.Term], posting{c.ID, k.Weight})
		}
	}
	return out
}

// unit returns v at length one, or nil for a vector without direction.
func unit(v []float32) []float32 {
	norm := math.Sqrt(float64(simd.Dot(v, v)))
	if norm == 0 || math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out
}

// Unit returns v at length one, as Nearest wants it, or nil for a vector without direction.
func Unit(v []float32) []float32 { return unit(v) }
