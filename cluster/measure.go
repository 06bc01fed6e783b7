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
func (l *Layer) measure(ctx context.Context, r kv.Reader, coll *vector.Collection, n *Navigation, p *partition, o Options) (q Quality, lim Limits, err error) {
	if q.Silhouette, err = kmeans.Silhouette(ctx, p.f.rows(n.head.Dim), p.primary, p.k+1, silhouetteSample, o.Seed, workers()); err != nil {
		return q, lim, err
	}
	for _, c := range n.clusters {
		if c != nil {
			q.SSE += c.spread * float64(c.Size)
		}
	}
	q.SSE /= float64(max(1, p.f.Len()))
	probes, err := p.probes(ctx, r, coll, n)
	if err != nil || len(probes) == 0 {
		return q, lim, err
	}
	lim.Clusters = 1
	for lim.Clusters < n.k && recallOf(probes, lim.Clusters) < aimRecall {
		lim.Clusters++
	}
	lim.Max = min(max(2*lim.Clusters, defaultMax), max(n.k, 1))
	lim.Slack = slack(probes, lim.Max)
	q.Sample = len(probes)
	for _, x := range probes {
		chosen, _ := lim.Choose(x.near)
		q.Recall += x.recall(chosen)
		q.Probes += float64(chosen)
		for _, s := range x.near[:chosen] {
			q.Share += float64(n.clusters[s.ID].Size)
		}
	}
	if always := n.at(alwaysSearched); always != nil {
		q.Share += float64(always.Size * len(probes))
	}
	q.Recall /= float64(len(probes))
	q.Probes /= float64(len(probes))
	q.Share /= float64(len(probes) * p.f.Len())
	return q, lim, nil
}

// probes asks for the neighbours of chunks spread over the field.
func (p *partition) probes(ctx context.Context, r kv.Reader, coll *vector.Collection, n *Navigation) ([]probe, error) {
	if p.f.Len() <= neighbours || n.k < 2 {
		return nil, nil
	}
	count := min(recallSample, p.f.Len())
	out := make([]probe, count)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for i := range count {
		g.Go(func() error {
			at := i * p.f.Len() / count
			v := p.f.vector(at)
			hits, err := coll.Search(ctx, r, v, vector.SearchOptions{K: neighbours + 1, Exact: true})
			if err != nil {
				return err
			}
			out[i].near = n.Nearest(v)
			for _, h := range hits {
				if j, ok := p.f.find(h.ID); ok && j != at && len(out[i].want) < neighbours {
					out[i].want = append(out[i].want, p.cellsOf(j))
				}
			}
			return nil
		})
	}
	return out, g.Wait()
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
