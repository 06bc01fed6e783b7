package db

import (
	"context"
	"maps"
	"sync"

	"github.com/glimdb/db/kv"
)

// lateBytes is how much of what questions paid for may wait to be stored; beyond it a question stores its own.
const lateBytes = 4 << 20

type askingKey struct{}

// asking marks a question's context: no reader waits for the commit that stores what its models said.
func asking(ctx context.Context) context.Context { return context.WithValue(ctx, askingKey{}, true) }

// late are entries of the caches of a workspace that are not stored yet. They are found as if they were. One goroutine
// stores them, all that have come meanwhile in one commit; it counts as a call, so that Close waits for it.
type late struct {
	mu      sync.Mutex
	entries map[lateKey][]byte
	bytes   int
	storing bool
	stored  sync.Cond // entries became fewer
}

type lateKey struct {
	kind CacheKind
	key  string
}

func newLate() *late {
	l := &late{entries: make(map[lateKey][]byte)}
	l.stored.L = &l.mu
	return l
}

func (l *late) get(kind CacheKind, key string) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.entries[lateKey{kind, key}]
	return v, ok
}

// keepLate takes entries, and reports false when there is no room, or no time any more.
func (s *state) keepLate(kind CacheKind, keys []string, values [][]byte) bool {
	l := s.late
	l.mu.Lock()
	defer l.mu.Unlock()
	size := 0
	for i, key := range keys {
		size += len(key) + len(values[i])
	}
	if l.bytes+size > lateBytes {
		return false
	}
	if !l.storing {
		_, end, err := (&DB{core: s.core, name: s.name}).begin(s.name, "", reads)
		if err != nil {
			return false
		}
		l.storing = true
		go func() {
			defer end()
			s.storeLate()
		}()
	}
	for i, key := range keys {
		l.entries[lateKey{kind, key}] = values[i]
	}
	l.bytes += size
	return true
}

// storeLate stores entries until there are none.
func (s *state) storeLate() {
	l := s.late
	for {
		l.mu.Lock()
		if len(l.entries) == 0 {
			l.storing, l.bytes = false, 0
			l.mu.Unlock()
			return
		}
		batch := maps.Clone(l.entries)
		l.mu.Unlock()
		if err := s.storeEntries(batch); err != nil {
			s.opts.Logger.Warn("replies to questions could not be stored", "entries", len(batch), "error", err)
		}
		l.mu.Lock()
		for at, v := range batch {
			delete(l.entries, at)
			l.bytes -= len(at.key) + len(v)
		}
		l.stored.Broadcast()
		l.mu.Unlock()
	}
}

// storeEntries waits as long as the workspace lives, and storeGrace longer.
func (s *state) storeEntries(batch map[lateKey][]byte) error {
	ctx, end := outlive(s.ctx, storeGrace)
	defer end()
	_, err := s.Update(ctx, changeCache, nil, func(b *kv.Batch) error {
		for _, kind := range CacheKinds() {
			var keys []string
			var values [][]byte
			for at, v := range batch {
				if at.kind == kind {
					keys, values = append(keys, at.key), append(values, v)
				}
			}
			if len(keys) == 0 {
				continue
			}
			if err := s.cache(kind).Put(b, keys, values); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// settleLate waits until nothing is late.
func (s *state) settleLate(ctx context.Context) error {
	l := s.late
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stored.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.entries) > 0 && ctx.Err() == nil {
		l.stored.Wait()
	}
	return ctx.Err()
}
