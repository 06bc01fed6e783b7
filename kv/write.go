package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
)

// NewBatch returns an empty batch whose reads see the store's present state (labelled base) below its
// own changes. Only the holder of the writer turn may create one. It fails with ErrReadOnly when the store
// takes no writes. Close the batch.
func (s *Store) NewBatch(base LSN) (*Batch, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.writable(); err != nil {
		return nil, wrap("new batch", err)
	}
	return &Batch{store: s, b: s.db.NewIndexedBatch(), base: base}, nil
}

func (s *Store) writable() error {
	if s.readOnly {
		return ErrReadOnly
	}
	return s.latch.err()
}

// Ready waits while flushes and compactions lag behind, so that memory and the cost of reads stay bounded.
// Call it before Apply, without locks that readers need. It fails when the store takes no writes.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if ctx.Done() != nil {
		// The throttle knows its own events only.
		defer context.AfterFunc(ctx, s.throttle.poke)()
	}
	return wrap("wait for flush", s.throttle.wait(func() error { return errors.Join(s.stopped(), ctx.Err()) }, s.lagging))
}

// Apply makes b visible at once and wholly, and asks for its sync; Batch.Durable waits for that. It runs what
// BeforeApply registered, not b's OnCommit hooks, and it does not wait for room (Ready does). Calls must not overlap. After it, b takes no more calls but Durable,
// Committed, Len and Close. An error means that nothing became visible.
//
// The log record and its sync are one request, on purpose: were the sync a record of its own, a disk that is
// full just then would leave a whole record of a commit that was never acknowledged.
func (s *Store) Apply(b *Batch) (err error) {
	if b.b != nil && !b.applied {
		if err := b.complete(); err != nil {
			return wrap("apply", err)
		}
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if b.b == nil || b.applied {
		return wrap("apply", ErrClosed)
	}
	if err := s.writable(); err != nil {
		return wrap("apply", err)
	}
	b.applied = true
	b.size = b.b.Len()
	defer s.guard("apply", &err)
	b.log = s.fs.log()
	if err := s.rows.apply(b.b, func() error { return s.db.ApplyNoSyncWait(b.b, pebble.Sync) }); err != nil {
		return wrap("apply", err)
	}
	// A full memtable takes a new log with it. The record is in that one, but for a batch too large for any
	// memtable: it goes into the old log first, and its memory is the engine's from then on.
	if tooLarge := b.b.Len() < b.size; !tooLarge {
		b.log = s.fs.log()
	}
	return wrap("apply", s.latch.engineErr())
}

// Durable waits until the batch is durable, with all applied before it. All batches applied while one sync
// of the disk runs share the next one. Unlike b's other methods it may be called while the store is being
// closed. A nil return is true even if the store became read-only meanwhile; the error is ErrReadOnly, alone
// or with ErrDiskFull.
func (b *Batch) Durable() error {
	if b.b == nil || !b.applied {
		return wrap("sync", ErrClosed)
	}
	if err := b.store.syncWait(b.b); err != nil {
		return wrap("sync", err)
	}
	return wrap("sync", b.store.latch.durable(b.log))
}

// syncWait waits for the sync that Apply asked for. An engine that panicked may never do it.
func (s *Store) syncWait(b *pebble.Batch) error {
	if s.poisoned.Load() {
		return s.latch.err()
	}
	return b.SyncWait()
}

// stopped tells a waiting writer to give up.
func (s *Store) stopped() error {
	if s.closing.Load() {
		return ErrClosed
	}
	return s.writable()
}

// lagging reports whether a writer must wait for flushes or compactions.
func (s *Store) lagging() bool {
	m := s.db.Metrics()
	return m.MemTable.Size >= s.memLimit || m.Levels[0].Sublevels >= s.l0Limit
}

// events connects the engine's events to the throttle and the latch. They run under the engine's locks.
func (s *Store) events() *pebble.EventListener {
	return &pebble.EventListener{
		WALCreated:    func(pebble.WALCreateInfo) { s.throttle.poke() },
		FlushEnd:      func(pebble.FlushInfo) { s.throttle.poke() },
		CompactionEnd: func(pebble.CompactionInfo) { s.throttle.poke() },
		// A flush or a compaction failed, and would fail again: not always by the hand of latchFS, which lets
		// reads fail as they do.
		BackgroundError: func(err error) { s.latch.set(fmt.Errorf("background job: %w", err)) },
		// The engine would try this job again and again, too, and tells nobody else of it.
		BlobFileRewriteEnd: func(i pebble.BlobFileRewriteInfo) {
			if i.Err != nil && !errors.Is(i.Err, pebble.ErrCancelledCompaction) {
				s.latch.set(fmt.Errorf("background job: %w", i.Err))
			}
			s.throttle.poke()
		},
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			s.latch.set(fmt.Errorf("corrupt file %s: %w", filepath.Base(i.Path), i.Details))
		},
	}
}
