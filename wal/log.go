package wal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Log orders, logs and publishes commits. Safe for concurrent use.
type Log struct {
	store *kv.Store
	now   func() time.Time
	feed  *feed

	turn   chan struct{} // the writer turn: holds one token
	life   sync.RWMutex  // held shared by each Update, exclusively by Close
	closed chan struct{} // closed by Close
	once   sync.Once

	pub  sync.RWMutex // guards what follows; never held during I/O
	last kv.LSN       // last published commit
	// view is of last, made when it is first asked for or when the next commit is about to be applied. Views share it:
	// a snapshot of the engine of their own would cost readers a tenth of a small search.
	view  *kv.Snapshot
	ended bool // by Close
}

// Open reads the last LSN of the store. now stamps change records; nil means time.Now. Errors:
// kv.ErrCorrupt, and those of reading the store.
func Open(s *kv.Store, now func() time.Time) (*Log, error) {
	if now == nil {
		now = time.Now
	}
	last, err := readLast(s)
	if err != nil {
		return nil, fmt.Errorf("wal: open: %w", err)
	}
	return &Log{store: s, now: now, turn: make(chan struct{}, 1), closed: make(chan struct{}), last: last, feed: newFeed(last)}, nil
}

func readLast(s *kv.Store) (kv.LSN, error) {
	snap, err := s.Snapshot(0)
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	v, err := snap.Get(space.Key(space.LSN))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, rest, err := codec.KeyUint64(v)
	if err != nil || len(rest) > 0 {
		return 0, fmt.Errorf("%w: last LSN of %d bytes", kv.ErrCorrupt, len(v))
	}
	return kv.LSN(n), nil
}

// Update runs fn in the writer turn over a batch on the present state and commits what it staged, with a
// change record of kind and ids; it returns the commit's LSN. A nil error means durable.
//
// fn must make no network call, must not keep the batch, and must not call Update, which would wait for
// itself until ctx ends. An error of fn, or a panic, which Update lets through, drops the batch. A batch
// without changes commits nothing and returns the last LSN.
//
// ctx counts until the batch is applied: cancelled before, Update returns its error and leaves no trace;
// after that the true outcome is returned. Errors: ctx's, fn's, kv.ErrTooLarge, kv.ErrClosed, and
// kv.ErrReadOnly, alone or with kv.ErrDiskFull, when the disk failed; then views of this process may show
// the commit, but it was not acknowledged, every later Update fails alike, and the store must be reopened.
//
// Costs, beside fn: one write of the batch to the engine's log and memory, and a sync of the disk, which all
// Updates share that are applied while the sync before it runs.
func (l *Log) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	return l.update(ctx, Change{Kind: kind, IDs: ids}, fn)
}

// Workspace commits with change records that name one workspace.
type Workspace struct {
	log  *Log
	name string
}

// Workspace returns the writer of the workspace of that name.
func (l *Log) Workspace(name string) Workspace { return Workspace{l, name} }

// Update is Log.Update.
func (w Workspace) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	return w.log.update(ctx, Change{Kind: kind, IDs: ids, Workspace: w.name}, fn)
}

// update commits with c, whose LSN and time it fills in, as change record.
func (l *Log) update(ctx context.Context, c Change, fn func(b *kv.Batch) error) (kv.LSN, error) {
	l.life.RLock()
	defer l.life.RUnlock()
	b, lsn, err := l.commit(ctx, c, fn)
	if b != nil {
		defer b.Close()
	}
	if err != nil {
		return 0, err
	}
	if lsn == 0 {
		return l.LSN(), nil
	}
	if err := b.Durable(); err != nil {
		l.feed.poke() // nothing more will come
		return 0, fmt.Errorf("wal: commit %d: %w", lsn, err)
	}
	l.feed.advance(lsn)
	return lsn, nil
}

// commit takes the turn and applies what fn stages. It returns LSN 0 for a batch without changes. The
// caller closes the batch, outside the turn, for that waits for the disk.
func (l *Log) commit(ctx context.Context, c Change, fn func(b *kv.Batch) error) (*kv.Batch, kv.LSN, error) {
	if err := l.takeTurn(ctx); err != nil {
		return nil, 0, err
	}
	defer func() { <-l.turn }()
	if err := l.store.Ready(ctx); err != nil {
		return nil, 0, fmt.Errorf("wal: commit: %w", err)
	}
	last := l.LSN()
	b, err := l.store.NewBatch(last)
	if err != nil {
		return nil, 0, fmt.Errorf("wal: commit: %w", err)
	}
	staged := false
	defer func() {
		if !staged { // fn panicked
			b.Close()
		}
	}()
	err = fn(b)
	staged = true
	if err != nil || b.Empty() {
		return b, 0, err
	}
	lsn := last + 1
	c.LSN, c.Time = lsn, l.now()
	if err := b.Set(changeKey(lsn), c.encode()); err != nil {
		return b, 0, fmt.Errorf("wal: commit: change record: %w", err)
	}
	if err := b.Set(space.Key(space.LSN), codec.AppendKeyUint64(nil, uint64(lsn))); err != nil {
		return b, 0, fmt.Errorf("wal: commit: last LSN: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return b, 0, err
	}
	if err := l.publish(b, last, lsn); err != nil {
		return b, 0, fmt.Errorf("wal: commit: %w", err)
	}
	return b, lsn, nil
}

func (l *Log) takeTurn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.closed:
		return fmt.Errorf("wal: commit: %w", kv.ErrClosed)
	}
	select {
	case <-l.closed: // both were ready
		<-l.turn
		return fmt.Errorf("wal: commit: %w", kv.ErrClosed)
	default:
		return nil
	}
}

// publish applies b and makes it the last commit. Applying may wait for the disk (when the engine changes
// to a new log file), and hooks take what time they take; views asked for meanwhile are of the commit
// before, and nobody waits.
func (l *Log) publish(b *kv.Batch, last, lsn kv.LSN) error {
	l.pub.Lock()
	err := l.look()
	before := l.view
	l.pub.Unlock()
	if err != nil {
		return err
	}
	defer before.Close()
	defer func() {
		l.pub.Lock()
		l.view, l.last = nil, last
		l.pub.Unlock()
	}()
	if err := l.store.Apply(b); err != nil {
		return err
	}
	last = lsn
	b.Committed(lsn)
	return nil
}

// LSN is the last published commit. It may not be durable yet; Durable is.
func (l *Log) LSN() kv.LSN {
	l.pub.RLock()
	defer l.pub.RUnlock()
	return l.last
}

// View returns a snapshot of the last published commit. Close it. It never waits for a writer, and costs an engine
// snapshot only when it is the first of that commit.
func (l *Log) View() (*kv.Snapshot, error) {
	l.pub.RLock()
	view := l.view
	if view != nil {
		defer l.pub.RUnlock()
		return view.Share()
	}
	l.pub.RUnlock()
	l.pub.Lock()
	defer l.pub.Unlock()
	if l.ended { // nobody would close what is kept
		return l.store.Snapshot(l.last)
	}
	if err := l.look(); err != nil {
		return nil, err
	}
	return l.view.Share()
}

// look makes the view that all share. pub is held.
func (l *Log) look() (err error) {
	if l.view == nil {
		l.view, err = l.store.Snapshot(l.last)
	}
	return err
}

// Close refuses new Updates, waits for those in progress to have their true outcome, and ends waiting
// consumers of the feed. Call it before closing the store. It is idempotent.
func (l *Log) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.life.Lock()
	defer l.life.Unlock()
	l.pub.Lock()
	defer l.pub.Unlock()
	view := l.view
	l.view, l.ended = nil, true
	if view == nil {
		return nil
	}
	return view.Close()
}
