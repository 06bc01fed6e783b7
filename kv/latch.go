package kv

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// latch holds the first failure of the directory; it never opens again. It is also the engine's logger:
// a fatal report is a failure like any other, and Fatalf returns.
type latch struct {
	log *slog.Logger

	mu      sync.Mutex
	phase   phase
	cause   error         // the first failure
	lost    int           // number of the first log that can make nothing durable any more; 0 for none
	fatal   error         // what the engine itself reported as its end
	wake    func()        // called when the failure is set, without locks
	opened  chan struct{} // closed when the opening has ended, well or not
	release chan struct{} // closed when Close begins: parked background jobs may fail now
}

// phase of the store's life, which decides what becomes of tables after a failure (see latchFS).
type phase uint8

const (
	opening phase = iota // those of a flush are written to memory
	running              // they wait for Close
	closing              // they fail
	dead                 // the opening failed: what the engine left running is ended
)

func newLatch(l *slog.Logger, wake func()) *latch {
	return &latch{log: l, wake: wake, opened: make(chan struct{}), release: make(chan struct{})}
}

// enter moves to a later phase.
func (l *latch) enter(p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase == opening && p != opening {
		close(l.opened)
	}
	if p == closing && l.phase != closing {
		close(l.release)
	}
	l.phase = p
}

// awaitOpened waits for the end of the opening and reports whether it went well.
func (l *latch) awaitOpened() bool {
	<-l.opened
	p, _ := l.state()
	return p != dead
}

// awaitClose waits for the beginning of Close when the store runs.
func (l *latch) awaitClose() {
	if p, _ := l.state(); p == running {
		<-l.release
	}
}

// set records a failure; the first one stays. Safe from any goroutine.
func (l *latch) set(cause error) {
	l.mu.Lock()
	first := l.cause == nil
	if first {
		l.cause = cause
	}
	l.mu.Unlock()
	if first {
		l.log.Error("storage failed, the store is read-only until it is reopened", "error", cause)
		l.wake()
	}
}

// loseLog is set for a failure after which log n and its successors cannot make anything durable any more.
// Logs are numbered from 1 in the order of their creation in this process.
func (l *latch) loseLog(n int, cause error) {
	l.mu.Lock()
	if l.lost == 0 || n < l.lost {
		l.lost = n
	}
	l.mu.Unlock()
	l.set(cause)
}

// failure returns the first failure as it came, nil while there is none.
func (l *latch) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// err reports the failure as what it makes of the store, nil while there is none.
func (l *latch) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return readOnly(l.cause)
}

// durable reports why what was written to log n before the call may not be durable, nil when it is. Unlike
// err it ignores failures elsewhere: a commit whose log record was synced is acknowledged even when a flush
// failed meanwhile.
func (l *latch) durable(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == 0 || n < l.lost {
		return nil
	}
	return readOnly(l.cause)
}

// engineErr reports the failure of the engine itself, which latchFS could not hide from it, nil while there
// is none: what it was asked to do meanwhile was not done, though it says so.
func (l *latch) engineErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return readOnly(l.fatal)
}

// state is what latchFS asks before each change.
func (l *latch) state() (p phase, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase, l.cause != nil
}

func readOnly(cause error) error {
	switch {
	case cause == nil:
		return nil
	case vfs.IsNoSpaceError(cause):
		return fmt.Errorf("%w: %w: %w", ErrReadOnly, ErrDiskFull, cause)
	case pebble.IsCorruptionError(cause):
		return fmt.Errorf("%w: %w: %w", ErrReadOnly, ErrCorrupt, cause)
	default:
		return fmt.Errorf("%w: %w", ErrReadOnly, cause)
	}
}

// Infof implements the engine's logger: its reports of progress are not warnings.
func (l *latch) Infof(string, ...any) {}

// Errorf implements the engine's logger.
func (l *latch) Errorf(format string, args ...any) {
	l.log.Warn("storage engine", "msg", fmt.Sprintf(format, args...))
}

// Fatalf implements the engine's logger. It returns, which the engine does not expect: it then reports
// success to its caller. It is reached only for failures that latchFS did not hide.
func (l *latch) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	l.mu.Lock()
	if l.fatal == nil {
		l.fatal = err
	}
	l.mu.Unlock()
	l.loseLog(1, err)
}
