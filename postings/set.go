package postings

import (
	"errors"
	"fmt"
	"iter"

	"github.com/glimdb/db/kv"
)

// Set is some items of an index as one view has them: what a search may be restricted to. It is immutable and safe for
// concurrent use, and stays right as long as no item of it is removed and the index is not dropped.
type Set struct {
	bits []uint64 // by ordinal
	n    int
}

// NewSet looks ids up; those that no item has are left out. It costs a get an id, and a bit an ordinal of memory.
func (x *Index) NewSet(r kv.Reader, ids iter.Seq[string]) (*Set, error) {
	s := new(Set)
	for id := range ids {
		o, ok, err := x.ordinalOf(r, id)
		if err != nil {
			return nil, err
		}
		if ok {
			s.add(o)
		}
	}
	return s, nil
}

func (s *Set) add(o ordinal) {
	for int(o/64) >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, epochSize/64)...)
	}
	if s.bits[o/64]&(1<<(o%64)) == 0 {
		s.bits[o/64] |= 1 << (o % 64)
		s.n++
	}
}

// Len is the number of items.
func (s *Set) Len() int { return s.n }

// of returns the bits of an epoch, nil when none is set.
func (s *Set) of(e epoch) []uint64 {
	const words = epochSize / 64
	from := int(e) * words
	if from >= len(s.bits) {
		return nil
	}
	b := s.bits[from : from+words]
	for _, w := range b {
		if w != 0 {
			return b
		}
	}
	return nil
}

func ignoreAbsent(err error) error {
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}

// idOf reads the id of an ordinal.
func (x *Index) idOf(r kv.Reader, o ordinal) (string, error) {
	v, err := r.Get(x.itemKey(o))
	if err != nil {
		return "", corrupt(fmt.Errorf("ordinal %d: %w", o, err))
	}
	_, id, err := decodeItem(v)
	return string(id), err
}
