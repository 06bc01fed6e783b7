package postings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// TermCount is a term and the number of items that hold it.
type TermCount struct {
	Text  string `json:"term"`
	Items int    `json:"items"`
}

// Terms returns the terms that begin with prefix, in byte order, at most limit of them; more tells that there are others.
// It reads the heads of their blocks, and every segment.
func (x *Index) Terms(ctx context.Context, r kv.Reader, prefix string, limit int) (terms []TermCount, more bool, err error) {
	if err := x.settle(r); err != nil {
		return nil, false, err
	}
	items := make(map[string]int)
	if err := x.termsOfSegments(ctx, r, prefix, items); err != nil {
		return nil, false, x.failed("terms", err)
	}
	if more, err = x.termsOfBlocks(ctx, r, prefix, limit, items); err != nil {
		return nil, false, x.failed("terms", err)
	}
	for text, n := range items {
		terms = append(terms, TermCount{text, n})
	}
	slices.SortFunc(terms, func(a, b TermCount) int { return cmp.Compare(a.Text, b.Text) })
	if len(terms) > limit {
		terms, more = terms[:limit], true
	}
	return terms, more, nil
}

func (x *Index) termsOfSegments(ctx context.Context, r kv.Reader, prefix string, items map[string]int) error {
	c, err := x.cursor(r, kindSegment)
	if err != nil {
		return err
	}
	defer c.Close()
	var v view
	for c.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, err := numberOf(c.Key(), len(x.prefix)+1)
		if err != nil {
			return err
		}
		if err := v.open(ordinal(o), c.Value()); err != nil {
			return err
		}
		rest, err := v.seek(prefix)
		for err == nil && len(rest) > 0 {
			var (
				text []byte
				n    int
			)
			text, n, _, rest, err = entry(rest)
			if bytes.HasPrefix(text, []byte(prefix)) {
				items[string(text)] += n
			} else if string(text) > prefix {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return c.Err()
}

// termsOfBlocks adds the first limit terms that have blocks.
func (x *Index) termsOfBlocks(ctx context.Context, r kv.Reader, prefix string, limit int, items map[string]int) (more bool, err error) {
	c, err := x.cursor(r, kindBlock)
	if err != nil {
		return false, err
	}
	defer c.Close()
	first := x.termKey(prefix)
	last, found := "", 0
	for ok := c.SeekGE(first[:len(first)-2]); ok; ok = c.Next() { // without the end of the part
		if err := ctx.Err(); err != nil {
			return false, err
		}
		term, _, err := x.blockOf(c.Key())
		if err != nil {
			return false, err
		}
		if !strings.HasPrefix(term, prefix) {
			break
		}
		if found == 0 || term != last {
			if found == limit {
				return true, nil
			}
			last = term
			found++
		}
		h, _, err := openBlock(c.Value())
		if err := errors.Join(err, c.Err()); err != nil {
			return false, err
		}
		items[term] += h.count
	}
	return false, c.Err()
}
