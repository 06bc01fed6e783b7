package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Errors of the change feed.
var (
	// ErrTruncated: changes after the asked LSN were truncated; the consumer must start from a full copy.
	ErrTruncated = errors.New("wal: change feed was truncated past the asked LSN")
	// ErrAhead: the asked LSN was never assigned by this store; the consumer followed another one.
	ErrAhead = errors.New("wal: asked LSN is ahead of the store")
)

// truncateKind is the kind of the change record that Truncate leaves.
const truncateKind = "truncate"

// feed tells consumers how far the log is durable.
type feed struct {
	mu      sync.Mutex
	durable kv.LSN
	changed chan struct{} // closed and replaced when durable moves or will not move any more
}

func newFeed(durable kv.LSN) *feed { return &feed{durable: durable, changed: make(chan struct{})} }

func (f *feed) advance(lsn kv.LSN) {
	f.mu.Lock()
	f.durable = max(f.durable, lsn)
	f.mu.Unlock()
	f.poke()
}

func (f *feed) poke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) state() (kv.LSN, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.durable, f.changed
}

// Durable is the last commit known to be durable. It trails LSN by the commits whose sync is running.
func (l *Log) Durable() kv.LSN {
	lsn, _ := l.feed.state()
	return lsn
}

// Changes yields the change records of the durable commits after since, in order, and ends; since 0 is the
// beginning. To follow the feed, Wait for more and call it again with the last LSN seen. Errors:
// ErrTruncated, ErrAhead, ctx's, and those of reading. It holds a snapshot until the loop ends.
func (l *Log) Changes(ctx context.Context, since kv.LSN) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		durable := l.Durable()
		if err := l.eachChange(ctx, since, durable, yield); err != nil {
			yield(Change{}, fmt.Errorf("wal: changes after %d: %w", since, err))
		}
	}
}

func (l *Log) eachChange(ctx context.Context, since, durable kv.LSN, yield func(Change, error) bool) error {
	if since >= durable {
		if since > l.LSN() {
			return fmt.Errorf("%w, which is at %d", ErrAhead, l.LSN())
		}
		return ctx.Err()
	}
	snap, err := l.View()
	if err != nil {
		return err
	}
	defer snap.Close()
	cur, err := snap.Cursor(changeKey(since+1), changeKey(durable+1))
	if err != nil {
		return err
	}
	defer cur.Close()
	next := since + 1
	for ; cur.Next(); next++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := decodeChange(cur.Key(), cur.Value())
		if cur.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if c.LSN != next && next == since+1 {
			return fmt.Errorf("%w: it begins at %d", ErrTruncated, c.LSN)
		}
		if c.LSN != next {
			return fmt.Errorf("%w: change %d is missing", kv.ErrCorrupt, next)
		}
		if !yield(c, nil) {
			return nil
		}
	}
	if err := cur.Err(); err != nil {
		return err
	}
	if next == since+1 {
		return fmt.Errorf("%w: nothing is left of it up to %d", ErrTruncated, durable)
	}
	return nil
}

// Wait returns the last durable LSN as soon as it is greater than since. Errors: ctx's, kv.ErrClosed, and
// kv.ErrReadOnly when nothing more will come because the disk failed.
func (l *Log) Wait(ctx context.Context, since kv.LSN) (kv.LSN, error) {
	for {
		durable, changed := l.feed.state()
		if durable > since {
			return durable, nil
		}
		if err := l.store.Err(); err != nil {
			return 0, fmt.Errorf("wal: wait: %w", err)
		}
		select {
		case <-l.closed:
			return 0, fmt.Errorf("wal: wait: %w", kv.ErrClosed)
		default:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-l.closed:
		}
	}
}

// Truncate drops the change records up to and with upTo. It is a commit of its own, with a change record,
// and costs the same whatever it drops. Changes from before it then fail with ErrTruncated.
func (l *Log) Truncate(ctx context.Context, upTo kv.LSN) error {
	_, err := l.Update(ctx, truncateKind, nil, func(b *kv.Batch) error {
		upTo = min(upTo, b.LSN())
		return b.DeleteRange(changeKey(0), changeKey(upTo+1))
	})
	return err
}

// decodeChange reads one record of the feed.
func decodeChange(key, value []byte) (Change, error) {
	prefix := space.Key(space.Change)
	if !bytes.HasPrefix(key, prefix) {
		return Change{}, fmt.Errorf("%w: key of a change record", kv.ErrCorrupt)
	}
	lsn, rest, err := codec.KeyUint64(key[len(prefix):])
	if err != nil || len(rest) > 0 {
		return Change{}, fmt.Errorf("%w: key of a change record", kv.ErrCorrupt)
	}
	c := Change{LSN: kv.LSN(lsn)}
	if err := c.decode(value); err != nil {
		return Change{}, fmt.Errorf("%w: change record %d: %w", kv.ErrCorrupt, lsn, err)
	}
	return c, nil
}
