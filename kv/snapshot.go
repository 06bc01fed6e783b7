package kv

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// Snapshot is an immutable view. Safe for concurrent use; Close it.
type Snapshot struct {
	store *Store
	lsn   LSN

	mu   sync.RWMutex    // held shared by reads, exclusively to close
	snap *sharedSnapshot // nil once closed
}

// sharedSnapshot is an engine snapshot under one or more handles.
type sharedSnapshot struct {
	*pebble.Snapshot
	label uint64 // for the row cache
	refs  atomic.Int32
}

func (s *Store) newSnapshot(shared *sharedSnapshot, lsn LSN) *Snapshot {
	shared.refs.Add(1)
	sn := &Snapshot{store: s, snap: shared, lsn: lsn}
	s.handles.addSnapshot(sn)
	return sn
}

// Share returns a second handle on the same view, closed on its own. It costs no engine snapshot.
func (s *Snapshot) Share() (*Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.snap == nil || s.store.closing.Load() {
		return nil, ErrClosed
	}
	return s.store.newSnapshot(s.snap, s.lsn), nil
}

// Get implements Reader. Safe for concurrent use.
func (s *Snapshot) Get(key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.snap == nil || s.store.closing.Load() {
		return nil, ErrClosed
	}
	return s.store.get(s.snap.Snapshot, key)
}

// GetMany implements Reader.
func (s *Snapshot) GetMany(keys [][]byte) ([][]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.snap == nil || s.store.closing.Load() {
		return nil, ErrClosed
	}
	return s.store.getMany(keys, s.snap.label, func(lower, upper []byte) (*cursor, error) {
		return s.store.newCursor(s.snap.Snapshot, lower, upper)
	})
}

// ScanMany implements Reader.
func (s *Snapshot) ScanMany(prefixes [][]byte, limit int) ([][]Pair, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.snap == nil || s.store.closing.Load() {
		return nil, ErrClosed
	}
	return s.store.scanMany(prefixes, limit, s.snap.label, func(lower, upper []byte) (*cursor, error) {
		return s.store.newCursor(s.snap.Snapshot, lower, upper)
	})
}

// Cursor implements Reader. Safe for concurrent use.
func (s *Snapshot) Cursor(lower, upper []byte) (Cursor, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.snap == nil || s.store.closing.Load() {
		return nil, ErrClosed
	}
	return s.store.newCursor(s.snap.Snapshot, lower, upper)
}

// LSN implements Reader.
func (s *Snapshot) LSN() LSN { return s.lsn }

// Close releases the view. It is idempotent. Cursors that are open on it stay valid.
func (s *Snapshot) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snap == nil {
		return nil
	}
	snap := s.snap
	s.snap = nil
	if snap.refs.Add(-1) == 0 {
		if err := snap.Close(); err != nil {
			s.store.log.Warn("storage engine: closing a snapshot failed", "error", err)
		}
	}
	s.store.handles.dropSnapshot(s)
	return nil
}

// get returns a copy of the value under key. r is a snapshot or an indexed batch.
func (s *Store) get(r pebble.Reader, key []byte) (value []byte, err error) {
	defer s.guard("get", &err)
	v, closer, err := r.Get(key)
	if err != nil {
		return nil, wrap("get", err)
	}
	value, err = open([]byte{}, v)
	if e := closer.Close(); err == nil {
		err = e
	}
	return value, wrap("get", err)
}
