package postings

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/kv"
)

// Holders returns, for each of terms, the number of items that hold it: exactly, as Search weighs it. It reads the heads of
// the terms' blocks and looks into every segment. Errors: ErrInvalid, those of ctx and of reading.
func (x *Index) Holders(ctx context.Context, r kv.Reader, terms []string) (items []int, err error) {
	if len(terms) > MaxTerms {
		return nil, &InvalidError{Field: "term", Reason: fmt.Sprintf("%d of them, want at most %d", len(terms), MaxTerms)}
	}
	if err := x.settle(r); err != nil {
		return nil, x.failed("holders", err)
	}
	s := searches.Get().(*search)
	defer s.release()
	s.x, s.r, s.q = x, r, Query{Terms: terms}
	if items, err = s.holders(ctx); err != nil {
		return nil, x.failed("holders", err)
	}
	return items, nil
}

func (s *search) holders(ctx context.Context) (_ []int, err error) {
	if s.blocks, err = s.x.cursor(s.r, kindBlock); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.blocks.Close()) }()
	if err := s.collect(ctx); err != nil {
		return nil, err
	}
	of := make(map[string]int, len(s.wanted))
	for i := range s.wanted {
		of[s.wanted[i].text] = s.wanted[i].items
	}
	items := make([]int, len(s.q.Terms))
	for i, t := range s.q.Terms {
		items[i] = of[t]
	}
	return items, nil
}
