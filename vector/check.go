package vector

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Problem is one finding of Check.
type Problem struct {
	Collection string
	Detail     string
}

func (p Problem) String() string { return fmt.Sprintf("vectors %q: %s", p.Collection, p.Detail) }

// Check compares what r shows: rows against ids both ways, and against the vectors in memory with their ids
// and codes; what is counted against what is there; and, for the present state, the index against its own
// invariants and the vectors that it must find. An error comes last.
func (c *Collection) Check(ctx context.Context, r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		if err := c.readable(r); err != nil {
			yield(Problem{}, err)
			return
		}
		k := checker{c: c, r: r, ctx: ctx, yield: yield}
		if err := k.run(); err != nil && !k.stopped {
			yield(Problem{}, err)
		}
	}
}

// Check checks every collection of the workspace, and that no other one has rows or ids.
func (s *Set) Check(ctx context.Context, r kv.Reader, ws string) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		names, err := s.Names(r, ws)
		if err != nil {
			yield(Problem{}, err)
			return
		}
		for _, name := range names {
			c, err := s.stored(r, ws, name)
			if err != nil {
				if !yield(Problem{Collection: name, Detail: err.Error()}, nil) {
					return
				}
				continue
			}
			for p, err := range c.Check(ctx, r) {
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
		if err := strays(r, ws, func(p Problem) bool { return yield(p, nil) }); err != nil {
			yield(Problem{}, err)
		}
	}
}

// strays reports rows and ids of collections that do not exist. It costs a seek for each collection.
func strays(r kv.Reader, ws string, report func(Problem) bool) error {
	known := make(map[collectionID]bool)
	if err := eachMeta(r, ws, func(_ string, id collectionID, _ Config) error { known[id] = true; return nil }); err != nil {
		return err
	}
	for _, kind := range []byte{kindRow, kindID, kindPack} {
		if err := straysOf(r, ws, kind, known, report); err != nil {
			return err
		}
	}
	return nil
}

func straysOf(r kv.Reader, ws string, kind byte, known map[collectionID]bool, report func(Problem) bool) (err error) {
	prefix := append(space.In(ws, space.Vector), kind)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for ok := cur.First(); ok; {
		n, _, err := codec.KeyUint64(cur.Key()[len(prefix):])
		id := collectionID(n)
		switch {
		case err != nil:
			if !report(Problem{Detail: fmt.Sprintf("key %q belongs to no collection", cur.Key())}) {
				return nil
			}
			ok = cur.Next()
			continue
		case !known[id] && !report(Problem{Detail: fmt.Sprintf("collection number %d does not exist, but has keys of kind %q", n, kind)}):
			return nil
		}
		ok = cur.SeekGE(codec.PrefixEnd(collectionPrefix(ws, kind, id)))
	}
	return cur.Err()
}

type checker struct {
	c       *Collection
	r       kv.Reader
	ctx     context.Context
	yield   func(Problem, error) bool
	stopped bool
}

func (k *checker) report(format string, args ...any) {
	if !k.stopped && !k.yield(Problem{Collection: k.c.Name(), Detail: fmt.Sprintf(format, args...)}, nil) {
		k.stopped = true
	}
}

func (k *checker) run() error {
	rows, err := k.rows()
	if err != nil {
		return err
	}
	ids, err := k.ids()
	if err != nil {
		return err
	}
	if err := k.packs(); err != nil {
		return err
	}
	if rows != ids {
		k.report("%d rows but %d ids", rows, ids)
	}
	n, err := k.c.Len(k.r)
	if err != nil {
		return err
	}
	if n != ids {
		k.report("%d vectors counted but %d ids", n, ids)
	}
	if n := k.c.shown(k.r.LSN()) + k.c.stagedCount(k.r); n != ids {
		k.report("%d vectors in memory but %d ids", n, ids)
	}
	return k.index()
}

// rows holds every stored row against its id key and its copy in memory.
func (k *checker) rows() (int, error) {
	vec := make([]float32, k.c.config.Dim)
	scratch := k.c.gen.Load().points.NewProbe().packed
	prefix := collectionPrefix(k.c.ws, kindRow, k.c.id)
	return k.each(prefix, func(key, value []byte) {
		ord, err := rowOrdinal(key, len(prefix))
		if err != nil {
			k.report("%v", err)
			return
		}
		raw, err := decodeRow(value, vec)
		if err != nil {
			k.report("row %d: %v", ord, err)
			return
		}
		id := string(raw)
		if at, err := k.c.ordinal(k.r, id); err != nil {
			k.report("row %d of %q: its id leads nowhere: %v", ord, id, err)
		} else if at != ord {
			k.report("row %d of %q: its id leads to %d", ord, id, at)
		}
		if what := k.memory(ord, id, vec, scratch); what != "" {
			k.report("row %d of %q: %s", ord, id, what)
		}
	})
}

// memory tells what is wrong with what memory holds of a row, or nothing.
func (k *checker) memory(ord uint64, id string, vec []float32, scratch packed) string {
	if st := k.c.set.stagedIn(k.r); st != nil {
		if ch := st.changes[k.c]; ch != nil && ord >= ch.first {
			switch i := ord - ch.first; {
			case i >= uint64(len(ch.adds)) || ch.adds[i].gone:
				return "not in memory"
			case ch.adds[i].id != id || !equal(ch.adds[i].vec, vec):
				return "differs from memory"
			}
			return ""
		}
	}
	p := k.c.gen.Load().points
	slot, ok := p.find(ord)
	if !ok || !p.VisibleAt(slot, k.r.LSN()) {
		return "not in memory"
	}
	if row := p.Vector(slot); p.ID(slot) != id || row != nil && !equal(row, vec) {
		return "differs from memory"
	}
	s, i := p.seg(slot), int(slot&(simd.SegmentRows-1))
	if s.facts[i] != p.pack(vec, scratch) || !p.packedAt(s.packed, i).equal(scratch) {
		return "codes in memory are those of another vector"
	}
	return ""
}

// packs holds every pack against memory, where that has what is in it.
func (k *checker) packs() error {
	p, ids := k.c.gen.Load().points, &idArena{}
	err := k.c.eachPack(k.r, 0, maxOrdinal, func(first uint64, v []byte) error {
		if k.stopped || k.ctx.Err() != nil {
			return k.ctx.Err()
		}
		s, err := p.decodePack(v, first, ids)
		if err != nil {
			return err
		}
		for i, ord := range s.ords {
			slot, ok := p.find(ord)
			if !ok || p.ghost(slot) {
				continue
			}
			m, j := p.seg(slot), int(slot&(simd.SegmentRows-1))
			if s.ids[i] != m.ids[j] || s.facts[i] != m.facts[j] || !p.packedAt(s.packed, i).equal(p.packedAt(m.packed, j)) {
				k.report("pack %d: vector %d of %q differs from memory", first, ord, s.ids[i])
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrCorrupt) {
		k.report("%v; it will be written anew when the collection is opened", err)
		return nil
	}
	return err
}

// ids holds every id key against the row that it leads to.
func (k *checker) ids() (int, error) {
	prefix := collectionPrefix(k.c.ws, kindID, k.c.id)
	return k.each(prefix, func(key, value []byte) {
		id := key[len(prefix):]
		ord, err := decodeOrdinal(value)
		if err != nil {
			k.report("id %q: %v", id, err)
			return
		}
		if _, err := k.r.Get(k.c.rowKey(ord)); err != nil {
			k.report("id %q leads to row %d: %v", id, ord, err)
		}
	})
}

// each calls f for every key behind prefix and returns their number. It ends early when the consumer leaves.
func (k *checker) each(prefix []byte, f func(key, value []byte)) (n int, err error) {
	const ctxEvery = 1024
	cur, err := k.r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for ; !k.stopped && cur.Next(); n++ {
		if n%ctxEvery == 0 && k.ctx.Err() != nil {
			return n, k.ctx.Err()
		}
		f(cur.Key(), cur.Value())
	}
	return n, cur.Err()
}

func (k *checker) index() error {
	k.c.feed.mu.Lock()
	defer k.c.feed.mu.Unlock()
	g := k.c.gen.Load()
	if g.index == nil || k.stopped {
		return k.ctx.Err()
	}
	fed := g.fed.Load()
	for problem := range g.index.Check(func(slot uint32) bool { return slot < fed && g.points.Ended(slot) == 0 }) {
		if k.report("index: %s", problem); k.stopped {
			break
		}
	}
	return k.ctx.Err()
}
