package vector

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
)

// Compact does at once what happens by itself when it pays: the background work that is due (Settle), a move to
// new points without the deleted vectors that no view shows, a new checkpoint in place of the index's log, and,
// with SetOptions.Store, a rewriting of the collection's keys without what was deleted. It costs a copy of the
// vectors in memory for its duration, and reading and writing them on disk. The index is not built anew: after five
// turns of 4,000 vectors of 32 dimensions a graph finds 84.0 % of ten neighbours where a new one finds 83.7 % (Ef
// 20), and cells 50.8 % against 51.6 %. Searches and commits go on; an error leaves the collection as good as it
// was. Call it outside a writer turn.
func (c *Collection) Compact(ctx context.Context) error {
	if err := c.settle(ctx); err != nil {
		return c.compacting(err)
	}
	c.shed()
	c.shedPacks()
	if err := c.save(ctx); err != nil {
		return c.compacting(err)
	}
	if c.set.o.Store == nil {
		return nil
	}
	for _, prefix := range c.prefixes() {
		if err := c.set.o.Store.Compact(ctx, prefix, codec.PrefixEnd(prefix)); err != nil {
			return c.compacting(err)
		}
	}
	return nil
}

func (c *Collection) compacting(err error) error {
	return fmt.Errorf("vector: compact %q: %w", c.Name(), err)
}

// Compact compacts every collection.
func (s *Set) Compact(ctx context.Context) error {
	if err := s.Settle(ctx); err != nil {
		return err
	}
	var errs []error
	for _, c := range s.collections() {
		if c.dropped.Load() == 0 {
			errs = append(errs, c.Compact(ctx))
		}
	}
	return errors.Join(errs...)
}

// prefixes begin the keys of the collection and of its index.
func (c *Collection) prefixes() [][]byte {
	return [][]byte{collectionPrefix(c.ws, kindRow, c.id), collectionPrefix(c.ws, kindID, c.id), collectionPrefix(c.ws, kindPack, c.id), indexPrefix(c.ws, c.id)}
}

// shed moves to new points when any slot is gone, and lets the index write its whole form anew when it has
// logged since it last did. A doomed slot that a commit brought meanwhile stays for the next time.
func (c *Collection) shed() {
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	g := c.gen.Load()
	if len(g.gone) > 0 && !c.arrival.pending.Load() {
		c.move(g, false, false)
		g = c.gen.Load()
	}
	if g.index != nil && g.index.Stats().Log > 0 {
		g.index.Lost()
	}
}

// shedPacks lets packs be written anew when vectors are gone from more than one of them.
func (c *Collection) shedPacks() {
	c.persist.Lock()
	defer c.persist.Unlock()
	if c.packs.slots > c.count.Load().n {
		c.packs.erase = true
	}
}

// diskBytes estimates what the collection takes on disk.
func (c *Collection) diskBytes() (n int64) {
	if c.set.o.Store == nil {
		return 0
	}
	for _, prefix := range c.prefixes() {
		part, err := c.set.o.Store.DiskUsage(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			return 0 // closed, or unreadable, which reads report
		}
		n += part
	}
	return n
}
