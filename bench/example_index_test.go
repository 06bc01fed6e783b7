package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	coder "github.com/coder/hnsw"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// fixedIndex puts github.com/coder/hnsw behind the vector.Index contract, for a set of vectors that is
// loaded once and then only searched: that library cannot be searched while it grows, and deleting from it
// is not safe. The collection covers for what it misses: scores and order come from the rows, deleted
// vectors are never returned, and a search that finds fewer than K falls back to a scan.
type fixedIndex struct {
	mu     sync.RWMutex // held shared by searches
	points *vector.Points
	graph  *coder.Graph[uint32]
	gone   map[uint32]bool
	nodes  int
}

func newFixedIndex(vector.IndexOptions) vector.Index {
	g := coder.NewGraph[uint32]()
	g.Rng.Seed(1)
	return &fixedIndex{graph: g, gone: map[uint32]bool{}}
}

func (x *fixedIndex) Search(q vector.Query, out []uint32) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.nodes == 0 {
		return out
	}
	for _, n := range x.graph.Search(q.Probe.Vector(), q.K) {
		if !x.gone[n.Key] && q.Admit(n.Key) {
			out = append(out, n.Key)
		}
	}
	return out
}

func (x *fixedIndex) Insert(slot uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.graph.Add(coder.MakeNode(slot, x.points.Vector(slot)))
	x.nodes++
}

func (x *fixedIndex) Remove(slots []uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range slots {
		x.gone[s] = true
	}
}

// Move builds the graph anew over the points that are left.
func (x *fixedIndex) Move(p *vector.Points, slots []uint32) vector.Index {
	y := newFixedIndex(vector.IndexOptions{}).(*fixedIndex)
	y.points = p
	for slot, to := range slots {
		if _, ok := x.graph.Lookup(uint32(slot)); ok && to != vector.NoSlot {
			y.Insert(to)
		}
	}
	return y
}

func (x *fixedIndex) Attach(p *vector.Points, _ []uint32) { x.points = p }

// Nothing is persisted: the graph is fed again after every open.
func (x *fixedIndex) Load(kv.Reader) ([]uint64, uint64, error) { return nil, 0, nil }
func (x *fixedIndex) Skip(uint64)                              {}
func (x *fixedIndex) Drain() []func(*kv.Batch) error           { return nil }
func (x *fixedIndex) Lost()                                    {}
func (x *fixedIndex) Check(func(slot uint32) bool) iter.Seq[string] {
	return func(func(string) bool) {}
}

func (x *fixedIndex) Stats() vector.IndexStats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return vector.IndexStats{Kind: "coder/hnsw", Nodes: x.nodes - len(x.gone)}
}

// Another index than Glim's own behind a collection.
func Example_pluggedIndex() {
	if err := pluggedIndex(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// coder/hnsw holds 4 vectors
	// [north east west]
}

func pluggedIndex() (err error) {
	ctx := context.Background()
	store, err := kv.Open("db", kv.Options{FS: vfs.NewMem()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log, err := wal.Open(store, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	view, err := log.View()
	if err != nil {
		return err
	}
	set, err := vector.OpenSet(view, vector.SetOptions{NewIndex: newFixedIndex, ExactBytes: -1}, "")
	if err = errors.Join(err, view.Close()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	var c *vector.Collection
	_, err = log.Update(ctx, "load", nil, func(b *kv.Batch) (err error) {
		c, err = set.Create(b, "", "compass", vector.Config{Dim: 2})
		return errors.Join(err, c.Put(b, "north", []float32{0, 1}), c.Put(b, "east", []float32{1, 0}),
			c.Put(b, "south", []float32{0, -1}), c.Put(b, "west", []float32{-1, 0}))
	})
	if err != nil {
		return err
	}
	if err := set.Settle(ctx); err != nil {
		return err
	}
	fmt.Println(c.Stats().Index.Kind, "holds", c.Stats().Index.Nodes, "vectors")
	if view, err = log.View(); err != nil {
		return err
	}
	hits, err := c.Search(ctx, view, []float32{0.1, 1}, vector.SearchOptions{K: 3})
	if err = errors.Join(err, view.Close()); err != nil {
		return err
	}
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.ID
	}
	fmt.Println(names)
	return nil
}
