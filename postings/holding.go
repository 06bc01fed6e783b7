package postings

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/glimdb/db/kv"
)

// Holding returns the items that hold at least one of terms, prepared for searches of the same view: who must hold what.
// It reads all that is stored of the terms, so that it costs their number of items, and nothing is skipped.
// Errors: ErrInvalid, those of ctx and of reading.
func (x *Index) Holding(ctx context.Context, r kv.Reader, terms []string) (_ *Set, err error) {
	if len(terms) > MaxTerms {
		return nil, &InvalidError{Field: "term", Reason: fmt.Sprintf("%d of them, want at most %d", len(terms), MaxTerms)}
	}
	if err := x.settle(r); err != nil {
		return nil, x.failed("terms", err)
	}
	s := searches.Get().(*search)
	defer s.release()
	s.x, s.r, s.q = x, r, Query{Terms: terms}
	set, err := s.holding(ctx)
	if err != nil {
		return nil, x.failed("terms", err)
	}
	return set, nil
}

func (s *search) holding(ctx context.Context) (_ *Set, err error) {
	if s.blocks, err = s.x.cursor(s.r, kindBlock); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.blocks.Close()) }()
	if err := s.collect(ctx); err != nil {
		return nil, err
	}
	set := new(Set)
	for i := range s.wanted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w := &s.wanted[i]
		for k := range w.lists {
			list, err := s.read(held{wanted: w, list: &w.lists[k]})
			if err != nil {
				return nil, err
			}
			for _, p := range list {
				set.add(p.ordinal)
			}
		}
	}
	return set, nil
}

// And returns the items that both sets have, both of one view. A nil Set stands for all items.
func (s *Set) And(o *Set) *Set {
	switch {
	case s == nil:
		return o
	case o == nil:
		return s
	}
	both := &Set{bits: make([]uint64, min(len(s.bits), len(o.bits)))}
	for i := range both.bits {
		both.bits[i] = s.bits[i] & o.bits[i]
		both.n += bits.OnesCount64(both.bits[i])
	}
	return both
}
