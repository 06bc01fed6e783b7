package vector

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Load reads every collection of a workspace into memory, unless that was done: rows once each, to keep them in
// memory or only what they are quantised to, and the persisted form of their indexes beside them. Of a collection that
// is indexed and compares codes it reads these, packed, in place of the rows, a quarter of the bytes; the rows come
// into memory in the background, and until then searches read the few that they rescore from the store. A workspace
// without collections costs one seek.
//
// r is a snapshot of the store's present state, read by several goroutines at a time, and may be closed afterwards.
// Between its commit and the end of Load no collection of the workspace may be written to; who writes through the set
// cannot, for it refuses collections of workspaces that it does not hold. Views older than r are not for these
// collections: what was deleted before r is not in memory.
func (s *Set) Load(r kv.Reader, ws string) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.holds(ws) {
		return nil
	}
	all, err := s.read(r, ws)
	if err != nil {
		for _, c := range all {
			err = errors.Join(err, c.letAwaited())
		}
		return fmt.Errorf("vector: open: %w", err)
	}
	s.mu.Lock()
	s.loaded[ws] = true
	for _, c := range all {
		c.live.Store(true)
		s.keep(c)
	}
	s.mu.Unlock()
	if len(all) > 0 {
		s.indexer.wake()
	}
	return nil
}

// read returns the collections of ws, whole unless there is an error.
func (s *Set) read(r kv.Reader, ws string) (all []*Collection, err error) {
	err = eachMeta(r, ws, func(name string, id collectionID, c Config) error {
		all = append(all, newCollection(s, ws, name, id, c))
		return nil
	})
	if err == nil {
		err = s.ration(r, all)
	}
	for i := 0; i < len(all) && err == nil; i++ {
		err = all[i].load(r)
	}
	return all, err
}

// Release lets go of what memory holds of a workspace, when nobody uses its collections any more: calls with one of
// them fail from now on. Load reads them again. What the indexes had not saved is work to be done again.
func (s *Set) Release(ws string) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	var errs []error
	for _, c := range s.collections() {
		if c.ws != ws {
			continue
		}
		c.persist.Lock() // what is being saved is saved; nothing after it
		c.live.Store(false)
		c.persist.Unlock()
		errs = append(errs, c.letAwaited())
		s.mu.Lock()
		s.let(c)
		s.mu.Unlock()
	}
	s.mu.Lock()
	delete(s.loaded, ws)
	s.mu.Unlock()
	return errors.Join(errs...)
}

// DropWorkspace drops every collection of ws, in memory or not. It stages the removal of their keys, too, so that it
// may stand alone or beside the removal of the whole workspace. Of collections in memory, views taken before the
// commit still show them. No Load of the workspace may run.
func (s *Set) DropWorkspace(b *kv.Batch, ws string) error {
	if s.holds(ws) {
		names, err := s.Names(b, ws)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.Drop(b, ws, name); err != nil {
				return err
			}
		}
		return nil
	}
	for _, part := range []space.Space{space.Vector, space.HNSW} {
		prefix := space.In(ws, part)
		if err := b.DeleteRange(prefix, codec.PrefixEnd(prefix)); err != nil {
			return fmt.Errorf("vector: drop workspace %s: %w", brief.Quote(ws), err)
		}
	}
	return nil
}

func (s *Set) holds(ws string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.loaded[ws]
}

// notLoaded is a fault of the program around the set, no answer to a caller's question.
func notLoaded(ws string) error {
	return fmt.Errorf("vector: workspace %s is not in memory: Load it first", brief.Quote(ws))
}
