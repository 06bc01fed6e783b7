package kv

import (
	"fmt"
	"log/slog"
	"sync/atomic"
)

// latch replaces the engine's fatal logger: the first fatal report sticks, and every acknowledgement
// reads it (design P5).
type latch struct {
	log   *slog.Logger
	fatal atomic.Pointer[error]
}

func newLatch(l *slog.Logger) *latch {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &latch{log: l}
}

func (l *latch) Infof(string, ...interface{}) {}

func (l *latch) Errorf(format string, args ...interface{}) {
	l.log.Error("storage engine", "msg", fmt.Sprintf(format, args...))
}

func (l *latch) Fatalf(format string, args ...interface{}) {
	err := fmt.Errorf("%w: "+format, append([]any{ErrReadOnly}, args...)...)
	l.fatal.CompareAndSwap(nil, &err)
}

func (l *latch) err() error {
	if p := l.fatal.Load(); p != nil {
		return *p
	}
	return nil
}
