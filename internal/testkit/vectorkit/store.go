package vectorkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Store is a minimal commit path over a real engine: one writer at a time, LSN by LSN. A literal with T, FS and
// Options is a store that is closed.
type Store struct {
	T       testing.TB
	FS      vfs.FS
	Options vector.SetOptions // Update, Oldest and Store are its own

	Refuse func(kind string) error // fails a commit of that kind; nil fails none

	Set *vector.Set // nil while the store is closed

	mu  sync.Mutex
	kv  *kv.Store
	lsn kv.LSN
}

// Values of vector.SetOptions.ExactBytes.
const (
	ExactAlways = 1 << 40 // no collection of a test has an index
	IndexAlways = -1      // every one has
)

// Open opens a new store in memory. With the test it is checked, unless it was closed before, and closed.
func Open(t testing.TB, o vector.SetOptions) *Store {
	s := &Store{T: t, FS: vfs.NewMem(), Options: o}
	s.Open()
	t.Cleanup(func() {
		if s.Set != nil {
			s.Check()
		}
		s.Close()
	})
	return s
}

var lsnKey = []byte{1, 'l'}

// Open opens the store again, after Close.
func (s *Store) Open() {
	s.T.Helper()
	if err := s.TryOpen(); err != nil {
		s.T.Fatal(err)
	}
}

// TryOpen opens the store, or fails and leaves nothing open.
func (s *Store) TryOpen() (err error) {
	if s.kv, err = kv.Open("db", kv.Options{FS: s.FS}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.kv.Close())
		}
	}()
	s.lsn = 0
	snap, err := s.kv.Snapshot(0)
	if err != nil {
		return err
	}
	v, err := snap.Get(lsnKey)
	if err == nil {
		_, err = fmt.Sscan(string(v), &s.lsn)
	} else if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	if err = errors.Join(err, snap.Close()); err != nil {
		return err
	}
	if snap, err = s.kv.Snapshot(s.lsn); err != nil {
		return err
	}
	s.Options.Update, s.Options.Oldest, s.Options.Store = s.Update, s.kv.OldestLSN, s.kv
	s.Set, err = vector.OpenSet(snap, s.Options, "")
	return errors.Join(err, snap.Close())
}

// Close closes what is open.
func (s *Store) Close() {
	s.T.Helper()
	if err := s.TryClose(); err != nil {
		s.T.Error(err)
	}
}

// TryClose is Close, returning the error.
func (s *Store) TryClose() error {
	if s.Set == nil {
		return nil
	}
	err := errors.Join(s.Set.Close(), s.kv.Close())
	s.Set = nil
	return err
}

// Reopen closes and opens.
func (s *Store) Reopen() {
	s.T.Helper()
	s.Close()
	s.Open()
}

// Update commits what fn stages, and waits until that is durable.
func (s *Store) Update(ctx context.Context, kind string, _ []string, fn func(*kv.Batch) error) (kv.LSN, error) {
	b, lsn, err := s.apply(ctx, kind, fn)
	if b == nil {
		return 0, err
	}
	if err == nil {
		err = b.Durable()
	}
	return lsn, errors.Join(err, b.Close())
}

// apply is the writer turn. The batch, when there is one, is the caller's to close.
func (s *Store) apply(ctx context.Context, kind string, fn func(*kv.Batch) error) (*kv.Batch, kv.LSN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if s.Refuse != nil {
		if err := s.Refuse(kind); err != nil {
			return nil, 0, err
		}
	}
	b, err := s.kv.NewBatch(s.lsn)
	if err != nil {
		return nil, 0, err
	}
	if err := fn(b); err != nil {
		return b, 0, err
	}
	if err := b.Set(lsnKey, fmt.Append(nil, s.lsn+1)); err != nil {
		return b, 0, err
	}
	if err := s.kv.Apply(b); err != nil {
		return b, 0, err
	}
	s.lsn++
	b.Committed(s.lsn)
	return b, s.lsn, nil
}

// Write is Update that must succeed.
func (s *Store) Write(fn func(b *kv.Batch) error) {
	s.T.Helper()
	if _, err := s.Update(context.Background(), "", nil, fn); err != nil {
		s.T.Fatal(err)
	}
}

// View returns a snapshot of the last commit; the caller closes it.
func (s *Store) View() *kv.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.kv.Snapshot(s.lsn)
	if err != nil {
		s.T.Fatal(err)
	}
	return snap
}

// Settle does all background work of the set.
func (s *Store) Settle() {
	s.T.Helper()
	if err := s.Set.Settle(context.Background()); err != nil {
		s.T.Fatal(err)
	}
}

// Create creates a collection of the default workspace and returns it.
func (s *Store) Create(name string, c vector.Config) *vector.Collection {
	s.T.Helper()
	s.Write(func(b *kv.Batch) error {
		_, err := s.Set.Create(b, "", name, c)
		return err
	})
	return s.Collection(name)
}

// Collection returns a collection of the default workspace.
func (s *Store) Collection(name string) *vector.Collection {
	s.T.Helper()
	snap := s.View()
	defer snap.Close()
	c, err := s.Set.Collection(snap, "", name)
	if err != nil {
		s.T.Fatal(err)
	}
	return c
}

// Check reports what Set.Check finds.
func (s *Store) Check() {
	s.T.Helper()
	snap := s.View()
	defer snap.Close()
	for p, err := range s.Set.Check(context.Background(), snap, "") {
		if err != nil {
			s.T.Fatal(err)
		}
		s.T.Error(p)
	}
}
