package metamorphic

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Kind names what an operation does.
type Kind string

// The kinds of operations, with the fields of Op they read.
const (
	KVPut          Kind = "kv-put"          // Name, Text
	KVDelete       Kind = "kv-delete"       // Name
	Scan           Kind = "scan"            // keys from Name to Other
	VectorPut      Kind = "vector-put"      // Name, Vector
	VectorDelete   Kind = "vector-delete"   // Name
	Search         Kind = "search"          // Vector, N hits; Exact
	NodePut        Kind = "node-put"        // Name, Text
	NodeDelete     Kind = "node-delete"     // Name
	NodeRename     Kind = "node-rename"     // Name, Other
	EdgePut        Kind = "edge-put"        // Name, Other, N as weight
	EdgeDelete     Kind = "edge-delete"     // Name, Other
	DocInsert      Kind = "doc-insert"      // Name, Text
	DocPut         Kind = "doc-put"         // Name, Text
	DocDelete      Kind = "doc-delete"      // Name
	EntityCreate   Kind = "entity-create"   // Name, Text
	EntityType     Kind = "entity-type"     // Name, Text
	EntityRename   Kind = "entity-rename"   // Name, Other
	EntityMerge    Kind = "entity-merge"    // Other into Name
	EntityDelete   Kind = "entity-delete"   // Name
	EntityReset    Kind = "entity-reset"    // Name
	AliasRemove    Kind = "alias-remove"    // Name
	RelationCreate Kind = "relation-create" // Name, Other, Text, N as weight
	RelationDelete Kind = "relation-delete" // Name, Other
	Reembed        Kind = "reembed"         // N as dimension; Exact: given up after the first batch
	CacheClear     Kind = "cache-clear"     //
	BesidePut      Kind = "beside-put"      // Name, Text: a document of another workspace
	BesideDrop     Kind = "beside-drop"     // the other workspace
	Query          Kind = "query"           // Name as mode, Text
	Filtered       Kind = "filtered"        // Name as mode, Text, Other as selection, N as search
	SearchEntities Kind = "search-entities" // Text, Other as selection, N hits
	Snapshot       Kind = "snapshot"        // held over the next N operations
	DumpLoad       Kind = "dump-load"       // goes on with the loaded database
	Reopen         Kind = "reopen"          //
	Crash          Kind = "crash"           // power loss between operations
	CrashTx        Kind = "crash-tx"        // Name, Text, Vector: power loss at file operation N of a transaction
	FaultTx        Kind = "fault-tx"        // Name, Text, Vector: disk full from file operation N of a transaction on
	CrashDoc       Kind = "crash-doc"       // Name, Text: power loss at file operation N of a document's Put
	CrashReembed   Kind = "crash-reembed"   // Name as dimension: power loss at file operation N of a change of the model
)

// Op is one operation.
type Op struct {
	Kind   Kind      `json:"op"`
	Name   string    `json:"name,omitempty"`
	Other  string    `json:"other,omitempty"`
	Text   string    `json:"text,omitempty"`
	Vector []float32 `json:"vector,omitempty"`
	N      int       `json:"n,omitempty"`
	Exact  bool      `json:"exact,omitempty"`
}

// dim is the dimension of the vector collection. Values are small integers, so that distances are exact and
// ties common.
const dim = 6

// weights says how often each kind is drawn: writes often, what costs a whole database seldom.
var weights = []struct {
	kind Kind
	n    int
}{
	{KVPut, 12}, {KVDelete, 5}, {Scan, 4}, {VectorPut, 14}, {VectorDelete, 5}, {Search, 10},
	{NodePut, 9}, {NodeDelete, 3}, {NodeRename, 3}, {EdgePut, 12}, {EdgeDelete, 4},
	{DocInsert, 6}, {DocPut, 6}, {DocDelete, 5},
	{EntityCreate, 2}, {EntityType, 2}, {EntityRename, 3}, {EntityMerge, 3}, {EntityDelete, 2}, {EntityReset, 2}, {AliasRemove, 3},
	{RelationCreate, 3}, {RelationDelete, 2}, {Query, 8}, {Filtered, 6}, {SearchEntities, 6}, {Snapshot, 5},
	{DumpLoad, 1}, {Reopen, 1}, {Crash, 2}, {CrashTx, 2}, {FaultTx, 1}, {CrashDoc, 2},
	{Reembed, 2}, {CacheClear, 1}, {CrashReembed, 1},
	{BesidePut, 4}, {BesideDrop, 1},
}

// Generate draws n operations that depend on seed alone.
func Generate(seed uint64, n int) []Op {
	rng := rand.New(rand.NewPCG(seed, 0x6d657461))
	total := 0
	for _, w := range weights {
		total += w.n
	}
	ops := make([]Op, n)
	for i := range ops {
		ops[i] = draw(rng, rng.IntN(total))
	}
	return ops
}

func draw(rng *rand.Rand, ticket int) Op {
	var op Op
	for _, w := range weights {
		if ticket < w.n {
			op.Kind = w.kind
			break
		}
		ticket -= w.n
	}
	name := func(prefix string, n int) string { return fmt.Sprint(prefix, rng.IntN(n)) }
	switch op.Kind {
	case KVPut:
		op.Name, op.Text = name("k", 30), strings.Repeat(name("value ", 1000), 1+rng.IntN(60))
	case KVDelete:
		op.Name = name("k", 30)
	case VectorPut:
		op.Name, op.Vector = name("v", 60), vec(rng)
	case VectorDelete:
		op.Name = name("v", 60)
	case Search:
		op.Vector, op.N, op.Exact = vec(rng), 1+rng.IntN(12), rng.IntN(2) == 0
	case Scan:
		op.Name, op.Other = name("k", 30), name("k", 30)
	case NodeRename:
		op.Name, op.Other = name("n", 20), name("n", 20)
	case NodePut:
		op.Name, op.Text = name("n", 20), name("type", 4)
	case NodeDelete:
		op.Name = name("n", 20)
	case EdgePut:
		op.Name, op.Other, op.N = name("n", 20), name("n", 20), 1+rng.IntN(9)
	case EdgeDelete:
		op.Name, op.Other = name("n", 20), name("n", 20)
	case DocInsert, DocPut, BesidePut:
		op.Name, op.Text = name("doc", 8), text(rng)
	case DocDelete:
		op.Name = name("doc", 8)
	case EntityCreate, EntityType, EntityRename, EntityMerge, EntityDelete, EntityReset, AliasRemove, RelationCreate, RelationDelete:
		op.Name, op.Other, op.Text, op.N = entityName(rng), entityName(rng), name("by hand ", 20), 1+rng.IntN(9)
	case Filtered:
		op.Name = []string{"naive", "naive", "local", "global", "hybrid", "mix"}[rng.IntN(6)]
		op.Text, op.Other, op.N = name("What does Thing ", 10)+" do with the bridge?", choice(rng), rng.IntN(3)
	case SearchEntities:
		op.Text, op.N = sought(rng), 1+rng.IntN(6)
		if rng.IntN(2) == 0 {
			op.Other = choice(rng)
		}
	case Query:
		op.Name = []string{"naive", "local", "global", "hybrid", "mix"}[rng.IntN(5)]
		op.Text = name("What does Thing ", 10) + " do with the bridge?"
	case Snapshot:
		op.N = 1 + rng.IntN(12)
	case CrashTx, FaultTx:
		op.Name, op.Text, op.Vector, op.N = name("both", 5), name("type", 100), vec(rng), 1+rng.IntN(5)
	case CrashDoc:
		op.Name, op.Text, op.N = name("doc", 8), text(rng), 1+rng.IntN(14)
	case Reembed:
		op.N, op.Exact = dimensions[rng.IntN(len(dimensions))], rng.IntN(2) == 0
	case CrashReembed:
		op.Name, op.N = fmt.Sprint(dimensions[rng.IntN(len(dimensions))]), 1+rng.IntN(14)
	case DumpLoad, Reopen, Crash, CacheClear, BesideDrop:
	}
	return op
}

// dimensions are those of the embedding models that a list changes between; it begins with the first.
var dimensions = []int{64, 96, 128}

// entityName is one of those in texts, most often, or one that only people use.
func entityName(rng *rand.Rand) string {
	if n := rng.IntN(13); n < 10 {
		return fmt.Sprint("Thing ", n)
	} else {
		return fmt.Sprint("Name ", n)
	}
}

// choice is a selection, now and then one of nothing.
func choice(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0:
		return fmt.Sprint(byID, " doc", rng.IntN(9))
	case 1:
		return fmt.Sprint(byID, " doc", rng.IntN(8), ",doc", rng.IntN(8), ",other")
	case 2:
		return fmt.Sprint(byIDPrefix, " doc", []string{"", "3", "x"}[rng.IntN(3)])
	case 3:
		return fmt.Sprint(byPath, " doc", []string{"", "5", "6.txt", "7.md"}[rng.IntN(4)])
	case 4:
		return fmt.Sprint(byLines, " ", 3+rng.IntN(9))
	default:
		return fmt.Sprint(byLeast, " ", 3+rng.IntN(9))
	}
}

// sought is a search of entities by words.
func sought(rng *rand.Rand) string {
	n := rng.IntN(14)
	return fmt.Sprintf([]string{"thing %d", "+variant +%d bridge", "\"Thing %d\"", "\"crosses the bridge\" name %d", "nam* hand %d", "\"variant %d\"", "+hand %d", "1* %d"}[rng.IntN(8)], n)
}

func vec(rng *rand.Rand) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.IntN(9) - 4)
	}
	return v
}

// text is a document of the scripted extractor: entities, then relations between them.
func text(rng *rand.Rand) string {
	var b strings.Builder
	n := 2 + rng.IntN(5)
	first := rng.IntN(10)
	for i := range n {
		fmt.Fprintf(&b, "E Thing %d (crosses the bridge, variant %d)\n", (first+i)%10, rng.IntN(50))
	}
	for i := range n - 1 {
		fmt.Fprintf(&b, "R Thing %d - Thing %d (meet, variant %d)\n", (first+i)%10, (first+i+1)%10, rng.IntN(50))
	}
	return b.String()
}

// Write writes a list as JSON Lines.
func Write(w io.Writer, ops []Op) error {
	enc := json.NewEncoder(w)
	for _, op := range ops {
		if err := enc.Encode(op); err != nil {
			return fmt.Errorf("metamorphic: write operations: %w", err)
		}
	}
	return nil
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]Op, error) {
	var ops []Op
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var op Op
		if err := dec.Decode(&op); errors.Is(err, io.EOF) {
			return ops, nil
		} else if err != nil {
			return nil, fmt.Errorf("metamorphic: read operation %d: %w", len(ops)+1, err)
		}
		ops = append(ops, op)
	}
}

// Shrink removes operations in ever smaller chunks while what remains still fails, and calls fails at most
// budget times.
func Shrink(ops []Op, budget int, fails func([]Op) bool) []Op {
	for size := (len(ops) + 1) / 2; size > 0; {
		removed := false
		for at := 0; at < len(ops) && budget > 0; {
			end := min(at+size, len(ops))
			rest := append(append([]Op(nil), ops[:at]...), ops[end:]...)
			budget--
			if fails(rest) {
				ops, removed = rest, true
			} else {
				at = end
			}
		}
		if size == 1 && !removed || budget <= 0 {
			break
		}
		size = max(size/2, 1)
	}
	return ops
}
