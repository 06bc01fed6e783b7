package kv

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure Open. The zero value is valid.
type Options struct {
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// ReadOnly opens an existing store without writing anything.
	ReadOnly bool
	// CacheBytes is the block cache; default 64 MiB. May differ on reopen.
	CacheBytes int64
	// MemTableBytes is the size of one memtable; default 32 MiB. May differ on reopen.
	MemTableBytes uint64
	// Logger receives engine warnings; nil discards. Never keys or values.
	Logger *slog.Logger
}

// Store is an open directory. Safe for concurrent use.
type Store struct {
	db    *pebble.DB
	latch *latch

	mu     sync.RWMutex // held shared by every call that touches db; exclusively by Close
	closed bool
}

// Open opens or creates the store in dir.
func Open(dir string, o Options) (*Store, error) {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 32 << 20
	}
	s := &Store{latch: newLatch(o.Logger)}
	cache := pebble.NewCache(o.CacheBytes)
	defer cache.Unref()
	po := &pebble.Options{FS: o.FS, ReadOnly: o.ReadOnly, Cache: cache, MemTableSize: o.MemTableBytes, Logger: s.latch,
		FormatMajorVersion: pebble.FormatNewest}
	db, err := pebble.Open(dir, po)
	if err != nil {
		return nil, fmt.Errorf("kv: open %s: %w", dir, err)
	}
	s.db = db
	return s, nil
}

// Close releases the directory. It is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.db.Close()
}

// Snapshot returns the present state, labelled lsn by the caller, which must keep commits from moving
// between choosing lsn and this call.
func (s *Store) Snapshot(lsn LSN) (*Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	return &Snapshot{snap: s.db.NewSnapshot(), lsn: lsn}, nil
}

// NewBatch returns an empty batch whose reads see the store's present state (labelled base) below its
// own changes. Only the holder of the writer turn may create one.
func (s *Store) NewBatch(base LSN) (*Batch, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	return &Batch{b: s.db.NewIndexedBatch(), base: base}, nil
}

// Apply makes b visible at once and wholly, not yet durable: Sync does that. It does not run b's hooks.
func (s *Store) Apply(b *Batch) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.latch.err(); err != nil {
		return err
	}
	if err := s.db.Apply(b.b, pebble.NoSync); err != nil {
		return fmt.Errorf("kv: apply: %w", err)
	}
	return s.latch.err()
}

// Sync makes every batch applied before the call durable.
func (s *Store) Sync() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.latch.err(); err != nil {
		return err
	}
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("kv: sync: %w", err)
	}
	return s.latch.err()
}

// Snapshot is an immutable view. Safe for concurrent use; Close it.
type Snapshot struct {
	snap *pebble.Snapshot
	lsn  LSN
	once sync.Once
	err  error
}

// Get implements Reader.
func (s *Snapshot) Get(key []byte) ([]byte, error) { return get(s.snap, key) }

// Cursor implements Reader.
func (s *Snapshot) Cursor(lower, upper []byte) (Cursor, error) {
	return newCursor(s.snap, lower, upper)
}

// LSN implements Reader.
func (s *Snapshot) LSN() LSN { return s.lsn }

// Close releases the view. It is idempotent.
func (s *Snapshot) Close() error {
	s.once.Do(func() { s.err = s.snap.Close() })
	return s.err
}

func get(r pebble.Reader, key []byte) ([]byte, error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("kv: get: %w", err)
	}
	out, err := open(make([]byte, 0, len(v)), v)
	if cerr := closer.Close(); err == nil && cerr != nil {
		err = cerr
	}
	return out, err
}
