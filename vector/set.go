package vector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// UpdateFunc is the commit path that indexes persist themselves through (wal.Log.Update).
type UpdateFunc func(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error)

// SetOptions are what OpenSet is told.
type SetOptions struct {
	// NewIndex makes the index of a collection that has outgrown the exact scan; nil: every search scans.
	NewIndex NewIndex
	// Update persists indexes; nil keeps them in memory only.
	Update UpdateFunc
	// Oldest returns the lowest LSN of an open view; nil: no view outlives the call that made it.
	Oldest func() kv.LSN
	// Logger receives warnings; nil discards.
	Logger *slog.Logger
	// ExactBytes is the size of a collection's int8 codes up to which it is only scanned; 0 means
	// DefaultExactBytes, negative: indexes take over from the first vector (for tests).
	ExactBytes int64
}

// DefaultExactBytes is where a scan of the codes begins to cost more than a graph search: about what fits
// a core's second-level cache, some 2,700 vectors of 768 dimensions.
const DefaultExactBytes = 2 << 20

// Set is all collections of a store.
type Set struct {
	o SetOptions

	mu     sync.RWMutex
	states map[collectionID]*state

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wake   chan struct{}
	done   chan struct{} // closed when the indexer has ended; nil without one
	feed   sync.Mutex    // held by whoever feeds indexes
}

// OpenSet loads the collections of all workspaces: it reads each vector once and rebuilds nothing. Close
// it.
func OpenSet(r kv.Reader, o SetOptions) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ExactBytes == 0 {
		o.ExactBytes = DefaultExactBytes
	}
	if o.Oldest == nil {
		o.Oldest = func() kv.LSN { return math.MaxUint64 }
	}
	s := &Set{o: o, states: make(map[collectionID]*state), wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.load(r); err != nil {
		s.cancel()
		return nil, fmt.Errorf("vector: open: %w", err)
	}
	if o.NewIndex != nil {
		s.done = make(chan struct{})
		go s.work()
		s.nudge()
	}
	return s, nil
}

// load finds every collection of every workspace.
func (s *Set) load(r kv.Reader) error {
	lower, upper := space.Workspaces()
	c, err := r.Cursor(lower, upper)
	if err != nil {
		return err
	}
	defer c.Close()
	for ok := c.First(); ok; {
		ws, err := space.WorkspaceOf(c.Key())
		if err != nil {
			return fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
		}
		if err := s.loadWorkspace(r, ws); err != nil {
			return err
		}
		ok = c.SeekGE(codec.PrefixEnd(space.Prefix(ws)))
	}
	return c.Err()
}

func (s *Set) loadWorkspace(r kv.Reader, ws string) error {
	return eachMeta(r, ws, func(name string, id collectionID, cfg Config) error {
		st := newState(s, ws, name, id, cfg)
		if err := st.load(r); err != nil {
			return fmt.Errorf("collection %q: %w", name, err)
		}
		s.states[id] = st
		return nil
	})
}

// eachMeta calls f for every collection of a workspace, by name.
func eachMeta(r kv.Reader, ws string, f func(name string, id collectionID, cfg Config) error) error {
	prefix := metaPrefix(ws)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer c.Close()
	for c.Next() {
		name := string(c.Key()[len(prefix):])
		id, cfg, err := decodeMeta(name, c.Value())
		if err != nil {
			return err
		}
		if err := f(name, id, cfg); err != nil {
			return err
		}
	}
	return c.Err()
}

// Names lists the collections of a workspace in order.
func (s *Set) Names(r kv.Reader, ws string) ([]string, error) {
	var names []string
	err := eachMeta(r, ws, func(name string, _ collectionID, _ Config) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("vector: names: %w", err)
	}
	return names, nil
}

// MaxNameBytes bounds the name of a collection, MaxIDBytes the id of a vector: they are parts of keys that
// are read often.
const (
	MaxNameBytes = 512
	MaxIDBytes   = 8192
)

// Create returns the collection of that name, staging it into b when there is none. One that exists with
// another configuration is a *ConfigError; zero fields of c that have a default ask for nothing. Others see
// the collection once b is committed.
func (s *Set) Create(b *kv.Batch, ws, name string, c Config) (*Collection, error) {
	if name == "" || len(name) > MaxNameBytes {
		return nil, fmt.Errorf("%w: a collection's name has 1 to %d bytes, not %d", ErrConfig, MaxNameBytes, len(name))
	}
	full, err := c.withDefaults(name)
	if err != nil {
		return nil, err
	}
	have, err := s.Collection(b, ws, name)
	switch {
	case err == nil:
		if c.M == 0 {
			full.M = have.cfg.M
		}
		if c.EfConstruction == 0 {
			full.EfConstruction = have.cfg.EfConstruction
		}
		if have.cfg != full {
			return nil, &ConfigError{Collection: name, Stored: have.cfg, Asked: full}
		}
		return have, nil
	case !errors.Is(err, kv.ErrNotFound):
		return nil, err
	}
	created := b.Attachment(createdKey{s}, func() any { return new(created) }).(*created)
	if created.n == createdPerCommit {
		return nil, fmt.Errorf("%w: more than %d collections in one commit", ErrConfig, createdPerCommit)
	}
	id := newCollectionID(b.LSN()+1, created.n)
	created.n++
	if err := b.Set(metaKey(ws, name), encodeMeta(id, full)); err != nil {
		return nil, fmt.Errorf("vector: create %q: %w", name, err)
	}
	st := newState(s, ws, name, id, full)
	created.states = append(created.states, st)
	b.OnCommit(func(kv.LSN) {
		s.mu.Lock()
		s.states[id] = st
		s.mu.Unlock()
	})
	return &Collection{set: s, ws: ws, name: name, id: id, cfg: full, st: st}, nil
}

// created counts the collections that a batch creates.
type created struct {
	n      int
	states []*state
}

type createdKey struct{ s *Set }

// Collection returns the collection that r shows under this name, or kv.ErrNotFound.
func (s *Set) Collection(r kv.Reader, ws, name string) (*Collection, error) {
	v, err := r.Get(metaKey(ws, name))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fmt.Errorf("vector: collection %q: %w", name, kv.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("vector: collection %q: %w", name, err)
	}
	id, cfg, err := decodeMeta(name, v)
	if err != nil {
		return nil, err
	}
	st := s.state(r, id)
	if st == nil {
		return nil, fmt.Errorf("vector: collection %q: %w", name, ErrClosed)
	}
	return &Collection{set: s, ws: ws, name: name, id: id, cfg: cfg, st: st}, nil
}

func (s *Set) state(r kv.Reader, id collectionID) *state {
	s.mu.RLock()
	st := s.states[id]
	s.mu.RUnlock()
	if st == nil {
		if b, ok := r.(*kv.Batch); ok {
			if made, ok := b.Attachment(createdKey{s}, nil).(*created); ok {
				i := slices.IndexFunc(made.states, func(st *state) bool { return st.id == id })
				if i >= 0 {
					return made.states[i]
				}
			}
		}
	}
	return st
}

// Drop stages the removal of a collection with all its vectors; kv.ErrNotFound when there is none. Views
// older than the commit go on searching it.
func (s *Set) Drop(b *kv.Batch, ws, name string) error {
	c, err := s.Collection(b, ws, name)
	if err != nil {
		return err
	}
	if err := b.Delete(metaKey(ws, name)); err != nil {
		return err
	}
	prefixes := [][]byte{indexPrefix(ws, c.id)}
	for _, kind := range []byte{kindRow, kindID, kindCount} {
		prefixes = append(prefixes, collectionPrefix(ws, kind, c.id))
	}
	for _, p := range prefixes {
		if err := b.DeleteRange(p, codec.PrefixEnd(p)); err != nil {
			return fmt.Errorf("vector: drop %q: %w", name, err)
		}
	}
	b.OnCommit(func(lsn kv.LSN) {
		c.st.dropped.Store(uint64(lsn))
		s.nudge()
	})
	return nil
}

// Close ends the indexer and waits for it. It is idempotent; later searches of open handles still work,
// which ends with the store's own Close.
func (s *Set) Close() error {
	s.cancel()
	if s.done != nil {
		<-s.done
	}
	return nil
}
