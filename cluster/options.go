package cluster

import (
	"fmt"
	"math"
)

// Method is a way to find clusters.
type Method string

// The methods.
const (
	KMeans Method = "kmeans" // spherical k-means: the default
	// DBSCAN finds clusters by density, among at most MaxDense chunks.
	DBSCAN Method = "dbscan"
	// Communities are those of the graph that joins each chunk with those most like it, among at most MaxDense chunks.
	Communities Method = "communities"
	// Hierarchical joins the two nearest clusters, by the mean distance of their members, until none are within
	// Options.Radius (average linkage), among at most MaxLinked chunks.
	Hierarchical Method = "hierarchical"
)

// All but KMeans compare each chunk with each, choose the number of clusters themselves, and leave over chunks that belong
// nowhere, which are always searched.

// most is the largest number of chunks that a method takes; 0: any.
func (m Method) most() int {
	switch m {
	case DBSCAN, Communities:
		return MaxDense
	case Hierarchical:
		return MaxLinked
	}
	return 0
}

// outgrown are the options for n chunks: o, and KMeans where the method does not take so many.
func (o Options) outgrown(n int) Options {
	if most := o.Method.most(); most > 0 && n > most {
		o.Method = KMeans
	}
	return o
}

// SummaryMode tells how clusters are described.
type SummaryMode string

// The modes. Every one but SummaryNone is about the representatives; without a chat model all are SummaryExtractive.
const (
	SummaryExtractive SummaryMode = "extractive" // up to five whole sentences of theirs, by TextRank
	SummaryGenerative SummaryMode = "generative" // the model reads the representatives
	SummaryHybrid     SummaryMode = "hybrid"     // the model polishes the extracted sentences: the default
	SummaryNone       SummaryMode = "none"       // keywords only
)

// CentroidMode tells what a question is compared with.
type CentroidMode string

// The modes. A summary whose vector is nearer to the mean of another cluster than to its own is not compared.
const (
	CentroidMean    CentroidMode = "mean"    // the mean of the members
	CentroidSummary CentroidMode = "summary" // the vector of the summary
	CentroidBoth    CentroidMode = "both"    // whichever is nearer: the default
)

// Options shape a generation. Zero fields take the defaults named.
type Options struct {
	Method Method `json:"method,omitempty"`
	// K is the number of clusters of KMeans; 0: about √N, and with Elbow where the curve of squared distances bends. 1 to 65,536.
	// With fewer distinct vectors there are fewer.
	K int `json:"k,omitempty"`
	// Elbow chooses K among √N/4 to 4√N by clustering a sample with each: some times the cost of one clustering.
	Elbow bool `json:"elbow,omitempty"`
	// Seed decides what is drawn; 0 means DefaultSeed.
	Seed uint64 `json:"seed,omitempty"`
	// Rounds bounds those of k-means; 0: 10, after which text embeddings move by less than a percent. At most 1,000.
	Rounds int `json:"rounds,omitempty"`
	// Reduce clusters vectors projected to that many principal components; centroids are made in the full space all the
	// same. 0: off; 2 to 512, below the dimension.
	Reduce int `json:"reduce,omitempty"`
	// Radius is a cosine distance, above 0 and at most 2. DBSCAN: within it chunks are neighbours; default 0.3. Communities:
	// within it chunks may be joined; default 1. Hierarchical: within it clusters are joined; default 0.5.
	Radius float64 `json:"radius,omitempty"`
	// Near is a number of chunks. DBSCAN: neighbours that make a place dense, the chunk itself counted; default 4.
	// Communities: the nearest that a chunk is joined with; default 10. At most 1,000.
	Near int `json:"near,omitempty"`
	// Resolution of Communities: larger makes more and smaller ones; default 1, above 0.
	Resolution float64 `json:"resolution,omitempty"`
	// Replicas is the largest number of clusters that a chunk is in; default 1, at most MaxReplicas. A further cluster
	// takes it whose centroid is at most 1+Epsilon (default 0.1) times as far as the nearest, unless it is nearer to
	// a cluster that has it than to the chunk.
	Replicas int     `json:"replicas,omitempty"`
	Epsilon  float64 `json:"epsilon,omitempty"`

	Summary  SummaryMode  `json:"summary,omitempty"`
	Centroid CentroidMode `json:"centroid,omitempty"`
	// Representatives is the number of chunks that speak for a cluster; default 5, at most 50.
	Representatives int `json:"representatives,omitempty"`
	// Keywords of each cluster; default 20, at most 200.
	Keywords int `json:"keywords,omitempty"`
}

// Limits and defaults of Options.
const (
	DefaultSeed     = 42
	MaxDense        = 20_000 // chunks that DBSCAN and Communities compare each with each
	MaxLinked       = 5000   // chunks that Hierarchical compares each with each, about three times
	MaxReplicas     = 8
	maxK            = 1 << 16
	maxRounds       = 1000
	maxReduce       = 512
	maxNear         = 1000
	defaultEpsilon  = 0.1
	defaultReps     = 5
	maxReps         = 50
	defaultKeywords = 20
	maxKeywords     = 200
)

// OptionError names an option that is out of range.
type OptionError struct {
	Field string
	Value any
	Want  string
}

// Error implements error.
func (e *OptionError) Error() string {
	return fmt.Sprintf("cluster: %s is %v, want %s", e.Field, e.Value, e.Want)
}

// withDefaults fills zero fields. The error is the *OptionError of the first one out of range.
func (o Options) withDefaults() (Options, error) {
	def(&o.Method, KMeans)
	def(&o.Seed, DefaultSeed)
	radius, near := 0.3, 4
	switch o.Method {
	case Communities:
		radius, near = 1, 10
	case Hierarchical:
		radius = 0.5
	}
	def(&o.Radius, radius)
	def(&o.Near, near)
	def(&o.Resolution, 1)
	def(&o.Replicas, 1)
	def(&o.Epsilon, defaultEpsilon)
	def(&o.Summary, SummaryHybrid)
	def(&o.Centroid, CentroidBoth)
	def(&o.Representatives, defaultReps)
	def(&o.Keywords, defaultKeywords)
	bad := func(field string, value any, want string, args ...any) (Options, error) {
		return o, &OptionError{field, value, fmt.Sprintf(want, args...)}
	}
	switch {
	case o.Method != KMeans && o.Method.most() == 0:
		return bad("Method", o.Method, "kmeans, dbscan, communities or hierarchical")
	case o.K < 0 || o.K > maxK:
		return bad("K", o.K, "0 to %d", maxK)
	case o.Rounds < 0 || o.Rounds > maxRounds:
		return bad("Rounds", o.Rounds, "0 to %d", maxRounds)
	case o.Reduce != 0 && (o.Reduce < 2 || o.Reduce > maxReduce):
		return bad("Reduce", o.Reduce, "0, or 2 to %d", maxReduce)
	case !(o.Radius > 0 && o.Radius <= 2):
		return bad("Radius", o.Radius, "above 0, at most 2")
	case o.Near < 1 || o.Near > maxNear:
		return bad("Near", o.Near, "1 to %d", maxNear)
	case !(o.Resolution > 0) || math.IsInf(o.Resolution, 0):
		return bad("Resolution", o.Resolution, "a number above 0")
	case o.Replicas < 1 || o.Replicas > MaxReplicas:
		return bad("Replicas", o.Replicas, "1 to %d", MaxReplicas)
	case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 0):
		return bad("Epsilon", o.Epsilon, "0 or more")
	case o.Summary != SummaryExtractive && o.Summary != SummaryGenerative && o.Summary != SummaryHybrid && o.Summary != SummaryNone:
		return bad("Summary", o.Summary, "extractive, generative, hybrid or none")
	case o.Centroid != CentroidMean && o.Centroid != CentroidSummary && o.Centroid != CentroidBoth:
		return bad("Centroid", o.Centroid, "mean, summary or both")
	case o.Representatives < 1 || o.Representatives > maxReps:
		return bad("Representatives", o.Representatives, "1 to %d", maxReps)
	case o.Keywords < 1 || o.Keywords > maxKeywords:
		return bad("Keywords", o.Keywords, "1 to %d", maxKeywords)
	}
	return o, nil
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns nil or the *OptionError of the first option that is out of range.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}
