package vector

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Collection is a set of vectors under the caller's ids. Safe for concurrent use; Put and Delete belong
// to the goroutine that owns the batch.
type Collection struct {
	set    *Set
	ws     string
	name   atomic.Pointer[string]
	id     collectionID
	config Config

	live    atomic.Bool   // created by a commit and not dropped
	dropped atomic.Uint64 // the LSN that dropped it, or 0

	// gen is replaced under both feed.mu and mu; readers take it without a lock.
	gen   atomic.Pointer[generation]
	count atomic.Pointer[counted]

	mu   sync.Mutex // orders publish with the move to new points
	next uint64     // the next ordinal

	feed    feed
	persist sync.Mutex // one drain and its commits at a time; taken before feed.mu
	packs   packs      // guarded by persist
	arrival arrival
	scratch sync.Pool // *scratch

	observer atomic.Pointer[Observer]

	searches planCounts
	recall   recalls
}

// counted is the number of vectors that views of lsn and later show.
type counted struct {
	lsn kv.LSN
	n   int
}

// generation is one set of points with what was derived from it. Slots mean nothing across generations.
type generation struct {
	points *Points
	index  Index // nil: every search scans
	// fed is the number of slots that the index has taken in or may ignore. The rest is the tail.
	fed atomic.Uint32
	// whole is false from a loading that made ghosts until they are removed: the index is not searched then.
	whole atomic.Bool

	doomed []uint32 // slots that no view shows but the index holds; guarded by feed.mu
	gone   []uint32 // slots that no view shows and no index holds; guarded by feed.mu
	dead   []uint32 // deleted slots not yet gone, in order of their end; guarded by mu
}

func newCollection(s *Set, ws, name string, id collectionID, c Config) *Collection {
	coll := &Collection{set: s, ws: ws, id: id, config: c}
	coll.name.Store(&name)
	coll.count.Store(&counted{})
	coll.gen.Store(newGeneration(newPoints(c, true), nil))
	return coll
}

func newGeneration(p *Points, x Index) *generation {
	g := &generation{points: p, index: x}
	g.whole.Store(true)
	return g
}

// Name is the collection's name, the present one when it was renamed.
func (c *Collection) Name() string { return *c.name.Load() }

// Config is what the collection was created with, defaults filled in.
func (c *Collection) Config() Config { return c.config }

// Born is the commit that created the collection: one that takes its name has another.
func (c *Collection) Born() kv.LSN { return c.id.born() }

// Row is a stored vector.
type Row struct {
	ID     string
	Vector []float32 // the caller's; normalised when the metric is cosine
}

func (c *Collection) rowKey(ord uint64) []byte {
	return codec.AppendKeyUint64(collectionPrefix(c.ws, kindRow, c.id), ord)
}

func (c *Collection) idKey(id string) []byte {
	return append(collectionPrefix(c.ws, kindID, c.id), id...)
}

func (c *Collection) nextOrdinal() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// ordinal returns the ordinal of id in r.
func (c *Collection) ordinal(r kv.Reader, id string) (uint64, error) {
	v, err := r.Get(c.idKey(id))
	if err != nil {
		return 0, err
	}
	return decodeOrdinal(v)
}

// vectorAt returns the vector of id, stored under ord, as r shows it. It may be shared: read only.
func (c *Collection) vectorAt(r kv.Reader, id string, ord uint64) ([]float32, error) {
	if st := c.set.stagedIn(r); st != nil {
		if ch := st.changes[c]; ch != nil && ord >= ch.first {
			a := ch.adds[ord-ch.first]
			if a.gone {
				return nil, c.lost(id, ord)
			}
			return a.vec, nil
		}
	}
	p := c.gen.Load().points
	slot, ok := p.find(ord)
	if !ok {
		return nil, c.lost(id, ord)
	}
	if row := p.Vector(slot); row != nil {
		return row, nil
	}
	value, err := r.Get(c.rowKey(ord))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, c.lost(id, ord)
	}
	if err != nil {
		return nil, err
	}
	row := make([]float32, c.config.Dim)
	_, err = decodeRow(value, row)
	return row, err
}

// readable fails when r does not show the collection.
func (c *Collection) readable(r kv.Reader) error {
	if st := c.set.stagedIn(r); st != nil {
		if st.created[collectionKey{c.ws, c.id}] == c {
			return nil
		}
		if st.dropped[c] {
			return c.absent()
		}
	}
	end := kv.LSN(c.dropped.Load())
	if r.LSN() < c.id.born() || end != 0 && end <= r.LSN() || end == 0 && !c.live.Load() {
		return c.absent()
	}
	return nil
}

// writable fails when b cannot change the collection: it was dropped, or created by a batch that never
// committed.
func (c *Collection) writable(b *kv.Batch) error {
	if st := c.set.stagedIn(b); st != nil {
		if st.created[collectionKey{c.ws, c.id}] == c {
			return nil
		}
		if st.dropped[c] {
			return c.absent()
		}
	}
	if !c.live.Load() {
		return c.absent()
	}
	return nil
}

func (c *Collection) absent() error {
	return fmt.Errorf("vector: collection %s: %w", brief.Quote(c.Name()), kv.ErrNotFound)
}

// Get returns the vector of id, or an error that is kv.ErrNotFound. The slice is the caller's.
func (c *Collection) Get(r kv.Reader, id string) ([]float32, error) {
	vs, err := c.GetMany(r, []string{id})
	if err != nil {
		return nil, err
	}
	if vs[0] == nil {
		return nil, fmt.Errorf("vector: get %s from %q: %w", brief.Quote(id), c.Name(), kv.ErrNotFound)
	}
	return vs[0], nil
}

// GetMany returns the vectors of ids in their order, nil where there is none. The slices are the caller's.
// It costs one lookup an id, and a second where rows are not in memory.
func (c *Collection) GetMany(r kv.Reader, ids []string) ([][]float32, error) {
	out := make([][]float32, len(ids))
	err := c.Visit(r, ids, func(i int, v []float32) { out[i] = slices.Clone(v) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Visit calls fn with the place in ids and the vector of each id that r shows, in no particular order. The slice is
// shared: it must not be changed, nor kept when fn returns. It costs what GetMany does, without the copies.
func (c *Collection) Visit(r kv.Reader, ids []string, fn func(i int, v []float32)) error {
	if err := c.readable(r); err != nil {
		return err
	}
	places := c.visitLoaded(r, ids, fn)
	rest := make([]string, len(places))
	for i, at := range places {
		rest[i] = ids[at]
	}
	err := c.ordinals(r, rest, func(i int, ord uint64) error {
		v, err := c.vectorAt(r, rest[i], ord)
		if err == nil {
			fn(places[i], v)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("vector: get %d vectors from %q: %w", len(ids), c.Name(), err)
	}
	return nil
}

// ordinals tells fn the ordinal of each id that r shows, in no particular order.
func (c *Collection) ordinals(r kv.Reader, ids []string, fn func(i int, ord uint64) error) error {
	prefix := collectionPrefix(c.ws, kindID, c.id)
	size := len(ids) * len(prefix)
	for _, id := range ids {
		size += len(id)
	}
	keys, all := make([][]byte, len(ids)), make([]byte, 0, size) // which they share
	for i, id := range ids {
		from := len(all)
		all = append(append(all, prefix...), id...)
		keys[i] = all[from:len(all):len(all)]
	}
	values, err := r.GetMany(keys)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		ord, err := decodeOrdinal(v)
		if err == nil {
			err = fn(i, ord)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Collection) lost(id string, ord uint64) error {
	return fmt.Errorf("vector: collection %q: %w: %q leads to vector %d, which does not exist", c.Name(), kv.ErrCorrupt, id, ord)
}

// All yields every vector in order of id. An error comes last. A batch changed during the walk goes on
// showing its state at the start.
func (c *Collection) All(r kv.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := c.all(r, yield); err != nil {
			yield(Row{}, err)
		}
	}
}

func (c *Collection) all(r kv.Reader, yield func(Row, error) bool) (err error) {
	if err := c.readable(r); err != nil {
		return err
	}
	prefix := collectionPrefix(c.ws, kindID, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return fmt.Errorf("vector: all of %q: %w", c.Name(), err)
	}
	defer func() {
		if cerr := cur.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	for cur.Next() {
		id := string(cur.Key()[len(prefix):])
		ord, err := decodeOrdinal(cur.Value())
		if err != nil {
			return err
		}
		v, err := c.vectorAt(r, id, ord)
		if err != nil {
			return err
		}
		if !yield(Row{ID: id, Vector: slices.Clone(v)}, nil) {
			return nil
		}
	}
	return cur.Err()
}

// Len is the number of vectors that r shows. It costs nothing for the present state and a pass over the
// slots for older ones.
func (c *Collection) Len(r kv.Reader) (int, error) {
	if err := c.readable(r); err != nil {
		return 0, err
	}
	now := c.count.Load()
	n := now.n
	if r.LSN() < now.lsn {
		n = c.shown(r.LSN())
	}
	return n + c.stagedCount(r), nil
}

// shown counts the slots that a view of commit lsn shows.
func (c *Collection) shown(lsn kv.LSN) (n int) {
	p := c.gen.Load().points
	for slot := range p.Len() {
		if p.VisibleAt(slot, lsn) {
			n++
		}
	}
	return n
}

// stagedCount is how many vectors r shows more than the commits under it, when it is a batch.
func (c *Collection) stagedCount(r kv.Reader) int {
	if st := c.set.stagedIn(r); st != nil {
		if ch := st.changes[c]; ch != nil {
			return ch.live - len(ch.ends)
		}
	}
	return 0
}
