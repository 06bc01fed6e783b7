package cluster

import (
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Quality is what was measured when the clusters were made.
type Quality struct {
	SSE        float64 `json:"sse"`        // mean squared distance from the own mean, vectors of length one
	Silhouette float64 `json:"silhouette"` // of a sample, -1 to 1: below 0.05 there is little structure
	// Recall is the share of the ten nearest neighbours of stored chunks that are found among the chunks compared, under
	// Limits; Share is the part of all chunks that is compared; Probes the number of clusters, on average.
	Recall float64 `json:"recall"`
	Share  float64 `json:"share"`
	Probes float64 `json:"probes"`
	// Sample is the number of chunks that were asked for.
	Sample int `json:"sample"`
}

// Conditions under which routing pays: it finds what an exhaustive search finds, in a part of the work.
const (
	minRecall     = 0.95
	maxShare      = 0.25
	minSilhouette = 0.05
)

// Pays reports whether clusters like these are worth routing to.
func (q Quality) Pays() bool {
	return q.Recall >= minRecall && q.Share <= maxShare && q.Silhouette >= minSilhouette
}

const (
	silhouetteSample = 2000
	recallSample     = 200
	neighbours       = 10
	// aimRecall leaves room for questions that are less like chunks than chunks are.
	aimRecall = 0.975
)

// probe is one question of the measurement.
type probe struct {
	near []Scored
	want [][]uint32 // the cells of each neighbour
}

// measure finds the least number of clusters that gives the recall, and what limits follow.
func (n *Navigation) measure(ctx context.Context, r kv.Reader, p *partition, o Options) (q Quality, lim Limits, err error) {
	if q.Silhouette, err = kmeans.Silhouette(ctx, p.f.rows(n.head.Dim), p.primary, p.k+1, silhouetteSample, o.Seed, workers()); err != nil {
		return q, lim, err
	}
	for _, c := range n.clusters {
		if c != nil {
			q.SSE += c.spread * float64(c.Size)
		}
	}
	q.SSE /= float64(max(1, p.f.Len()))
	probes, err := n.probeChunks(ctx, r, p.f, func(id string) []uint32 {
		if i, ok := p.f.find(id); ok {
			return p.cellsOf(i)
		}
		return nil
	})
	if err != nil || len(probes) == 0 {
		return q, lim, err
	}
	q.Sample = len(probes)
	lim = limitsFor(probes, n, aimRecall)
	q.Recall, q.Share, q.Probes = outcome(probes, n, lim)
	return q, lim, nil
}

// limitsFor is the least number of clusters that gives the recall, and the slack for a few more.
func limitsFor(probes []probe, n *Navigation, recall float64) (lim Limits) {
	lim.Clusters = 1
	for lim.Clusters < n.k && recallOf(probes, lim.Clusters) < recall {
		lim.Clusters++
	}
	lim.Max = min(max(2*lim.Clusters, defaultMax), max(n.k, 1))
	lim.Slack = slack(probes, lim.Max)
	return lim
}

// outcome is what the probes find under limits: recall, part of all chunks compared, clusters.
func outcome(probes []probe, n *Navigation, lim Limits) (recall, share, clusters float64) {
	for _, x := range probes {
		chosen, _ := lim.Choose(x.near)
		recall += x.recall(chosen)
		share += n.share(x.near[:chosen])
		clusters += float64(chosen)
	}
	of := float64(len(probes))
	return recall / of, share / of, clusters / of
}

// share is the part of all chunks in some clusters, and in the one that is always searched.
func (n *Navigation) share(cells []Scored) float64 {
	size := 0
	if always := n.at(alwaysSearched); always != nil {
		size = always.Size
	}
	for _, s := range cells {
		size += n.clusters[s.ID].Size
	}
	return float64(size) / float64(max(1, n.total))
}

// probeChunks asks for the neighbours of chunks spread over the field.
func (n *Navigation) probeChunks(ctx context.Context, r kv.Reader, f *field, cells func(id string) []uint32) ([]probe, error) {
	if f.Len() <= neighbours || n.k < 2 {
		return nil, nil
	}
	count := min(recallSample, f.Len())
	vectors, ids := make([][]float32, count), make([]string, count)
	for i := range count {
		at := i * f.Len() / count
		vectors[i], ids[i] = f.vector(at), f.id(at)
	}
	return n.probe(ctx, r, vectors, ids, cells)
}

// probe finds the clusters near to each vector, and those of its nearest chunks; ids are the chunks that vectors are of,
// which are not looked for. Vectors without direction are left out.
func (n *Navigation) probe(ctx context.Context, r kv.Reader, vectors [][]float32, ids []string, cells func(id string) []uint32) ([]probe, error) {
	out := make([]probe, len(vectors))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for i, v := range vectors {
		g.Go(func() error {
			v := unit(v)
			if v == nil {
				return nil
			}
			hits, err := n.coll.Search(ctx, r, v, vector.SearchOptions{K: neighbours + 1, Exact: true})
			if err != nil {
				return err
			}
			out[i].near = n.Nearest(v)
			for _, h := range hits {
				if in := cells(h.ID); in != nil && (ids == nil || h.ID != ids[i]) && len(out[i].want) < neighbours {
					out[i].want = append(out[i].want, in)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(out, func(p probe) bool { return len(p.near) == 0 || len(p.want) == 0 }), err
}

// recall is the share of the neighbours in the first n clusters.
func (x *probe) recall(n int) float64 {
	found := 0
	for _, cells := range x.want {
		if slices.Contains(cells, alwaysSearched) || slices.ContainsFunc(x.near[:min(n, len(x.near))], func(s Scored) bool { return slices.Contains(cells, s.ID) }) {
			found++
		}
	}
	return float64(found) / float64(max(1, len(x.want)))
}

func recallOf(probes []probe, n int) float64 {
	sum := 0.0
	for i := range probes {
		sum += probes[i].recall(n)
	}
	return sum / float64(len(probes))
}

// evenShare of the questions may count as spread evenly.
const evenShare = 0.02

// slack is the widest margin under which no more than evenShare of the probes have more than most clusters within it.
func slack(probes []probe, most int) float64 {
	gaps := make([]float64, len(probes))
	for i, x := range probes {
		gaps[i] = math.Inf(1)
		if most < len(x.near) {
			gaps[i] = x.near[0].Score - x.near[most].Score
		}
	}
	slices.Sort(gaps)
	s := gaps[int(evenShare*float64(len(gaps)))]
	if math.IsInf(s, 1) {
		return defaultSlack
	}
	return max(1e-6, s*(1-1e-9)) // the very gap is out of it
}
