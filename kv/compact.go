package kv

import (
	"bytes"
	"context"
	"sync"
)

// Compact rewrites the tables that hold keys in [lower, upper), memtables flushed first, so that what was
// deleted or replaced there, and no snapshot still shows, takes no space any more. It costs reading and writing
// what is left, beside other work. It fails with ErrReadOnly, ErrClosed or the error of ctx; tables rewritten by
// then stay so.
func (s *Store) Compact(ctx context.Context, lower, upper []byte) (err error) {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.writable(); err != nil {
		return wrap("compact", err)
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	// The engine waits for flushes and compactions, which a failed disk keeps from ending, and Close waits for
	// this call.
	waiting, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		s.throttle.watch(waiting.Done(), func() bool {
			err := s.stopped()
			if err != nil {
				stop(err)
			}
			return err == nil
		})
	})
	defer func() {
		stop(nil)
		watch.Wait()
	}()
	defer s.guard("compact", &err)
	s.compacting.Add(1)
	defer s.compacting.Add(-1)
	if err := s.db.Compact(waiting, lower, upper, false); err != nil {
		if cause := context.Cause(waiting); cause != nil {
			err = cause
		}
		return wrap("compact", err)
	}
	return wrap("compact", s.latch.engineErr())
}

// DiskUsage estimates the bytes of the tables that hold keys in [lower, upper); those that reach out of the range
// count in part. What is in memtables and logs only counts nothing. It may read index blocks of the outermost
// tables.
func (s *Store) DiskUsage(lower, upper []byte) (n int64, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	if bytes.Compare(lower, upper) >= 0 {
		return 0, nil
	}
	defer s.guard("disk usage", &err)
	u, err := s.db.EstimateDiskUsage(lower, upper)
	if err != nil {
		return 0, wrap("disk usage", err)
	}
	return int64(u), nil
}
