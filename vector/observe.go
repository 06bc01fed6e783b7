package vector

import (
	"errors"

	"github.com/glimdb/db/kv"
)

// Change is what one Put or Delete of a batch does to one id.
type Change struct {
	ID string
	// Before and After are the vectors as they are stored, under the ordinals Old and New; nil where there is none: an
	// id that is new has no Before, one that is deleted no After. They are shared: read only. Before is nil, too, where
	// what is stored is damaged; Replaces tells whether Old stands for something.
	Before, After []float32
	Old, New      uint64
	Replaces      bool
}

// Observer derives something from a collection's vectors that commits with them.
type Observer interface {
	// Changed is called for each change, in the writer turn of b, after its keys were staged: what it stages commits
	// with them, and what it registers with OnCommit finds the vectors published. An error fails the Put or Delete.
	Changed(b *kv.Batch, c *Collection, ch Change) error
}

// Observe makes o the observer of the collection, in place of the one before; nil: none. Changes of batches that run
// meanwhile may reach either.
func (c *Collection) Observe(o Observer) {
	if o == nil {
		c.observer.Store(nil)
		return
	}
	c.observer.Store(&o)
}

// observed tells the observer, if there is one.
func (c *Collection) observed(b *kv.Batch, ch Change) error {
	o := c.observer.Load()
	if o == nil {
		return nil
	}
	return (*o).Changed(b, c, ch)
}

// before returns what is stored under id, for an observer.
func (c *Collection) before(b *kv.Batch, id string, ord uint64) ([]float32, error) {
	if c.observer.Load() == nil {
		return nil, nil
	}
	v, err := c.vectorAt(b, id, ord)
	if errors.Is(err, kv.ErrCorrupt) { // what is damaged can be deleted
		return nil, nil
	}
	return v, err
}
