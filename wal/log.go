package wal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Log orders, logs and publishes commits.
type Log struct {
	store *kv.Store
	now   func() time.Time

	turn chan struct{} // the writer turn: holds one token

	pub  sync.RWMutex // publish lock: Update's apply+hooks exclusively, View shared
	last kv.LSN       // guarded by pub

	sync *groupSync
}

// Open reads the last LSN of the store. now stamps change records; nil means time.Now.
func Open(s *kv.Store, now func() time.Time) (*Log, error) {
	if now == nil {
		now = time.Now
	}
	l := &Log{store: s, now: now, turn: make(chan struct{}, 1), sync: newGroupSync(s.Sync)}
	snap, err := s.Snapshot(0)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	v, err := snap.Get(space.Key(space.LSN))
	switch {
	case err == nil:
		n, _, err := codec.KeyUint64(v)
		if err != nil {
			return nil, fmt.Errorf("wal: open: %w", err)
		}
		l.last = kv.LSN(n)
	case err != kv.ErrNotFound:
		return nil, fmt.Errorf("wal: open: %w", err)
	}
	return l, nil
}

// Update runs fn in the writer turn over a batch on the present state and commits what it staged, with a
// change record of kind and ids. A nil return means durable. fn must make no network call. An error of fn
// drops the batch. A batch without changes commits nothing and returns the present LSN. ctx counts until
// the batch is applied; after that the true outcome is returned.
func (l *Log) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	lsn, err := l.commit(ctx, kind, ids, fn)
	<-l.turn
	if err != nil || lsn == 0 {
		return l.LSN(), err
	}
	if err := l.sync.wait(); err != nil {
		return 0, fmt.Errorf("wal: sync: %w", err)
	}
	return lsn, nil
}

func (l *Log) commit(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	b, err := l.store.NewBatch(l.last)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	if err := fn(b); err != nil {
		return 0, err
	}
	if b.Empty() {
		return 0, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	lsn := l.last + 1
	c := Change{LSN: lsn, Kind: kind, IDs: ids, Time: l.now()}
	if err := b.Set(changeKey(lsn), c.encode()); err != nil {
		return 0, err
	}
	if err := b.Set(space.Key(space.LSN), codec.AppendKeyUint64(nil, uint64(lsn))); err != nil {
		return 0, err
	}
	l.pub.Lock()
	defer l.pub.Unlock()
	if err := l.store.Apply(b); err != nil {
		return 0, err
	}
	l.last = lsn
	b.Committed(lsn)
	return lsn, nil
}

// LSN is the last published commit.
func (l *Log) LSN() kv.LSN {
	l.pub.RLock()
	defer l.pub.RUnlock()
	return l.last
}

// View returns a snapshot of the last published commit. Close it.
func (l *Log) View() (*kv.Snapshot, error) {
	l.pub.RLock()
	defer l.pub.RUnlock()
	return l.store.Snapshot(l.last)
}
