package query

import (
	"math"
	"slices"

	"github.com/glimdb/db/cluster"
)

// Routing is a way to find the topic clusters in which chunks are searched.
type Routing string

// The ways. Without clusters, and wherever the clusters cannot be trusted, all chunks are searched; Result.Routing says so.
const (
	RoutingOff     Routing = "off"     // all chunks are searched: the default
	RoutingVector  Routing = "vector"  // by the question's vector, against centroids
	RoutingKeyword Routing = "keyword" // by the question's words, among the keywords of clusters
	RoutingHybrid  Routing = "hybrid"  // by both, see RoutingOptions.Fuse
	RoutingAuto    Routing = "auto"    // by vector where the clusters were measured to pay, else off
)

// Fuse is how RoutingHybrid brings words and vectors together.
type Fuse string

// The ways to fuse.
const (
	FusePrefilter Fuse = "prefilter" // the clusters best by words, four times as many as are wanted, ranked by vector: the default
	FuseWeighted  Fuse = "weighted"  // λ · cosine + (1−λ) · share of the best score by words
	FuseRRF       Fuse = "rrf"       // reciprocal ranks, 1/(60+rank), added
)

// RoutingOptions tell how chunks are searched by clusters, in naive and in mix. Zero limits take what was measured when the
// clusters were built or tuned.
type RoutingOptions struct {
	// Mode is the way; default off.
	Mode Routing `json:"mode,omitempty"`
	// Clusters is the number that are searched at least; range 1 to 65,536.
	Clusters int `json:"clusters,omitempty"`
	// MaxClusters bounds what is searched more when the question is near to more, or too little is found; at least Clusters.
	MaxClusters int `json:"max_clusters,omitempty"`
	// Slack also searches clusters whose score is at most this below the best; 0 to 2.
	Slack Optional[float64] `json:"slack,omitzero"`
	// Threshold is the least cosine of the best cluster for a question that the clusters cover; -1 to 1.
	Threshold Optional[float64] `json:"threshold,omitzero"`
	// MinChunks is the number of chunks from which routing is worth it; default 5,000.
	MinChunks int `json:"min_chunks,omitempty"`
	// Fuse and Lambda (0 to 1, default 0.7) are for RoutingHybrid.
	Fuse   Fuse              `json:"fuse,omitempty"`
	Lambda Optional[float64] `json:"lambda,omitzero"`
	// HyDE lets the answer model write a passage that would answer the question, and routes by the mean of both vectors
	// (hypothetical document embeddings; Gao and others, 2022). Within the clusters the question decides. One more call,
	// cached with the answers; without an answer model the question routes alone.
	HyDE bool `json:"hyde,omitempty"`
}

// Defaults of RoutingOptions.
const (
	defaultMinChunks = 5000
	defaultLambda    = 0.7
	maxClusters      = 1 << 16
)

// IsZero reports whether nothing is set.
func (o RoutingOptions) IsZero() bool { return o == RoutingOptions{} }

// on reports whether clusters are to be looked at.
func (o RoutingOptions) on() bool { return o.Mode != "" && o.Mode != RoutingOff }

// over returns o with every zero field taken from d.
func (o RoutingOptions) over(d RoutingOptions) RoutingOptions {
	fill(&o.Mode, d.Mode)
	fill(&o.Clusters, d.Clusters)
	fill(&o.MaxClusters, d.MaxClusters)
	fill(&o.Slack, d.Slack)
	fill(&o.Threshold, d.Threshold)
	fill(&o.MinChunks, d.MinChunks)
	fill(&o.Fuse, d.Fuse)
	fill(&o.Lambda, d.Lambda)
	o.HyDE = o.HyDE || d.HyDE
	return o
}

// limits are those of o over the measured ones.
func (o RoutingOptions) limits(measured cluster.Limits) cluster.Limits {
	l := measured.WithDefaults()
	fill(&o.Clusters, l.Clusters)
	fill(&o.MaxClusters, l.Max)
	l.Clusters, l.Max = o.Clusters, max(o.MaxClusters, o.Clusters)
	l.Slack, l.Threshold = o.Slack.Or(l.Slack), o.Threshold.Or(l.Threshold)
	return l
}

func (f *fieldErrors) routing(o RoutingOptions) {
	f.check(slices.Contains([]Routing{"", RoutingOff, RoutingVector, RoutingKeyword, RoutingHybrid, RoutingAuto}, o.Mode),
		"routing.mode", bounded(o.Mode), nil, "want off, vector, keyword, hybrid or auto")
	f.check(slices.Contains([]Fuse{"", FusePrefilter, FuseWeighted, FuseRRF}, o.Fuse), "routing.fuse", bounded(o.Fuse), nil,
		"want prefilter, weighted or rrf")
	f.within("routing.clusters", o.Clusters, 0, maxClusters)
	f.within("routing.max_clusters", o.MaxClusters, 0, maxClusters)
	f.check(o.MaxClusters == 0 || o.MaxClusters >= o.Clusters, "routing.max_clusters", o.MaxClusters, nil, "want at least routing.clusters")
	f.within("routing.min_chunks", o.MinChunks, 0, math.MaxInt32)
	f.real("routing.slack", o.Slack.Or(0), 0, 2)
	f.real("routing.threshold", o.Threshold.Or(0), -1, 1)
	f.real("routing.lambda", o.Lambda.Or(0), 0, 1)
}

// real checks a number.
func (f *fieldErrors) real(field string, v, lo, hi float64) {
	if !(v >= lo && v <= hi) {
		f.add(field, v, nil, "want "+trimmed(lo)+" to "+trimmed(hi))
	}
}
