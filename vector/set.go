package vector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// DefaultExactBytes is the size of a collection's codes up to which it is only scanned: the scan reads
// them from the second-level cache in about the time of a graph search, and its recall is 1.
const DefaultExactBytes = 2 << 20

// SetOptions configure OpenSet. The zero value is valid: exact search, nothing persisted but the rows.
type SetOptions struct {
	// NewIndex makes the index of a collection that has outgrown ExactBytes; nil: every search scans.
	NewIndex NewIndex
	// Update commits what fn stages, like wal.Log.Update; it persists what the indexes derive, in the
	// background. nil: indexes live in memory only and are fed again after the next open.
	Update func(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error)
	// Oldest returns a commit such that every open view is at it or later; deleted vectors are forgotten
	// once no view shows them. nil: they are kept until the set is closed.
	Oldest func() kv.LSN
	// Store is where the batches end up: Stats tell what a collection takes there, and Compact rewrites it. nil:
	// both leave the disk alone.
	Store *kv.Store
	// ExactBytes is the size of a collection's int8 codes up to which it has no index; 0 means
	// DefaultExactBytes, a negative value gives every collection an index from its first vector on.
	ExactBytes int64
	// MemoryBytes bounds the float32 rows in memory, of all collections together; 0: they all stay. Where they
	// take more, the largest collections read theirs from the store when a search has chosen what to rescore,
	// and keep their codes, bits and links in memory; once let go of, rows stay out until the set is opened
	// again. Collections that compare Float32 keep theirs. The rows of a commit are in memory until the
	// background work after it.
	MemoryBytes int64
	// RecallSample is the share of index searches, 0 to 1, that are repeated exactly in the background for the
	// estimate of recall in Stats: never on the caller's path, at most a tenth of the time of one core. What is
	// drawn while too many wait is dropped and counted. Searches with a predicate and in batches are not drawn.
	RecallSample float64
	// Logger receives warnings about damaged or unwritable index data; nil discards.
	Logger *slog.Logger
}

// ChangeKind is the kind of the commits that persist index data.
const ChangeKind = "vector-index"

// Set is every vector collection of a store, in memory. Safe for concurrent use; Close it before the
// store.
type Set struct {
	o   SetOptions
	log *slog.Logger

	loading sync.Mutex // one Load or Release at a time: they share MemoryBytes; taken before all other locks

	mu     sync.RWMutex
	loaded map[string]bool // the workspaces in memory
	byID   map[collectionKey]*Collection
	byName map[collectionName][]*naming // the same, for views; one name may have been dropped and given anew
	closed bool

	indexer *indexer
	watch   *watch // nil: nothing is sampled
}

// collectionKey names a collection for good; a name can be dropped and created anew.
type collectionKey struct {
	ws string
	id collectionID
}

type collectionName struct{ ws, name string }

// naming is a collection under one of the names it has had: views in [from, until) show it so; until 0 is no end.
type naming struct {
	c           *Collection
	from, until kv.LSN
}

// keep is called with mu held, or before s is shared.
func (s *Set) keep(c *Collection) {
	s.byID[collectionKey{c.ws, c.id}] = c
	s.name(c, c.id.born())
}

// name lets views of from and later find c under its name. It is called with mu held, or before s is shared.
func (s *Set) name(c *Collection, from kv.LSN) {
	n := collectionName{c.ws, c.Name()}
	s.byName[n] = append(s.byName[n], &naming{c: c, from: from})
}

// rename gives c another name from lsn on. It is called with mu held.
func (s *Set) rename(c *Collection, name string, lsn kv.LSN) {
	for _, n := range s.byName[collectionName{c.ws, c.Name()}] {
		if n.c == c && n.until == 0 {
			n.until = lsn
		}
	}
	c.name.Store(&name)
	s.name(c, lsn)
}

// let forgets c. It is called with mu held.
func (s *Set) let(c *Collection) {
	delete(s.byID, collectionKey{c.ws, c.id})
	for n, list := range s.byName {
		list = slices.DeleteFunc(list, func(o *naming) bool { return o.c == c })
		if s.byName[n] = list; len(list) == 0 {
			delete(s.byName, n)
		}
	}
}

// OpenSet returns a set with the collections of these workspaces in memory; Load brings those of others. r is as for
// Load.
func OpenSet(r kv.Reader, o SetOptions, workspaces ...string) (*Set, error) {
	if o.ExactBytes == 0 {
		o.ExactBytes = DefaultExactBytes
	}
	if !(o.RecallSample >= 0 && o.RecallSample <= 1) {
		return nil, &ParameterError{Err: ErrParameter, Field: "RecallSample", Value: o.RecallSample, Want: "0 to 1"}
	}
	if o.MemoryBytes < 0 {
		return nil, &ParameterError{Err: ErrParameter, Field: "MemoryBytes", Value: o.MemoryBytes, Want: "0 or more"}
	}
	s := &Set{o: o, log: o.Logger, loaded: make(map[string]bool), byID: make(map[collectionKey]*Collection), byName: make(map[collectionName][]*naming)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.indexer, s.watch = startIndexer(s), startWatch(o.RecallSample)
	for _, ws := range workspaces {
		if err := s.Load(r, ws); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// eachMeta calls f for every collection of ws in order of name.
func eachMeta(r kv.Reader, ws string, f func(name string, id collectionID, c Config) error) (err error) {
	prefix := metaPrefix(ws)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		name := string(cur.Key()[len(prefix):])
		id, c, err := decodeMeta(name, cur.Value())
		if err != nil {
			return err
		}
		if err := f(name, id, c); err != nil {
			return err
		}
	}
	return cur.Err()
}

// Create returns the collection of that name, creating it with c when there is none. It becomes visible
// to others when b commits. Where one exists whose metric, dimension or model differs from c, the error
// is a *ConfigError naming both sides.
func (s *Set) Create(b *kv.Batch, ws, name string, c Config) (*Collection, error) {
	c, err := c.withDefaults(name)
	if err != nil {
		return nil, err
	}
	if !s.holds(ws) {
		return nil, notLoaded(ws)
	}
	old, err := s.Collection(b, ws, name)
	if err == nil {
		if !old.config.fits(c) {
			return nil, &ConfigError{Collection: name, Stored: old.config, Asked: c}
		}
		return old, nil
	}
	if !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	st := s.staged(b)
	if st.made == createdPerCommit {
		return nil, fmt.Errorf("vector: create collection %s: %w: more than %d in one batch", brief.Quote(name), kv.ErrTooLarge, createdPerCommit)
	}
	id := newCollectionID(b.LSN()+1, st.made)
	if err := b.Set(metaKey(ws, name), encodeMeta(id, c)); err != nil {
		return nil, fmt.Errorf("vector: create collection %s: %w", brief.Quote(name), err)
	}
	st.made++
	coll := newCollection(s, ws, name, id, c)
	st.created[collectionKey{ws, id}] = coll
	return coll, nil
}

// Collection returns the collection that r shows under name, or an error that is kv.ErrNotFound. A batch
// shows the collections created in it. The workspace must be in memory (Load).
func (s *Set) Collection(r kv.Reader, ws, name string) (*Collection, error) {
	if snap, ok := r.(*kv.Snapshot); ok {
		return s.shown(snap.LSN(), ws, name)
	}
	return s.stored(r, ws, name)
}

// stored returns the collection whose key r shows under name.
func (s *Set) stored(r kv.Reader, ws, name string) (*Collection, error) {
	v, err := r.Get(metaKey(ws, name))
	if err != nil {
		return nil, fmt.Errorf("vector: collection %s: %w", brief.Quote(name), err)
	}
	id, _, err := decodeMeta(name, v)
	if err != nil {
		return nil, err
	}
	key := collectionKey{ws, id}
	if st := s.stagedIn(r); st != nil && st.created[key] != nil {
		return st.created[key], nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	if c := s.byID[key]; c != nil {
		return c, nil
	}
	if !s.loaded[ws] {
		return nil, notLoaded(ws)
	}
	return nil, fmt.Errorf("vector: collection %s: %w", brief.Quote(name), kv.ErrNotFound)
}

// shown returns the collection that views of lsn show under name, from memory: a read of its key would cost a
// fifth of a small search.
func (s *Set) shown(lsn kv.LSN, ws, name string) (*Collection, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	for _, n := range s.byName[collectionName{ws, name}] {
		end := kv.LSN(n.c.dropped.Load())
		if n.from <= lsn && (n.until == 0 || lsn < n.until) && (end == 0 || lsn < end) {
			return n.c, nil
		}
	}
	if !s.loaded[ws] {
		return nil, notLoaded(ws)
	}
	return nil, fmt.Errorf("vector: collection %s: %w", brief.Quote(name), kv.ErrNotFound)
}

// Names returns the names of the workspace's collections in order.
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

// Drop removes a collection with all its vectors. Views taken before the commit still show it.
func (s *Set) Drop(b *kv.Batch, ws, name string) error {
	c, err := s.Collection(b, ws, name)
	if err != nil {
		return err
	}
	fail := func(err error) error { return fmt.Errorf("vector: drop collection %s: %w", brief.Quote(name), err) }
	for _, kind := range []byte{kindRow, kindID, kindPack} {
		prefix := collectionPrefix(ws, kind, c.id)
		if err := b.DeleteRange(prefix, codec.PrefixEnd(prefix)); err != nil {
			return fail(err)
		}
	}
	prefix := indexPrefix(ws, c.id)
	if err := b.DeleteRange(prefix, codec.PrefixEnd(prefix)); err != nil {
		return fail(err)
	}
	if err := b.Delete(metaKey(ws, name)); err != nil {
		return fail(err)
	}
	s.staged(b).drop(c)
	return nil
}

// Rename gives a collection another name, which must be free in b: views taken before the commit show it under the old
// one, later views under the new. It costs two keys, whatever the collection holds. A name that is taken is a
// *ParameterError.
func (s *Set) Rename(b *kv.Batch, ws, from, to string) error {
	c, err := s.Collection(b, ws, from)
	if err != nil {
		return err
	}
	switch _, err := b.Get(metaKey(ws, to)); {
	case err == nil:
		return &ParameterError{Err: ErrParameter, Collection: from, Field: "to", Value: to, Want: "a name that no collection has"}
	case !errors.Is(err, kv.ErrNotFound):
		return err
	}
	err = errors.Join(b.Delete(metaKey(ws, from)), b.Set(metaKey(ws, to), encodeMeta(c.id, c.config)))
	if err != nil {
		return fmt.Errorf("vector: rename collection %s: %w", brief.Quote(from), err)
	}
	s.staged(b).renamed[c] = to
	return nil
}

// collections returns the committed collections, dropped ones included while views may show them.
func (s *Set) collections() []*Collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*Collection, 0, len(s.byID))
	for _, c := range s.byID {
		out = append(out, c)
	}
	return out
}

// Close stops the background work and waits for it. It is idempotent. Nothing is lost that is not
// derived: what was not indexed yet is indexed after the next open.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.watch.close()
	return errors.Join(s.indexer.close(), s.letAwaited())
}
