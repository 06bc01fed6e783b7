package vector

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// load reads the collection's rows and, beside them, the persisted form of its index.
//
// Slots follow the ordinals of the rows. The index may hold ordinals whose rows are gone: deletes that it had
// not heard of when the store was closed or killed. They get slots, too, in their places, dead from the start
// and without a vector; such ghosts are rare enough that the rows are read once more for them.
func (c *Collection) load(r kv.Reader) error {
	type index struct {
		x     Index
		known []uint64
		fed   uint64
		err   error
	}
	loaded := make(chan index, 1)
	go func() {
		var i index
		i.x, i.known, i.fed, i.err = c.loadIndex(r)
		loaded <- i
	}()
	rows, err := c.loadRows(r, nil)
	i := <-loaded
	if err = errors.Join(err, i.err); err != nil {
		return fmt.Errorf("collection %q: %w", c.name, err)
	}
	if !rows.place(i.known) {
		if rows, err = c.loadRows(r, i.known); err != nil {
			return fmt.Errorf("collection %q: %w", c.name, err)
		}
	}
	c.next = max(rows.next, i.fed)
	g := newGeneration(rows.p, i.x)
	if i.x != nil {
		i.x.Attach(rows.p, rows.slots)
		g.fed.Store(rows.first)
		g.ghosts = rows.ghosts
		g.whole.Store(len(rows.ghosts) == 0)
	}
	c.gen.Store(g)
	c.count.Store(&counted{lsn: r.LSN(), n: rows.live})
	return nil
}

// loadedRows are the points of a collection as they were read.
type loadedRows struct {
	p      *Points
	live   int
	next   uint64   // above every ordinal
	first  uint32   // the first slot that the index does not hold
	slots  []uint32 // of the ordinals that the index holds
	ghosts []uint32
}

// place gives the known ordinals their slots, and reports whether each has a row.
func (l *loadedRows) place(known []uint64) bool {
	l.slots, l.first = make([]uint32, 0, len(known)), l.p.Len()
	for slot := range l.p.Len() {
		switch {
		case len(l.slots) < len(known) && known[len(l.slots)] == l.p.Ordinal(slot):
			l.slots = append(l.slots, slot)
		case l.first == l.p.Len():
			l.first = slot
		}
	}
	return len(l.slots) == len(known)
}

// loadRows reads the rows, and makes a ghost of each known ordinal without one.
func (c *Collection) loadRows(r kv.Reader, known []uint64) (*loadedRows, error) {
	l := &loadedRows{p: newPoints(c.config)}
	p, slot := l.p, uint32(0)
	enc := startEncoder(p)
	ghost := func(ord uint64) {
		p.ghost(slot, ord)
		l.ghosts = append(l.ghosts, slot)
		slot++
		l.next = ord + 1
	}
	var ids idArena
	rest := known
	err := c.eachRow(r, func(ord uint64, value []byte) error {
		for ; len(rest) > 0 && rest[0] < ord; rest = rest[1:] {
			ghost(rest[0])
		}
		if len(rest) > 0 && rest[0] == ord {
			rest = rest[1:]
		}
		s, i := p.room(slot)
		id, err := decodeRow(value, s.rows[i*p.stride:i*p.stride+c.config.Dim])
		if err != nil {
			return err
		}
		s.ids[i], s.ords[i] = ids.keep(id), ord
		slot++
		l.live++
		l.next = ord + 1
		enc.upTo(slot)
		return nil
	})
	if err != nil {
		enc.finish(0)
		return nil, err
	}
	for _, ord := range rest {
		ghost(ord)
	}
	enc.finish(slot)
	p.publish(slot)
	l.place(known)
	return l, nil
}

// loadIndex returns the collection's index as it was persisted, or no index where none was or where it
// cannot be used: it is derived data, made again from the rows.
func (c *Collection) loadIndex(r kv.Reader) (x Index, known []uint64, fed uint64, err error) {
	if c.set.o.NewIndex == nil {
		return nil, nil, 0, nil
	}
	x = c.newIndex()
	known, fed, err = x.Load(r)
	if errors.Is(err, kv.ErrCorrupt) {
		c.set.log.Warn("vector: index data is damaged and will be rebuilt", "collection", c.name, "err", err)
		x = c.newIndex()
		x.Lost()
		return x, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	if len(known) == 0 {
		return nil, nil, fed, nil
	}
	return x, known, fed, nil
}

func (c *Collection) newIndex() Index {
	return c.set.o.NewIndex(IndexOptions{Config: c.config, Prefix: indexPrefix(c.ws, c.id), Persist: c.set.o.Update != nil})
}

func (c *Collection) eachRow(r kv.Reader, f func(ord uint64, value []byte) error) (err error) {
	prefix := collectionPrefix(c.ws, kindRow, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		ord, rest, err := codec.KeyUint64(cur.Key()[len(prefix):])
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("%w: row key of %d bytes", kv.ErrCorrupt, len(cur.Key()))
		}
		if err := f(ord, cur.Value()); err != nil {
			return err
		}
	}
	return cur.Err()
}

// ghost makes slot dead since before any view; its row stays zero.
func (p *Points) ghost(slot uint32, ord uint64) {
	s, i := p.room(slot)
	s.ords[i] = ord
	s.ended[i].Store(1)
}

// encoder derives codes on a goroutine of its own while the rows of later segments are read.
type encoder struct {
	p    *Points
	sent uint32 // slots handed over
	work chan codeRange
	done chan struct{}
}

// codeRange is the slots of one segment whose rows are in place.
type codeRange struct {
	seg      *segment
	from, to int
}

func startEncoder(p *Points) *encoder {
	e := &encoder{p: p, work: make(chan codeRange, 8), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		for r := range e.work {
			for i := r.from; i < r.to; i++ {
				p.encode(r.seg, i)
			}
		}
	}()
	return e
}

// upTo says that the rows below slot are in place. Whole segments are handed over.
func (e *encoder) upTo(slot uint32) {
	for slot-e.sent >= simd.SegmentRows {
		e.send(e.sent + simd.SegmentRows)
	}
}

func (e *encoder) send(to uint32) {
	from := int(e.sent & (simd.SegmentRows - 1))
	e.work <- codeRange{e.p.seg(e.sent), from, from + int(to-e.sent)}
	e.sent = to
}

// finish hands over the slots below n and waits for all codes.
func (e *encoder) finish(n uint32) {
	for e.sent < n {
		e.send(min(n, (e.sent/simd.SegmentRows+1)*simd.SegmentRows))
	}
	close(e.work)
	<-e.done
}
