package vector

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// staged is what one batch holds for the collections of one set, beside the keys: it is published when
// the batch commits and forgotten when it does not.
type staged struct {
	set     *Set
	made    int // collections created in this batch, dropped ones included
	created map[collectionKey]*Collection
	dropped map[*Collection]bool
	renamed map[*Collection]string
	changes map[*Collection]*changes
}

// changes are one batch's new and deleted vectors of one collection.
type changes struct {
	first uint64     // ordinal of adds[0]
	adds  []addition // in order of ordinal
	ends  []uint64   // ordinals of committed vectors that the batch deletes
	ended map[uint64]struct{}
	live  int // adds that are not gone
}

type addition struct {
	id   string
	vec  []float32
	gone bool // deleted or replaced in the same batch
}

// stagedKey is the key of the attachment; sets of different stores never share a batch.
type stagedKey struct{ set *Set }

// staged returns the set's part of b, registering its publication on first use.
func (s *Set) staged(b *kv.Batch) *staged {
	return b.Attachment(stagedKey{s}, func() any {
		st := &staged{set: s, created: make(map[collectionKey]*Collection),
			dropped: make(map[*Collection]bool), renamed: make(map[*Collection]string), changes: make(map[*Collection]*changes)}
		b.OnCommit(st.publish)
		return st
	}).(*staged)
}

// stagedIn returns the set's part of r, or nil when r is no batch or holds nothing for it.
func (s *Set) stagedIn(r kv.Reader) *staged {
	b, ok := r.(*kv.Batch)
	if !ok {
		return nil
	}
	st, _ := b.Attachment(stagedKey{s}, nil).(*staged)
	return st
}

// drop forgets what the batch did to c and remembers its end.
func (st *staged) drop(c *Collection) {
	delete(st.changes, c)
	delete(st.created, collectionKey{c.ws, c.id})
	delete(st.renamed, c)
	st.dropped[c] = true
}

// publish makes the batch's vectors visible to views of lsn and later. It runs under the lock that keeps
// views from being taken.
func (st *staged) publish(lsn kv.LSN) {
	s := st.set
	for c, ch := range st.changes {
		c.publish(lsn, ch)
	}
	s.mu.Lock()
	for _, c := range st.created {
		c.live.Store(true)
		s.keep(c)
	}
	for c := range st.dropped {
		c.live.Store(false)
		c.dropped.Store(uint64(lsn))
	}
	for c, name := range st.renamed {
		s.rename(c, name, lsn)
	}
	s.mu.Unlock()
	s.indexer.wake()
}

// of returns c's part of the batch. The caller holds the writer turn, so that c.next stands still.
func (st *staged) of(c *Collection) *changes {
	ch := st.changes[c]
	if ch == nil {
		ch = &changes{first: c.nextOrdinal(), ended: make(map[uint64]struct{})}
		st.changes[c] = ch
	}
	return ch
}

func (ch *changes) end(ord uint64) {
	if ord < ch.first {
		if _, twice := ch.ended[ord]; !twice {
			ch.ended[ord] = struct{}{}
			ch.ends = append(ch.ends, ord)
		}
		return
	}
	if a := &ch.adds[ord-ch.first]; !a.gone {
		a.gone, a.vec = true, nil
		ch.live--
	}
}

// Put stages v as the vector of id, replacing what is there. v is copied, and normalised when the metric
// is cosine; putting the stored vector again stages nothing. The error is a *DimensionError or a
// *ValueError when v cannot be stored; nothing is staged then.
//
// When far more vectors wait to be indexed than a search should scan, Put lends a hand, some milliseconds.
func (c *Collection) Put(b *kv.Batch, id string, v []float32) error {
	if err := c.writable(b); err != nil {
		return err
	}
	vec, err := c.prepare(id, v)
	if err != nil {
		return err
	}
	fail := func(err error) error { return fmt.Errorf("vector: put %s into %q: %w", brief.Quote(id), c.Name(), err) }
	var stored []float32
	old, err := c.ordinal(b, id)
	switch {
	case err == nil:
		var err error
		stored, err = c.vectorAt(b, id, old)
		if err == nil && equal(stored, vec) {
			return nil
		}
		if err != nil && !errors.Is(err, kv.ErrCorrupt) { // what is damaged can be replaced
			return fail(err)
		}
		if err := b.Delete(c.rowKey(old)); err != nil {
			return fail(err)
		}
	case !errors.Is(err, kv.ErrNotFound):
		return fail(err)
	}
	replaces := err == nil
	ch := c.set.staged(b).of(c)
	ord := ch.first + uint64(len(ch.adds))
	if err := b.Set(c.rowKey(ord), appendRow(nil, id, vec)); err != nil {
		return fail(err)
	}
	if err := b.Set(c.idKey(id), codec.AppendKeyUint64(nil, ord)); err != nil {
		return fail(err)
	}
	if replaces {
		ch.end(old)
	}
	ch.adds = append(ch.adds, addition{id: id, vec: vec})
	ch.live++
	c.set.indexer.help(c)
	if err := c.observed(b, Change{ID: id, Before: stored, After: vec, Old: old, New: ord, Replaces: replaces}); err != nil {
		return fail(err)
	}
	return nil
}

// Delete stages the removal of id; an absent id is no error.
func (c *Collection) Delete(b *kv.Batch, id string) error {
	if err := c.writable(b); err != nil {
		return err
	}
	fail := func(err error) error {
		return fmt.Errorf("vector: delete %s from %q: %w", brief.Quote(id), c.Name(), err)
	}
	old, err := c.ordinal(b, id)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fail(err)
	}
	stored, err := c.before(b, id, old)
	if err != nil {
		return fail(err)
	}
	if err := b.Delete(c.rowKey(old)); err != nil {
		return fail(err)
	}
	if err := b.Delete(c.idKey(id)); err != nil {
		return fail(err)
	}
	c.set.staged(b).of(c).end(old)
	if err := c.observed(b, Change{ID: id, Before: stored, Old: old, Replaces: true}); err != nil {
		return fail(err)
	}
	return nil
}

// prepare copies v as it will be stored.
func (c *Collection) prepare(id string, v []float32) ([]float32, error) {
	if len(v) != c.config.Dim {
		return nil, &DimensionError{Collection: c.Name(), ID: id, Got: len(v), Want: c.config.Dim}
	}
	vec := make([]float32, len(v))
	zero, reason, index := prepare(c.config, vec, v)
	if reason == "" && zero && c.config.Metric == Cosine {
		reason = "zero vector under cosine"
	}
	if reason != "" {
		return nil, &ValueError{Collection: c.Name(), ID: id, Index: index, Reason: reason}
	}
	return vec, nil
}

func equal(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// publish appends the batch's vectors and ends the deleted ones, at lsn.
func (c *Collection) publish(lsn kv.LSN, ch *changes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.gen.Load()
	p := g.points
	count := c.count.Load().n
	for _, ord := range ch.ends {
		if slot, ok := p.find(ord); ok {
			p.end(slot, lsn)
			g.dead = append(g.dead, slot)
			count--
		}
	}
	n := p.Len()
	for i, a := range ch.adds {
		if !a.gone {
			p.append(n, a.id, ch.first+uint64(i), lsn, a.vec)
			n++
			count++
		}
	}
	p.publish(n)
	c.next = ch.first + uint64(len(ch.adds))
	c.count.Store(&counted{lsn: lsn, n: count})
}
