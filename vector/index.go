package vector

import (
	"iter"

	"github.com/glimdb/db/kv"
)

// Searcher finds candidates among the slots of one Points. The collection checks what it is given and
// rescores it, so that a Searcher decides recall and speed, never correctness: a candidate that the view
// does not show is dropped, and the order is made anew from the float32 rows.
type Searcher interface {
	// Search appends up to q.K admitted slots to out, nearest first as far as it can tell, each at most
	// once. It is safe for concurrent use, also with the feeding methods of an Index.
	Search(q Query, out []uint32) []uint32
}

// Query is one search of a Searcher.
type Query struct {
	// Probe is the query vector, prepared for the points.
	Probe *Probe
	// K is the number of candidates wanted, at least 1.
	K int
	// Ef is the number of admitted slots among which the K nearest are taken: the width of a graph search, at
	// least K.
	Ef int
	// Admit tells whether a slot may be a result: visible to the view, and passed by the filter.
	Admit func(slot uint32) bool
	// Width is how many slots a graph search finds before it asks Admit, when that is more than Ef.
	Width int
	// Narrow says that Admit is expected to reject many slots, so that they may not crowd out others.
	Narrow bool
	// Most is the number of slots from whose comparison on the searcher may give up and find nothing, for the
	// caller then has a cheaper way; 0: it may not.
	Most int
}

// Index is a Searcher that takes in slots one by one. The feeding methods (all but Search, Check and
// Stats) are called by one goroutine at a time.
//
// Its persisted form is derived data: it may write keys under IndexOptions.Prefix through the batches of
// Drain and loses nothing but work when they are lost.
type Index interface {
	Searcher
	// Load reads the persisted form and returns, ascending, the ordinals that it holds, and the first ordinal
	// that it was not fed. Unusable data, of an older version for example, is reported by an error that is
	// kv.ErrCorrupt; the index is not used then. It is called once, before any other method, and followed by Attach.
	Load(r kv.Reader) (ordinals []uint64, fed uint64, err error)
	// Attach binds what Load returned to slots: slots[i] holds ordinals[i]. Every ordinal has one, ascending
	// like them; what lies in a slot whose row is gone is a zero vector, and Remove is called for it soon.
	Attach(p *Points, slots []uint32)
	// Insert takes in slot, whose ordinal is above all before it.
	Insert(slot uint32)
	// Remove forgets slots that no view shows any more, keeping what they connected connected.
	Remove(slots []uint32)
	// Skip notes that all slots up to ordinal ord were inserted or need not be.
	Skip(ord uint64)
	// Move returns the same index over other points; slots[i] is the new slot of slot i, or NoSlot. Only
	// removed slots and slots never inserted may have no new one. The old index goes on answering.
	Move(p *Points, slots []uint32) Index
	// Drain returns the writes that bring the persisted form up to date, to be committed in order, one
	// batch each; nil when there is nothing to write. After a failure the caller calls Lost.
	Drain() []func(*kv.Batch) error
	// Lost says that drained writes were not committed: the next Drain writes the whole form anew.
	Lost()
	// Check yields what is wrong with the index; live tells which slots must be found.
	Check(live func(slot uint32) bool) iter.Seq[string]
	// Stats describes the index.
	Stats() IndexStats
}

// NoSlot is no slot.
const NoSlot = ^uint32(0)

// IndexOptions are what a new index is told.
type IndexOptions struct {
	Config Config
	// Prefix begins every key the index may write.
	Prefix []byte
	// Persist is false when nothing will be drained.
	Persist bool
}

// NewIndex makes an empty index.
type NewIndex func(IndexOptions) Index

// IndexStats describe an index.
type IndexStats struct {
	Kind    string `json:"kind"`    // for example "hnsw"
	Nodes   int    `json:"nodes"`   // slots inserted and not removed
	Links   int64  `json:"links"`   // directed links between them, all levels; 0 where there are none
	Levels  int    `json:"levels"`  // 0 when empty
	Entry   string `json:"entry"`   // id of the vector where searches begin; empty where that is none
	Cells   int    `json:"cells"`   // lists around centroids; 0 where there are none
	Bytes   int64  `json:"bytes"`   // memory beside the points
	Log     int64  `json:"log"`     // bytes persisted since the last checkpoint
	Written int64  `json:"written"` // bytes of the last checkpoint
}
