package kv

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// closeGrace is how long Close waits for the owners of open snapshots and cursors, whose next step fails
// with ErrClosed, to close them. A handle that is still open then was forgotten.
const closeGrace = time.Second

// Store is an open directory. Safe for concurrent use.
type Store struct {
	db       *pebble.DB
	readOnly bool
	memLimit uint64 // bytes of memtables from which Apply waits
	l0Limit  int32  // overlapping tables of level 0 from which Apply waits
	latch    *latch
	fs       *latchFS
	rows     *rowCache
	separation
	throttle *throttle
	handles  *handles
	log      *slog.Logger
	poisoned atomic.Bool // the engine panicked; its locks are in an unknown state

	closing atomic.Bool  // set first by Close; new calls fail
	mu      sync.RWMutex // held shared by every call that touches db beside cursors and snapshots
	once    sync.Once
}

// enter begins a call that touches the engine; leave ends it.
func (s *Store) enter() error {
	s.mu.RLock()
	if s.closing.Load() {
		s.mu.RUnlock()
		return ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.mu.RUnlock() }

// awaitCalls returns when every call in progress has ended. Later ones see closing.
func (s *Store) awaitCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

// Close releases the directory. Calls in progress end first; handles that are open get closeGrace to end,
// for every further step of theirs fails with ErrClosed, and those left are closed for their owners and
// named in the error. Only the first call does something and returns an error. After a failed disk it
// returns nil if nothing failed anew: what was acknowledged is safe, and the rest was reported.
func (s *Store) Close() (err error) {
	s.once.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	failed := s.latch.err() != nil
	s.closing.Store(true)
	s.throttle.poke()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-s.handles.drained():
	case <-timer.C:
	}
	s.awaitCalls()
	err := s.endHandles()
	s.latch.enter(closing)
	err = errors.Join(err, s.stop())
	if !failed {
		err = errors.Join(err, s.latch.err())
	}
	return err
}

// endHandles closes what its owners left open and names it.
func (s *Store) endHandles() error {
	snaps, _ := s.handles.open()
	for _, sn := range snaps {
		_ = sn.Close()
	}
	_, cursors := s.handles.open() // after the snapshots, which can open no more
	for _, c := range cursors {
		_ = c.Close()
	}
	if len(snaps)+len(cursors) == 0 {
		return nil
	}
	var lsns []string
	for _, sn := range snaps {
		lsns = append(lsns, fmt.Sprint(sn.lsn))
	}
	return fmt.Errorf("kv: close: %d snapshots (at LSN %s) and %d cursors were left open",
		len(snaps), strings.Join(lsns, ", "), len(cursors))
}

// stop closes the engine. One that panicked may hold its locks for ever: it is abandoned, which the latch
// makes safe, since it can change nothing on disk any more.
func (s *Store) stop() (err error) {
	defer func() { err = errors.Join(err, s.fs.unlock()) }()
	if s.poisoned.Load() {
		return nil
	}
	defer s.guard("close", &err)
	return wrap("close", s.db.Close())
}

// Snapshot returns the present state, labelled lsn by the caller, which must keep commits from moving
// between choosing lsn and this call. Close it. Costs no I/O; an open snapshot keeps the engine from
// dropping what it shows.
func (s *Store) Snapshot(lsn LSN) (*Snapshot, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	label := s.rows.done.Load() // before the engine is asked: the snapshot shows all of that, and perhaps more
	return s.newSnapshot(&sharedSnapshot{Snapshot: s.db.NewSnapshot(), label: label}, lsn), nil
}

// OldestLSN returns the smallest LSN of the open snapshots: what was superseded at or before it is seen by
// nobody. Without an open snapshot it is the largest LSN.
func (s *Store) OldestLSN() LSN { return s.handles.oldest() }

// Err returns why the store became read-only, wrapping ErrReadOnly, and nil while it takes writes or was
// opened read-only.
func (s *Store) Err() error { return s.latch.err() }
