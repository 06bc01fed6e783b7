package vector

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// load reads the collection's rows and the persisted form of its index. Slots follow the ordinals of the
// rows and of what the index holds; a slot for the latter whose row is gone is dead from the start and
// holds no vector. Such ghosts are left by deletes that the index had not heard of when the store was
// closed or killed.
func (c *Collection) load(r kv.Reader) error {
	x, known, fed, err := c.loadIndex(r)
	if err != nil {
		return err
	}
	p := newPoints(c.config)
	slots := make([]uint32, 0, len(known))
	var ghosts []uint32
	var slot uint32
	// attend gives slots to the indexed ordinals up to ord, and tells whether ord is one.
	attend := func(ord uint64, row bool) bool {
		for len(slots) < len(known) && known[len(slots)] <= ord {
			at := known[len(slots)]
			slots = append(slots, slot)
			if at == ord && row {
				return true
			}
			p.ghost(slot, at)
			ghosts = append(ghosts, slot)
			slot++
		}
		return false
	}
	first := NoSlot // the first row that the index does not hold
	var ids idArena
	live := 0
	enc := startEncoder(p)
	err = c.eachRow(r, func(ord uint64, value []byte) error {
		if !attend(ord, true) && first == NoSlot {
			first = slot
		}
		s, i := p.room(slot)
		id, err := decodeRow(value, s.rows[i*p.stride:i*p.stride+c.config.Dim])
		if err != nil {
			return err
		}
		s.ids[i], s.ords[i] = ids.keep(id), ord
		slot++
		enc.upTo(slot)
		live++
		c.next = ord + 1
		return nil
	})
	if err != nil {
		enc.finish(0)
		return fmt.Errorf("collection %q: %w", c.name, err)
	}
	if len(known) > 0 {
		attend(known[len(known)-1], false)
		c.next = max(c.next, known[len(known)-1]+1)
	}
	c.next = max(c.next, fed)
	enc.finish(slot)
	p.publish(slot)
	g := newGeneration(p, x)
	if x != nil {
		x.Attach(p, slots)
		g.fed.Store(min(first, slot))
		g.ghosts = ghosts
		g.whole.Store(len(ghosts) == 0)
	}
	c.gen.Store(g)
	c.count.Store(&counted{lsn: r.LSN(), n: live})
	return nil
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
