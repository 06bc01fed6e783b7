package vector

import (
	"fmt"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
)

// Metric tells what nearest means. The numbers are on disk.
type Metric uint8

const (
	// Cosine stores vectors normalised; the score is the cosine, from -1 to 1.
	Cosine Metric = iota
	// Dot scores by the dot product.
	Dot
	// L2 scores by the Euclidean distance, negated, so that larger is nearer for every metric.
	L2
)

// String returns the metric's name in lower case.
func (m Metric) String() string {
	switch m {
	case Cosine:
		return "cosine"
	case Dot:
		return "dot"
	case L2:
		return "l2"
	}
	return fmt.Sprintf("metric(%d)", uint8(m))
}

// Kind tells which index a collection gets once it has outgrown the exact threshold. The numbers are on disk.
type Kind uint8

const (
	// HNSW is a navigable small-world graph: the best recall for its time above a few hundred dimensions.
	HNSW Kind = iota
	// IVF is a list of vectors for each of many cells around centroids: built ten times as fast as a graph, with
	// equal recall about twice as fast as one at 100 dimensions, and some three times as slow at 768.
	IVF
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	switch k {
	case HNSW:
		return "hnsw"
	case IVF:
		return "ivf"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Quantization tells what an index compares before the float32 rows decide. The numbers are on disk.
type Quantization uint8

const (
	// Int8 compares one byte a value, symmetric, with a scale for each vector: a quarter of the memory
	// traffic, and after rescoring the recall of float32.
	Int8 Quantization = iota
	// Float32 compares the rows themselves.
	Float32
	// Binary compares one bit a value, its sign: a thirty-second of the memory. For Cosine and Dot at several
	// hundred dimensions only; L2 refuses it, because it does not depend on where the origin is and signs do.
	// An index is built from the rows while they are in memory, and five times as many candidates as from
	// codes are rescored.
	Binary
)

// String returns the name in lower case.
func (q Quantization) String() string {
	switch q {
	case Int8:
		return "int8"
	case Float32:
		return "float32"
	case Binary:
		return "binary"
	}
	return fmt.Sprintf("quantization(%d)", uint8(q))
}

// Limits and defaults of Config.
const (
	// MaxDim bounds the dimension: far above any embedding model, far below where an int8 dot product
	// could overflow.
	MaxDim = 16384

	// DefaultM is where recall per byte stops rising on text embeddings.
	DefaultM = 16
	// MinM leaves a node more links than the tree that keeps the graph whole may take.
	MinM = 4
	// MaxM keeps the neighbours of one node (2M) within the scratch space of a search.
	MaxM = 64

	// DefaultEfConstruction gives the recall of 200 at high dimensions for little more than half the
	// build time.
	DefaultEfConstruction = 128
	// MinEfConstruction is the least width that finds a new vector neighbours worth linking.
	MinEfConstruction = 16
	// MaxEfConstruction is where an insert costs tens of milliseconds and finds nothing more.
	MaxEfConstruction = 2048
)

// Config is stored when a collection is created. Metric, Dim and Model are fixed from then on: Create with
// others fails. The other fields are tuning: the stored values stay in force, whatever Create is given.
type Config struct {
	// Metric is how vectors compare; the zero value is Cosine.
	Metric Metric
	// Dim is the number of values of every vector, 1 to MaxDim.
	Dim int
	// Model names the embedding model. It is compared when the collection is opened with Create, so that
	// vectors of two models never meet; empty is a name like any other. It is UTF-8.
	Model string
	// Kind is the index that a large collection gets; the zero value is HNSW.
	Kind Kind
	// Quantization is what that index compares; the zero value is Int8.
	Quantization Quantization
	// M is the number of links per vector and level of a graph index (twice as many on the ground level),
	// MinM to MaxM; 0 means DefaultM.
	M int
	// EfConstruction is the width of the search that places a vector in a graph index,
	// MinEfConstruction to MaxEfConstruction; 0 means DefaultEfConstruction.
	EfConstruction int
	// ExtendCandidates lets a graph index choose the links of a vector from the neighbours of those found near it,
	// too (extendCandidates of Malkov and Yashunin, algorithm 4). It helps where vectors lie in tight, distant
	// clumps, so that those found are all of one clump, and where M and EfConstruction are small; elsewhere it
	// changes little. Building takes two to fifteen times as long. Default: false.
	ExtendCandidates bool
	// KeepPruned lets a graph index fill the links that a vector has left with the nearest candidates that were
	// passed over for others in the same direction (keepPrunedConnections of the same). A search finds more at
	// equal width, from a few to half of what it missed, but compares more: at equal recall it gains a tenth at
	// most. Building takes up to three times as long, and up to twice the links are saved; memory is the same.
	// Default: false.
	KeepPruned bool
}

// fits reports whether a collection stored with c can serve a caller that asks for o.
func (c Config) fits(o Config) bool {
	return c.Metric == o.Metric && c.Dim == o.Dim && c.Model == o.Model
}

// String names every field.
func (c Config) String() string {
	links := ""
	if c.ExtendCandidates {
		links = ", candidates extended"
	}
	if c.KeepPruned {
		links += ", pruned links kept"
	}
	return fmt.Sprintf("metric %v, dimension %d, model %s, %v over %v, M %d, efConstruction %d%s", c.Metric, c.Dim, brief.Quote(c.Model), c.Kind, c.Quantization, c.M, c.EfConstruction, links)
}

// withDefaults fills zero fields and checks ranges.
func (c Config) withDefaults(name string) (Config, error) {
	if c.M == 0 {
		c.M = DefaultM
	}
	if c.EfConstruction == 0 {
		c.EfConstruction = DefaultEfConstruction
	}
	bad := func(field string, got any, want string, args ...any) (Config, error) {
		return Config{}, &ParameterError{Err: ErrConfig, Collection: name, Field: field, Value: got, Want: fmt.Sprintf(want, args...)}
	}
	switch {
	case c.Metric > L2:
		return bad("Metric", c.Metric, "cosine, dot or l2")
	case c.Kind > IVF:
		return bad("Kind", c.Kind, "hnsw or ivf")
	case c.Quantization > Binary:
		return bad("Quantization", c.Quantization, "int8, float32 or binary")
	case c.Quantization == Binary && c.Metric == L2:
		return bad("Quantization", c.Quantization, "int8 or float32 under l2, which knows no signs")
	case !utf8.ValidString(c.Model):
		return bad("Model", brief.Quote(c.Model), "UTF-8")
	case c.Dim < 1 || c.Dim > MaxDim:
		return bad("Dim", c.Dim, "1 to %d", MaxDim)
	case c.M < MinM || c.M > MaxM:
		return bad("M", c.M, "0 or %d to %d", MinM, MaxM)
	case c.EfConstruction < MinEfConstruction || c.EfConstruction > MaxEfConstruction:
		return bad("EfConstruction", c.EfConstruction, "0 or %d to %d", MinEfConstruction, MaxEfConstruction)
	}
	return c, nil
}
