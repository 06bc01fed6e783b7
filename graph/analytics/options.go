package analytics

import (
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/graph"
)

// Algorithm names what Run computes.
type Algorithm string

// The algorithms.
const (
	// Degree is the number of nodes joined with a node: of a directed graph, in and out together.
	Degree Algorithm = "degree"
	// Components are the parts of the graph that no edge joins; directions do not matter.
	Components Algorithm = "components"
	// StrongComponents are the parts of a directed graph in which every node can be reached from every other
	// (Tarjan, 1972). Of an undirected graph they are the components.
	StrongComponents Algorithm = "strong_components"
	// PageRank is the chance of finding a random walker at a node (Page, Brin et al., 1998), summing to 1. Who is at a
	// node that leads nowhere goes on anywhere.
	PageRank Algorithm = "pagerank"
	// Cores are core numbers: the largest k for which a node is in a part of the graph whose nodes all have k
	// neighbours in it (Batagelj and Zaveršnik, 2003). Directions and weights do not matter.
	Cores Algorithm = "cores"
	// Louvain are communities of high modularity (Blondel et al., 2008). They may be disconnected inside.
	Louvain Algorithm = "louvain"
	// Leiden are communities of high modularity, each connected (Traag, Waltman and van Eck, 2019).
	Leiden Algorithm = "leiden"
	// Distance is the length of a shortest path from Options.From, along the directions; +Inf where there is none.
	Distance Algorithm = "distance"
)

// Algorithms lists all of them.
func Algorithms() []Algorithm {
	return []Algorithm{Degree, Components, StrongComponents, PageRank, Cores, Louvain, Leiden, Distance}
}

// Groups reports whether a result of the algorithm assigns nodes to groups; the others give scores.
func (a Algorithm) Groups() bool {
	return slices.Contains([]Algorithm{Components, StrongComponents, Louvain, Leiden}, a)
}

// Length says how long an edge is for Distance.
type Length string

// The lengths.
const (
	Hops    Length = "hops"    // every edge is 1 long: the default
	Weight  Length = "weight"  // an edge is as long as its weight, 0 or more
	Inverse Length = "inverse" // an edge is 1/weight long, for weights that tell how strong it is; above 0
)

// Lengths lists all lengths.
func Lengths() []Length { return []Length{Hops, Weight, Inverse} }

// Options say what to compute and how. A zero field is the default. What the algorithm does not use must
// be in its range, too.
type Options struct {
	// Algorithm must be given.
	Algorithm Algorithm `json:"algorithm"`
	// Unweighted makes PageRank, Louvain and Leiden take every edge for one of weight 1.
	Unweighted bool `json:"unweighted,omitempty"`
	// Damping is the share of PageRank's walkers that follow an edge; default 0.85, above 0 and below 1.
	Damping float64 `json:"damping,omitempty"`
	// Tolerance ends PageRank: the ranks of two rounds differ by less, all differences summed; default 1e-9, above 0.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Resolution of Louvain and Leiden: larger makes more and smaller communities; default 1, above 0.
	Resolution float64 `json:"resolution,omitempty"`
	// Rounds bounds the repetitions; range 1 to 10,000. PageRank: default 200. Louvain and Leiden: passes over the
	// whole graph, each from the result of the one before, which end when one finds nothing better; default 10.
	Rounds int `json:"rounds,omitempty"`
	// Seed orders the nodes of Louvain and Leiden, and draws in Leiden's refinement. Any value, 0 included.
	Seed uint64 `json:"seed,omitempty"`
	// From is the node that Distance begins at.
	From string `json:"from,omitempty"`
	// Length is that of an edge for Distance; default Hops.
	Length Length `json:"length,omitempty"`
	// MemoryBytes bounds the snapshot and all that the algorithm allocates, by estimate; default 2 GiB, above 0.
	MemoryBytes int64 `json:"-"`
}

const (
	defaultDamping        = 0.85
	defaultTolerance      = 1e-9
	defaultResolution     = 1
	defaultPageRankRounds = 200 // 0.85^200 is below 1e-14: more than the tolerance ever needs
	defaultLeidenRounds   = 10  // the second or third pass finds nothing better on most graphs
	maxRounds             = 10_000

	// DefaultMemoryBytes is Options.MemoryBytes where it is 0.
	DefaultMemoryBytes = 2 << 30
)

// WithDefaults fills zero fields, checks all, and empties those that the algorithm does not use. Errors are *graph.InvalidError with the field's JSON name.
func (o Options) WithDefaults() (Options, error) {
	def(&o.Damping, defaultDamping)
	def(&o.Tolerance, defaultTolerance)
	def(&o.Resolution, defaultResolution)
	def(&o.Length, Hops)
	def(&o.MemoryBytes, DefaultMemoryBytes)
	if o.Algorithm == PageRank {
		def(&o.Rounds, defaultPageRankRounds)
	}
	def(&o.Rounds, defaultLeidenRounds)
	for _, c := range []struct {
		ok    bool
		field string
		value any
		want  string
	}{
		{slices.Contains(Algorithms(), o.Algorithm), "algorithm", o.Algorithm, fmt.Sprint("one of ", Algorithms())},
		{o.Damping > 0 && o.Damping < 1, "damping", o.Damping, "above 0 and below 1"},
		{o.Tolerance > 0 && !math.IsInf(o.Tolerance, 0), "tolerance", o.Tolerance, "a number above 0"},
		{o.Resolution > 0 && !math.IsInf(o.Resolution, 0), "resolution", o.Resolution, "a number above 0"},
		{1 <= o.Rounds && o.Rounds <= maxRounds, "rounds", o.Rounds, fmt.Sprint("1 to ", maxRounds)},
		{slices.Contains(Lengths(), o.Length), "length", o.Length, fmt.Sprint("one of ", Lengths())},
		{o.MemoryBytes > 0, "memory", o.MemoryBytes, "a number of bytes above 0"},
	} {
		if !c.ok {
			return o, fmt.Errorf("analytics: %w", &graph.InvalidError{Field: "argument", Key: c.field, Reason: fmt.Sprintf("%v, want %s", c.value, c.want)})
		}
	}
	return o.used(), nil
}

// used leaves out what the algorithm does not look at, so that options tell how a result was made and nothing else.
func (o Options) used() Options {
	u := Options{Algorithm: o.Algorithm, MemoryBytes: o.MemoryBytes}
	switch o.Algorithm {
	case PageRank:
		u.Unweighted, u.Rounds, u.Damping, u.Tolerance = o.Unweighted, o.Rounds, o.Damping, o.Tolerance
	case Louvain, Leiden:
		u.Unweighted, u.Rounds, u.Resolution, u.Seed = o.Unweighted, o.Rounds, o.Resolution, o.Seed
	case Distance:
		u.From, u.Length = o.From, o.Length
	}
	return u
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// MemoryError tells that a run would take more memory than its options allow. errors.Is finds graph.ErrLimit.
type MemoryError struct {
	Algorithm   Algorithm
	Need, Limit int64 // bytes, the snapshot included
}

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("analytics: %s of this graph takes about %d bytes, MemoryBytes allows %d", e.Algorithm, e.Need, e.Limit)
}

// Is makes every MemoryError a graph.ErrLimit.
func (e *MemoryError) Is(target error) bool { return target == graph.ErrLimit }

// Admit refuses a graph of that size with a *MemoryError when MemoryBytes does not suffice for it, before its
// snapshot is made. Run does the same.
func (o Options) Admit(nodes, edges int) error {
	need := graph.SnapshotBytes(nodes, edges) + o.working(int64(nodes), int64(edges))
	if limit := o.MemoryBytes; need > limit {
		return &MemoryError{o.Algorithm, need, limit}
	}
	return nil
}

// working estimates what an algorithm allocates besides the snapshot. Entries are edges in the rows of both ends,
// 12 bytes each with a weight.
func (o Options) working(nodes, edges int64) int64 {
	const entry, both = 12, 2
	switch o.Algorithm {
	case PageRank:
		return 32 * nodes
	case Cores:
		return 40*nodes + both*entry*edges
	case Louvain, Leiden: // two levels at a time, the upper one smaller, its rows while they grow, and what waits for the collector
		return 160*nodes + 4*both*entry*edges
	default:
		return 40 * nodes
	}
}
