package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant.
type Problem struct {
	Invariant string // C1 or C2
	Detail    string
}

// String is one line for a person.
func (p Problem) String() string { return p.Invariant + ": " + p.Detail }

var errStopped = errors.New("cluster: stopped")

// Check compares the stored generation with the vectors of the collection, and the memory with both, as r shows them. A
// sound layer, and none, yields nothing. An error comes last. It costs a pass over the vectors.
func (l *Layer) Check(ctx context.Context, r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		bad := func(invariant, detail string, args ...any) error {
			if !yield(Problem{invariant, fmt.Sprintf(detail, args...)}, nil) {
				return errStopped
			}
			return nil
		}
		if err := l.check(ctx, r, bad); err != nil && !errors.Is(err, errStopped) {
			yield(Problem{}, fmt.Errorf("cluster: check: %w", err))
		}
	}
}

func (l *Layer) check(ctx context.Context, r kv.Reader, bad func(invariant, detail string, args ...any) error) error {
	h, err := l.headOf(r)
	if errors.Is(err, ErrNone) {
		return nil
	}
	coll, cerr := l.chunks(r)
	if err = errors.Join(err, cerr); err != nil || coll == nil || !h.of(coll) {
		return err // clusters of an earlier collection are used by nobody
	}
	s, err := coll.Survey(r)
	if err != nil {
		return err
	}
	counts, sums, listed := make([]int, h.Next), make([][]int64, h.Next), make([]int, h.Next)
	at := 0
	lost := func(until uint64) error {
		for ; at < s.Len() && s.Ordinal(at) < until; at++ {
			if err := bad("C1", "vector %d is in no cluster", s.Ordinal(at)); err != nil {
				return err
			}
		}
		return nil
	}
	err = l.members(r, h, func(ord uint64, cells []uint32) error {
		if err := errors.Join(ctx.Err(), lost(ord)); err != nil {
			return err
		}
		if at == s.Len() || s.Ordinal(at) != ord {
			return bad("C1", "cluster %d has vector %d, which does not exist", cells[0], ord)
		}
		if sums[cells[0]] == nil {
			sums[cells[0]] = make([]int64, h.Dim)
		}
		counts[cells[0]]++
		add(sums[cells[0]], s.Vector(at), 1)
		for _, c := range cells {
			listed[c]++
		}
		at++
		return nil
	})
	const beyond = 1<<64 - 1
	if err = errors.Join(err, lost(beyond), s.Err()); err != nil {
		return err
	}
	if err := l.checkSums(r, h, counts, sums, bad); err != nil {
		return err
	}
	return l.checkMemory(r, h, counts, sums, listed, bad)
}

func (l *Layer) checkSums(r kv.Reader, h head, counts []int, sums [][]int64, bad func(string, string, ...any) error) error {
	stored := make([]bool, h.Next)
	err := l.each(r, kindSum, h.Generation, func(key, value []byte) error {
		cell, err := cellOf(key, h.Next)
		if err != nil {
			return err
		}
		n, sum, err := decodeSum(value, h.Dim)
		if err != nil {
			return err
		}
		stored[cell] = true
		if n != counts[cell] || !sameSum(sum, sums[cell]) {
			return bad("C2", "cluster %d: %d members by its sum, %d by its members, or another sum", cell, n, counts[cell])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for cell, n := range counts {
		if n > 0 && !stored[cell] {
			if err := bad("C2", "cluster %d: %d members and no sum", cell, n); err != nil {
				return err
			}
		}
	}
	return l.each(r, kindNote, h.Generation, func(key, _ []byte) error {
		cell, _, err := codec.KeyUint32(key)
		if err == nil && cell < h.Next && stored[cell] {
			return nil
		}
		return bad("C2", "a description of cluster %d, which does not exist", cell)
	})
}

// checkMemory compares the navigation with what is stored, if it is that of the view.
func (l *Layer) checkMemory(r kv.Reader, h head, counts []int, sums [][]int64, listed []int, bad func(string, string, ...any) error) error {
	n := l.nav.Load()
	if n == nil || n.head.Generation != h.Generation || n.lsn > r.LSN() {
		return nil
	}
	for cell := range counts {
		c, members := n.at(uint32(cell)), len(n.cells.Members(r, uint32(cell)))
		if c == nil {
			if counts[cell] == 0 && members == 0 {
				continue
			}
			c = newCluster(uint32(cell), 0, nil, new(note))
		}
		if c.Size != counts[cell] || members != listed[cell] || !sameSum(c.sum, sums[cell]) {
			if err := bad("C2", "cluster %d: memory has %d members and lists %d, the store %d and %d, or another sum", cell, c.Size, members, counts[cell], listed[cell]); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameSum compares sums; nil is zero.
func sameSum(a, b []int64) bool {
	zero := func(v int64) bool { return v == 0 }
	if a == nil || b == nil {
		return !slices.ContainsFunc(append(slices.Clone(a), b...), func(v int64) bool { return !zero(v) })
	}
	return slices.Equal(a, b)
}
