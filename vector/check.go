package vector

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant that Check found.
type Problem struct {
	Rule string // V1, V4 or V5, see the package comment
	What string // for people; names ids and slots, never vectors
}

// String is one line.
func (p Problem) String() string { return "vector: " + p.Rule + ": " + p.What }

var errStop = errors.New("vector: the caller has seen enough")

// Check compares the rows that r shows with the id map and the count, both ways, with the points in memory,
// and every index with the points it must find. A sound collection yields nothing; an error comes last.
func (c *Collection) Check(ctx context.Context, r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		x := &checker{c: c, ctx: ctx, r: r, yield: yield}
		for _, step := range []func() error{x.rows, x.ids, x.index} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Problem{}, fmt.Errorf("vector: check %q: %w", c.name, err))
				}
				return
			}
		}
	}
}

type checker struct {
	c     *Collection
	ctx   context.Context
	r     kv.Reader
	yield func(Problem, error) bool
	n     int
}

func (x *checker) report(rule, format string, args ...any) error {
	if !x.yield(Problem{rule, fmt.Sprintf(format, args...)}, nil) {
		return errStop
	}
	return nil
}

func (x *checker) each(prefix []byte, f func(rest, value []byte) error) error {
	cur, err := x.r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Next() {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		if err := f(cur.Key()[len(prefix):], cur.Value()); err != nil {
			return err
		}
	}
	return cur.Err()
}

// rows compares each row with the id map and with memory.
func (x *checker) rows() error {
	c := x.c
	p := c.st.shape.Load().p
	vec := make([]float32, c.cfg.Dim)
	staged := c.st.stagedIn(x.r)
	err := x.each(collectionPrefix(c.ws, kindRow, c.id), func(rest, value []byte) error {
		x.n++
		ord, err := decodeOrdinal(rest)
		if err != nil {
			return x.report("V4", "row key of %d bytes", len(rest))
		}
		raw, err := decodeRow(value, vec)
		if err != nil {
			return x.report("V4", "row %d: %v", ord, err)
		}
		id := string(raw)
		switch have, err := c.ordinal(x.r, id); {
		case errors.Is(err, kv.ErrNotFound):
			return x.report("V4", "row %d of %q is in no id map entry", ord, id)
		case err != nil:
			return err
		case have != ord:
			return x.report("V4", "row %d is of %q, whose entry names row %d", ord, id, have)
		}
		if staged != nil {
			return nil // the batch's own rows are not in memory yet
		}
		slot, ok := p.find(ord)
		if !ok || !p.VisibleAt(slot, x.r.LSN()) || p.ID(slot) != id {
			return x.report("V1", "row %d of %q is not among the searched points", ord, id)
		}
		for i, f := range p.Vector(slot) {
			if f != vec[i] {
				return x.report("V1", "row %d of %q differs from the searched point", ord, id)
			}
		}
		return nil
	})
	if err != nil || staged != nil {
		return err
	}
	visible := 0
	for slot := range p.Len() {
		if p.VisibleAt(slot, x.r.LSN()) {
			visible++
		}
	}
	if visible != x.n {
		return x.report("V1", "%d points are searched, %d rows are stored", visible, x.n)
	}
	return nil
}

func (x *checker) ids() error {
	c, n := x.c, 0
	err := x.each(collectionPrefix(c.ws, kindID, c.id), func(rest, value []byte) error {
		n++
		ord, err := decodeOrdinal(value)
		if err != nil {
			return x.report("V4", "id map entry of %q: %v", rest, err)
		}
		if _, err := x.r.Get(c.rowKey(ord)); errors.Is(err, kv.ErrNotFound) {
			return x.report("V4", "%q names row %d, which is absent", rest, ord)
		} else if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	count, err := c.Len(x.r)
	if err != nil {
		return err
	}
	if count != n || count != x.n {
		return x.report("V4", "count %d, %d ids, %d rows", count, n, x.n)
	}
	return nil
}

// index asks the index whether every living point it was fed can be found.
func (x *checker) index() error {
	st := x.c.st
	st.set.feed.Lock()
	defer st.set.feed.Unlock()
	sh := st.shape.Load()
	if sh.index == nil {
		return nil
	}
	live := func(slot uint32) bool { return slot < sh.fed && sh.p.Ended(slot) == 0 }
	for what := range sh.index.Check(live) {
		if err := x.report("V5", "index: %s", what); err != nil {
			return err
		}
	}
	return nil
}

// Stats describe a collection in memory.
type Stats struct {
	Config Config
	// Live and Dead are slots: vectors of the newest commit, and those that wait to be shed.
	Live, Dead int
	// Tail is the number of slots that the index has not taken in; they are scanned.
	Tail int
	// MemoryBytes is what points and index take.
	MemoryBytes int64
	// Index describes the index; its zero value means that the collection is only scanned.
	Index IndexStats
}

// Stats costs nothing to speak of.
func (c *Collection) Stats() Stats {
	sh := c.st.shape.Load()
	n, dead := int(sh.p.Len()), int(c.st.dead.Load())
	s := Stats{Config: c.cfg, Live: n - dead, Dead: dead, Tail: n, MemoryBytes: sh.p.bytes()}
	if sh.index != nil {
		s.Index = sh.index.Stats()
		s.Tail = n - int(sh.fed)
		s.MemoryBytes += s.Index.Bytes
	}
	return s
}
