package vector

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Collection is one collection as a reader saw it. It is a small handle; get one per transaction or keep
// it, as you like.
type Collection struct {
	set  *Set
	ws   string
	name string
	id   collectionID
	cfg  Config
	st   *state
}

// Name is the collection's name.
func (c *Collection) Name() string { return c.name }

// Config is what it was created with, defaults filled in.
func (c *Collection) Config() Config { return c.cfg }

// state is a collection in memory.
type state struct {
	set     *Set
	ws      string
	name    string
	id      collectionID
	cfg     Config
	dropped atomic.Uint64 // LSN of the commit that dropped it, 0 while it lives

	// shape is what searches use; it is replaced as a whole.
	shape atomic.Pointer[shape]
	dead  atomic.Int64 // slots with an end

	// mu orders the appends of commits and the moves of the indexer; searches do not take it.
	mu sync.Mutex

	probes sync.Pool // of *Probe
}

// shape is a set of points and what has been indexed of them.
type shape struct {
	p *Points
	// index holds the slots below fed that it was given; nil while the collection is only scanned.
	index Index
	fed   uint32
}

func newState(s *Set, ws, name string, id collectionID, cfg Config) *state {
	st := &state{set: s, ws: ws, name: name, id: id, cfg: cfg}
	st.shape.Store(&shape{p: newPoints(cfg)})
	return st
}

// load reads the rows in order of ordinal.
func (st *state) load(r kv.Reader) error {
	prefix := collectionPrefix(st.ws, kindRow, st.id)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer c.Close()
	p := st.shape.Load().p
	vec := make([]float32, st.cfg.Dim)
	var arena idArena
	n := uint32(0)
	for c.Next() {
		ord, rest, err := codec.KeyUint64(c.Key()[len(prefix):])
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("%w: row key", kv.ErrCorrupt)
		}
		id, err := decodeRow(c.Value(), vec)
		if err != nil {
			return err
		}
		// The commit that stored a row is in its ordinal; a view older than this Open does not exist.
		p.append(n, arena.keep(id), ord, bornOf(ord), vec)
		n++
	}
	p.publish(n)
	if err := c.Err(); err != nil {
		return err
	}
	return st.loadIndex(r)
}

// loadIndex takes up the persisted index where there is one. Whatever is wrong with it costs only the work
// of building it anew.
func (st *state) loadIndex(r kv.Reader) error {
	p := st.shape.Load().p
	if st.set.o.NewIndex == nil || !st.large(p) {
		return nil
	}
	x := st.newIndex()
	ords, fed, err := x.Load(r)
	if errors.Is(err, kv.ErrCorrupt) {
		st.set.o.Logger.Warn("persisted vector index is unusable and will be built anew", "collection", st.name, "err", err)
		x, ords, fed = st.newIndex(), nil, 0
		x.Lost()
	} else if err != nil {
		return err
	}
	slots := make([]uint32, len(ords))
	for i, ord := range ords {
		slot, ok := p.find(ord)
		if !ok {
			slot = NoSlot // deleted since
		}
		slots[i] = slot
	}
	x.Attach(p, slots)
	st.shape.Store(&shape{p: p, index: x, fed: p.upTo(fed)})
	return nil
}

// large tells whether a scan of p costs more than an index.
func (st *state) large(p *Points) bool {
	return int64(p.Len())*int64(p.codeStride) > st.set.o.ExactBytes
}

// An ordinal is the LSN of the commit that stored the row and the row's number within it.
const rowsPerCommit = 1 << 20

func ordinalOf(lsn kv.LSN, n int) uint64 { return uint64(lsn)*rowsPerCommit + uint64(n) }

func bornOf(ord uint64) kv.LSN { return kv.LSN(ord / rowsPerCommit) }

// staged is what a batch has changed in one collection.
type staged struct {
	st    *state
	n     int // ordinals given out
	count int
	rows  map[string]stagedRow
	ended map[uint64]bool // ordinals of rows in the store that are gone
}

type stagedRow struct {
	ord uint64
	vec []float32
}

type stagedKey struct{ st *state }

// stagedIn returns b's changes, or nil when there are none.
func (st *state) stagedIn(r kv.Reader) *staged {
	b, ok := r.(*kv.Batch)
	if !ok {
		return nil
	}
	s, _ := b.Attachment(stagedKey{st}, nil).(*staged)
	return s
}

func (c *Collection) stage(b *kv.Batch) (*staged, error) {
	if s := c.st.stagedIn(b); s != nil {
		return s, nil
	}
	c.st.help()
	n, err := c.Len(b)
	if err != nil {
		return nil, err
	}
	s := &staged{st: c.st, count: n, rows: make(map[string]stagedRow), ended: make(map[uint64]bool)}
	b.Attachment(stagedKey{c.st}, func() any { return s })
	b.OnCommit(s.publish)
	return s, nil
}

func (c *Collection) rowKey(ord uint64) []byte {
	return codec.AppendKeyUint64(collectionPrefix(c.ws, kindRow, c.id), ord)
}

func (c *Collection) idKey(id string) []byte {
	return append(collectionPrefix(c.ws, kindID, c.id), id...)
}

func (c *Collection) countKey() []byte { return collectionPrefix(c.ws, kindCount, c.id) }

// Put stages the vector of id, replacing the one it has. v is copied, and normalised when the metric is
// cosine. Errors: *DimensionError, *VectorError. It costs one get and a few staged keys.
func (c *Collection) Put(b *kv.Batch, id string, v []float32) error {
	if len(v) != c.cfg.Dim {
		return &DimensionError{Collection: c.name, ID: id, Got: len(v), Want: c.cfg.Dim}
	}
	if id == "" || len(id) > MaxIDBytes {
		return fmt.Errorf("%w: an id has 1 to %d bytes, not %d", ErrVector, MaxIDBytes, len(id))
	}
	vec := make([]float32, len(v))
	zero, reason, at := prepare(c.cfg, vec, v)
	if zero && c.cfg.Metric == Cosine {
		reason = "it is zero and has no direction"
	}
	if reason != "" {
		return &VectorError{Collection: c.name, ID: id, Index: at, Reason: reason}
	}
	s, err := c.stage(b)
	if err != nil {
		return err
	}
	if s.n == rowsPerCommit {
		return fmt.Errorf("%w: more than %d vectors of collection %q in one commit", kv.ErrTooLarge, rowsPerCommit, c.name)
	}
	if _, err := c.remove(b, s, id); err != nil {
		return err
	}
	ord := ordinalOf(b.LSN()+1, s.n)
	s.n++
	s.count++
	s.rows[id] = stagedRow{ord, vec}
	if err := errors.Join(b.Set(c.rowKey(ord), appendRow(nil, id, vec)), b.Set(c.idKey(id), codec.AppendKeyUint64(nil, ord)), c.saveCount(b, s)); err != nil {
		return fmt.Errorf("vector: put: %w", err)
	}
	return nil
}

// Delete stages the removal of id; an absent id is no error.
func (c *Collection) Delete(b *kv.Batch, id string) error {
	s, err := c.stage(b)
	if err != nil {
		return err
	}
	was, err := c.remove(b, s, id)
	if err != nil || !was {
		return err
	}
	if err := errors.Join(b.Delete(c.idKey(id)), c.saveCount(b, s)); err != nil {
		return fmt.Errorf("vector: delete: %w", err)
	}
	return nil
}

// remove stages the end of the row that id has, if any; its map entry is the caller's.
func (c *Collection) remove(b *kv.Batch, s *staged, id string) (bool, error) {
	ord, err := c.ordinal(b, id)
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, mine := s.rows[id]; mine {
		delete(s.rows, id)
	} else {
		s.ended[ord] = true
	}
	s.count--
	return true, b.Delete(c.rowKey(ord))
}

func (c *Collection) ordinal(r kv.Reader, id string) (uint64, error) {
	v, err := r.Get(c.idKey(id))
	if err != nil {
		return 0, err
	}
	return decodeOrdinal(v)
}

func (c *Collection) saveCount(b *kv.Batch, s *staged) error {
	return b.Set(c.countKey(), codec.AppendUvarint(nil, uint64(s.count)))
}

// publish makes a committed batch's changes visible to views from lsn on.
func (s *staged) publish(lsn kv.LSN) {
	st := s.st
	st.mu.Lock()
	defer st.mu.Unlock()
	p := st.shape.Load().p
	for ord := range s.ended {
		if slot, ok := p.find(ord); ok {
			p.end(slot, lsn)
			st.dead.Add(1)
		}
	}
	ids := slices.SortedFunc(maps.Keys(s.rows), func(a, b string) int { return cmpOrd(s.rows[a].ord, s.rows[b].ord) })
	n := p.Len()
	for _, id := range ids {
		row := s.rows[id]
		p.append(n, id, row.ord, lsn, row.vec)
		n++
	}
	p.publish(n)
	st.set.nudge()
}

func cmpOrd(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1 // ordinals are distinct
}

// Get returns the vector of id as stored, or kv.ErrNotFound. The slice is the caller's.
func (c *Collection) Get(r kv.Reader, id string) ([]float32, error) {
	ord, err := c.ordinal(r, id)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fmt.Errorf("vector: %q in collection %q: %w", id, c.name, kv.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("vector: get: %w", err)
	}
	if s := c.st.stagedIn(r); s != nil {
		if row, ok := s.rows[id]; ok {
			return slices.Clone(row.vec), nil
		}
	}
	if p := c.st.shape.Load().p; p != nil {
		if slot, ok := p.find(ord); ok {
			return slices.Clone(p.Vector(slot)), nil
		}
	}
	v, err := r.Get(c.rowKey(ord))
	if err != nil {
		return nil, fmt.Errorf("vector: get: %w", err)
	}
	vec := make([]float32, c.cfg.Dim)
	_, err = decodeRow(v, vec)
	return vec, err
}

// GetMany returns the vectors of ids in order, nil for absent ones. The slices are the caller's.
func (c *Collection) GetMany(r kv.Reader, ids []string) ([][]float32, error) {
	out := make([][]float32, len(ids))
	for i, id := range ids {
		v, err := c.Get(r, id)
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Len is the number of vectors that r shows.
func (c *Collection) Len(r kv.Reader) (int, error) {
	v, err := r.Get(c.countKey())
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("vector: len: %w", err)
	}
	d := codec.NewReader(v)
	n := d.Int()
	if err := d.Done(); err != nil {
		return 0, fmt.Errorf("%w: count of collection %q", kv.ErrCorrupt, c.name)
	}
	return n, nil
}

// Row is an id and its vector. Both are the caller's.
type Row struct {
	ID     string
	Vector []float32
}

// All yields every vector that r shows, in order of id. It costs one get a vector.
func (c *Collection) All(r kv.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		prefix := collectionPrefix(c.ws, kindID, c.id)
		cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			yield(Row{}, fmt.Errorf("vector: all: %w", err))
			return
		}
		defer cur.Close()
		for cur.Next() {
			row := Row{ID: string(cur.Key()[len(prefix):]), Vector: make([]float32, c.cfg.Dim)}
			ord, err := decodeOrdinal(cur.Value())
			if err == nil {
				var v []byte
				if v, err = r.Get(c.rowKey(ord)); err == nil {
					_, err = decodeRow(v, row.Vector)
				}
			}
			if err != nil {
				yield(Row{}, fmt.Errorf("vector: all: %q: %w", row.ID, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(Row{}, fmt.Errorf("vector: all: %w", err))
		}
	}
}
