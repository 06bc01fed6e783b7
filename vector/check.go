package vector

import (
	"context"
	"fmt"
	"iter"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Problem is one finding of Check.
type Problem struct {
	Collection string
	Detail     string
}

func (p Problem) String() string { return fmt.Sprintf("vectors %q: %s", p.Collection, p.Detail) }

// Stats describe a collection's present state.
type Stats struct {
	Live  int // vectors
	Dead  int // deleted vectors that views may still show, or that await removal
	Tail  int // vectors that the index has not taken in yet; 0 without one
	Bytes int64
	Index *IndexStats // nil: every search scans
}

// Stats describes the present state. It costs next to nothing.
func (c *Collection) Stats() Stats {
	g := c.gen.Load()
	n := g.points.Len()
	live := c.count.Load().n
	st := Stats{Live: live, Dead: max(0, int(n)-live), Bytes: g.points.bytes()}
	if g.index != nil {
		x := g.index.Stats()
		st.Index = &x
		st.Tail = int(n - min(n, g.fed.Load()))
		st.Bytes += x.Bytes
	}
	return st
}

// Check compares what r shows: ids against rows, rows against memory, the count, and for the present
// state the reachability of every vector in the index. An error comes last.
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

// Check checks every collection of the workspace.
func (s *Set) Check(ctx context.Context, r kv.Reader, ws string) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		names, err := s.Names(r, ws)
		if err != nil {
			yield(Problem{}, err)
			return
		}
		for _, name := range names {
			c, err := s.Collection(r, ws, name)
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
	}
}

type checker struct {
	c       *Collection
	r       kv.Reader
	ctx     context.Context
	yield   func(Problem, error) bool
	stopped bool
}

func (k *checker) report(format string, args ...any) {
	if !k.stopped && !k.yield(Problem{Collection: k.c.name, Detail: fmt.Sprintf(format, args...)}, nil) {
		k.stopped = true
	}
}

func (k *checker) run() error {
	rows, err := k.rows()
	if err != nil || k.stopped {
		return err
	}
	ids, err := k.ids()
	if err != nil || k.stopped {
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
		k.report("%d vectors in memory but %d ids", n, ids)
	}
	return k.index()
}

// rows holds every stored row against its id key and its copy in memory.
func (k *checker) rows() (n int, err error) {
	vec := make([]float32, k.c.config.Dim)
	err = k.c.eachRow(k.r, 0, maxOrdinal, func(ord uint64, value []byte) error {
		if err := k.step(n); err != nil {
			return err
		}
		n++
		raw, err := decodeRow(value, vec)
		if err != nil {
			k.report("row %d: %v", ord, err)
			return nil
		}
		id := string(raw)
		at, err := k.c.ordinal(k.r, id)
		if err != nil || at != ord {
			k.report("row %d of %q: its id leads to %d, %v", ord, id, at, err)
		}
		if v, ok := k.c.vectorAt(k.r, ord); !ok || !equal(v, vec) {
			k.report("row %d of %q: differs from memory", ord, id)
		}
		return nil
	})
	return n, err
}

func (k *checker) ids() (n int, err error) {
	prefix := collectionPrefix(k.c.ws, kindID, k.c.id)
	cur, err := k.r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, err
	}
	defer cur.Close()
	for cur.Next() && !k.stopped {
		if err := k.step(n); err != nil {
			return n, err
		}
		n++
		ord, err := decodeOrdinal(cur.Value())
		if err == nil {
			_, err = k.r.Get(k.c.rowKey(ord))
		}
		if err != nil {
			k.report("id %q leads to vector %d: %v", cur.Key()[len(prefix):], ord, err)
		}
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

// errStopped ends a walk whose consumer has left.
var errStopped = fmt.Errorf("vector: check stopped")

func (k *checker) step(n int) error {
	const ctxEvery = 1024
	if k.stopped {
		return errStopped
	}
	if n%ctxEvery == 0 {
		return k.ctx.Err()
	}
	return nil
}
