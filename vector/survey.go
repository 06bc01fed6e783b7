package vector

import (
	"errors"
	"fmt"
	"sync"

	"github.com/glimdb/db/kv"
)

// Survey reads the vectors that one view shows by number, in order of ordinal, which is that of commit. Safe for
// concurrent use, as the view must be, and valid while the view is open.
type Survey struct {
	c     *Collection
	r     kv.Reader
	p     *Points
	slots []uint32

	mu  sync.Mutex
	err error
}

// Survey makes one; it costs a pass over the slots. A batch is surveyed without its own changes.
func (c *Collection) Survey(r kv.Reader) (*Survey, error) {
	if err := c.readable(r); err != nil {
		return nil, err
	}
	s := &Survey{c: c, r: r, p: c.gen.Load().points}
	for slot := range s.p.Len() {
		if s.p.VisibleAt(slot, r.LSN()) {
			s.slots = append(s.slots, slot)
		}
	}
	return s, nil
}

// Len is the number of vectors.
func (s *Survey) Len() int { return len(s.slots) }

// ID returns the id of vector i.
func (s *Survey) ID(i int) string { return s.p.ID(s.slots[i]) }

// Ordinal returns the number under which vector i is stored.
func (s *Survey) Ordinal(i int) uint64 { return s.p.Ordinal(s.slots[i]) }

// Vector returns vector i, which is shared: read only. Where rows are not in memory it is read from the view; what fails
// then gives a zero vector, and Err tells.
func (s *Survey) Vector(i int) []float32 {
	if row := s.p.Vector(s.slots[i]); row != nil {
		return row
	}
	row := make([]float32, s.c.config.Dim)
	value, err := s.r.Get(s.c.rowKey(s.Ordinal(i)))
	if err == nil {
		_, err = decodeRow(value, row)
	}
	if err != nil {
		s.mu.Lock()
		s.err = errors.Join(s.err, fmt.Errorf("vector: survey %q: vector of %q: %w", s.c.Name(), s.ID(i), err))
		s.mu.Unlock()
		clear(row)
	}
	return row
}

// Err returns why vectors could not be read.
func (s *Survey) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
