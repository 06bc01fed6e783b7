package index

import (
	"errors"

	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// nextVectors checks that each vector of the next embedding model is stored with what it was made from.
func (c *checker) nextVectors() error {
	digests := 0
	for _, k := range new(stores).byName() {
		next, err := c.p.cfg.Vectors.Collection(c.r, c.ws, nextName(k.name))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		rows := 0
		for row, err := range next.All(c.r) {
			if err != nil {
				return err
			}
			rows++
			if err := c.want("I6", digestKey(c.ws, k.name, row.ID), true, "the digest of vector %q in %q", row.ID, nextName(k.name)); err != nil {
				return err
			}
		}
		digests += rows
	}
	found := 0
	for _, err := range scan(c.r, space.In(c.ws, space.Reembed)) {
		if err != nil {
			return err
		}
		found++
	}
	if found != digests {
		return c.report("I6", "%d digests of texts for %d vectors of the next embedding model", found, digests)
	}
	return nil
}
