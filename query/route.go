package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Routed tells how the chunk index was searched when Options.Routing asked for clusters.
type Routed struct {
	Mode Routing `json:"mode"`
	// Used: the hits are those of the clusters alone.
	Used bool `json:"used"`
	// Clusters are those that were searched, best first; also when all chunks were searched after them.
	Clusters []RoutedCluster `json:"clusters"`
	// Best is the cosine of the nearest centroid, where centroids were asked.
	Best float64 `json:"best"`
	// Scanned is the number of chunks that were compared within the clusters, Total that of all chunks.
	Scanned int `json:"scanned"`
	Total   int `json:"total"`
	// Widened: too little was found at first, and more clusters were searched.
	Widened bool `json:"widened,omitempty"`
	// Fallback says why all chunks were searched; Reason tells it to a person. Both are empty when they were not.
	Fallback RouteFallback `json:"fallback,omitempty"`
	Reason   string        `json:"fallback_reason,omitempty"`
	// Generation numbers the clusters, and Data is the commit whose chunks they were made from; 0 without clusters.
	Generation uint64 `json:"generation,omitempty"`
	Data       kv.LSN `json:"data,omitempty"`
}

// RoutedCluster is a cluster that was searched.
type RoutedCluster struct {
	cluster.Scored
	Title string `json:"title"`
	Size  int    `json:"size"`
}

// RouteFallback is why all chunks were searched although routing was asked for.
type RouteFallback string

// The causes.
const (
	FallbackUncovered RouteFallback = "uncovered" // F1: no cluster is near enough, or has a word of the question
	FallbackEven      RouteFallback = "even"      // F2: the question is about as near to more clusters than may be searched
	FallbackTooFew    RouteFallback = "too_few"   // F3: the clusters, widened, have fewer chunks above the threshold than asked for
	FallbackNoLayer   RouteFallback = "no_layer"  // F4: there are no clusters, or they do not fit the chunks, the model or the view
	FallbackSmall     RouteFallback = "small"     // F4: too few chunks or clusters for routing to be worth it
	FallbackNoGain    RouteFallback = "no_gain"   // F4: RoutingAuto: the clusters were measured not to pay
	FallbackNarrow    RouteFallback = "narrow"    // the filter selects so few chunks that these are compared one by one
)

// route is a decision about one search.
type route struct {
	nav    *cluster.Navigation
	ranked []cluster.Scored // by what routes
	chosen int
	lim    cluster.Limits
	// steady: ranked are no cosines, which slack could be compared with.
	steady bool
}

// byCluster searches the chunk index through the clusters. ok is false when all chunks have to be searched.
func (q *run) byCluster(ctx context.Context, r *reader, s searches, l *leg, t *timer) (hits []vector.Hit, ok bool, err error) {
	rt := q.e.timer(StepRoute)
	l.routed = &Routed{Mode: q.opt.Routing.Mode, Clusters: []RoutedCluster{}}
	defer func() {
		rt.count("clusters", len(l.routed.Clusters))
		rt.cut("chunks", l.routed.Scanned, l.routed.Total)
		rt.note(string(l.routed.Fallback))
		t.inner(rt.end())
	}()
	if l.routed.Total, err = r.chunks.Len(r.snap); err != nil {
		return nil, false, err
	}
	p, why, reason := q.decide(r, s, l.routed)
	if why != "" {
		l.routed.Fallback, l.routed.Reason = why, reason
		return nil, false, nil
	}
	hits, err = q.searchClusters(ctx, r, s.queryVector, p, l)
	if len(hits) < q.opt.ChunkTopK && err == nil {
		wider := min(p.lim.Max, len(p.ranked))
		if l.routed.Widened = wider > p.chosen; l.routed.Widened {
			p.chosen = wider
			hits, err = q.searchClusters(ctx, r, s.queryVector, p, l)
		}
	}
	switch {
	case err != nil:
		return nil, false, err
	case len(hits) < q.opt.ChunkTopK:
		l.routed.Fallback = FallbackTooFew
		l.routed.Reason = fmt.Sprintf("%d chunks of %d clusters are similar enough, fewer than %d", len(hits), p.chosen, q.opt.ChunkTopK)
		return nil, false, nil
	}
	l.routed.Used = true
	if o := q.opt.Routing; r.sel == nil && !o.HyDE && (o.Mode == RoutingVector || o.Mode == RoutingAuto) && p.lim == p.nav.Limits().WithDefaults() {
		p.nav.Routed(r.snap, s.queryVector, q.routedOptions(), hits)
	}
	return hits, true, nil
}

// decide chooses clusters, or tells why not.
func (q *run) decide(r *reader, s searches, res *Routed) (route, RouteFallback, string) {
	o := q.opt.Routing
	var nav *cluster.Navigation
	if q.e.clusters != nil {
		nav = q.e.clusters()
	}
	if nav == nil {
		return route{}, FallbackNoLayer, "no clusters have been built"
	}
	res.Generation, res.Data = nav.Generation(), nav.Data()
	least := cmp.Or(o.MinChunks, defaultMinChunks)
	switch why := nav.Fits(r.snap, r.chunks, q.embedder.ID(), q.embedder.Dim()); {
	case why != "":
		return route{}, FallbackNoLayer, why
	case nav.K() < 2:
		return route{}, FallbackSmall, fmt.Sprintf("there are fewer than two clusters: %d", nav.K())
	case res.Total < least:
		return route{}, FallbackSmall, fmt.Sprintf("%d chunks are fewer than %d, from which routing is worth it", res.Total, least)
	case o.Mode == RoutingAuto && !nav.Quality().Pays():
		return route{}, FallbackNoGain, "when the clusters were built they were measured not to pay"
	case r.sel != nil && r.sel.few(r.nameOf(r.chunks)) != nil:
		return route{}, FallbackNarrow, "the filter selects few chunks, which are compared one by one"
	}
	p := route{nav: nav, lim: o.limits(nav.Limits())}
	v := cluster.Unit(s.routeVector())
	if v == nil {
		return p, FallbackUncovered, "the question has no direction"
	}
	near := nav.Nearest(v)
	if len(near) > 0 {
		res.Best = near[0].Score
	}
	q.rank(&p, near)
	switch {
	case len(p.ranked) == 0:
		return p, FallbackUncovered, "no cluster has a word of the question among its keywords"
	case o.Mode != RoutingKeyword && res.Best < p.lim.Threshold:
		return p, FallbackUncovered, fmt.Sprintf("the nearest cluster has a cosine of %.3f, below %.3f", res.Best, p.lim.Threshold)
	}
	if p.steady {
		p.chosen = min(p.lim.Clusters, len(p.ranked))
		return p, "", ""
	}
	var even bool
	if p.chosen, even = p.lim.Choose(p.ranked); even {
		return p, FallbackEven, fmt.Sprintf("more than %d clusters are within %.3f of the nearest", p.lim.Max, p.lim.Slack)
	}
	return p, "", ""
}

const (
	// prefilter times the wanted clusters are left by words.
	prefilter = 4
	// rrfK dampens the first ranks (Cormack, Clarke and Büttcher, 2009).
	rrfK = 60
)

// rank orders the clusters as the mode asks; near are all, by vector.
func (q *run) rank(p *route, near []cluster.Scored) {
	o := q.opt.Routing
	if o.Mode != RoutingKeyword && o.Mode != RoutingHybrid {
		p.ranked = near
		return
	}
	words := p.nav.ByKeyword(terms(q.question))
	switch {
	case o.Mode == RoutingKeyword:
		p.ranked, p.steady = words, true
	case o.Fuse == FuseWeighted:
		p.ranked = weighted(near, words, o.Lambda.Or(defaultLambda))
	case o.Fuse == FuseRRF:
		p.ranked, p.steady = reciprocal(near, words), true
	default:
		p.ranked = near
		if words = words[:min(len(words), prefilter*p.lim.Clusters)]; len(words) >= p.lim.Clusters {
			in := scores(words)
			p.ranked = slices.DeleteFunc(slices.Clone(near), func(s cluster.Scored) bool { _, ok := in[s.ID]; return !ok })
		}
	}
}

func scores(list []cluster.Scored) map[uint32]float64 {
	out := make(map[uint32]float64, len(list))
	for _, s := range list {
		out[s.ID] = s.Score
	}
	return out
}

// weighted adds cosines and scores by words, these as a share of the best.
func weighted(near, words []cluster.Scored, lambda float64) []cluster.Scored {
	by := scores(words)
	out := slices.Clone(near)
	for i := range out {
		word := 0.0
		if len(words) > 0 {
			word = by[out[i].ID] / words[0].Score
		}
		out[i].Score = float64(lambda*out[i].Score) + float64((1-lambda)*word)
	}
	return ordered(out)
}

// reciprocal adds the reciprocal ranks of two lists.
func reciprocal(near, words []cluster.Scored) []cluster.Scored {
	sums := make(map[uint32]float64, len(near))
	for _, list := range [][]cluster.Scored{near, words} {
		for i, s := range list {
			sums[s.ID] += 1 / float64(rrfK+i+1)
		}
	}
	out := make([]cluster.Scored, 0, len(sums))
	for id, s := range sums {
		out = append(out, cluster.Scored{ID: id, Score: s})
	}
	return ordered(out)
}

func ordered(list []cluster.Scored) []cluster.Scored {
	slices.SortFunc(list, func(a, b cluster.Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return list
}

// terms are those of the question that can be keywords.
func terms(question string) (out []string) {
	lexical.Terms(question, func(t lexical.Term) bool {
		if t.Rank != lexical.Stop && !t.Part {
			out = append(out, t.Text)
		}
		return true
	})
	return out
}

// searchClusters compares all chunks of the chosen clusters: one list, best first, ties by id.
func (q *run) searchClusters(ctx context.Context, r *reader, v []float32, p route, l *leg) ([]vector.Hit, error) {
	ids := make([]uint32, p.chosen)
	l.routed.Clusters = l.routed.Clusters[:0]
	for i, s := range p.ranked[:p.chosen] {
		ids[i] = s.ID
		title, size := p.nav.Title(s.ID)
		l.routed.Clusters = append(l.routed.Clusters, RoutedCluster{s, title, size})
	}
	o := q.routedOptions()
	hits, scanned, err := p.nav.Search(ctx, r.snap, v, ids, o)
	l.routed.Scanned = scanned
	if err != nil || r.sel == nil {
		return hits, err
	}
	l.hitsBefore = len(hits)
	o.Set = r.sel.set(r.chunks, r.nameOf(r.chunks))
	hits, _, err = p.nav.Search(ctx, r.snap, v, ids, o)
	return hits, err
}

// routedOptions are those of a search within clusters.
func (q *run) routedOptions() vector.SearchOptions {
	least := q.opt.CosineThreshold.Or(defaultCosine)
	return vector.SearchOptions{K: q.opt.ChunkTopK, MinScore: &least}
}

// chunkHits searches the chunk index as Options.Routing asks.
func (q *run) chunkHits(ctx context.Context, r *reader, s searches, l *leg, t *timer) ([]vector.Hit, error) {
	if q.opt.Routing.on() {
		hits, ok, err := q.byCluster(ctx, r, s, l, t)
		if err != nil {
			return nil, err
		}
		if ok {
			l.found(hits, t)
			return hits, nil
		}
	}
	return q.hits(ctx, r, r.chunks, s.queryVector, q.opt.ChunkTopK, l, t)
}

// tellRoute reports how the chunk index was searched, once all paths have searched.
func (q *run) tellRoute(l *leg) {
	q.res.Routing = l.routed
	if l.routed != nil && l.routed.Fallback != "" {
		q.res.fallback(StepRoute, "clusters", "all chunks", l.routed.Reason)
	}
}

// trimmed is a number without zeros at its end.
func trimmed(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
