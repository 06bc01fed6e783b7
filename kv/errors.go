package kv

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Errors that callers test with errors.Is.
var (
	// ErrNotFound: the key is absent from the view.
	ErrNotFound = errors.New("kv: not found")
	// ErrClosed: the store, snapshot, batch or cursor was closed, or the batch was applied.
	ErrClosed = errors.New("kv: closed")
	// ErrReadOnly: the store was opened read-only, or a failed write made it so; reopen it.
	ErrReadOnly = errors.New("kv: read-only")
	// ErrDiskFull accompanies ErrReadOnly when the file system reported no space. Open returns it alone.
	ErrDiskFull = errors.New("kv: disk full")
	// ErrLocked: another process or another Store of this process owns the directory.
	ErrLocked = errors.New("kv: directory is locked")
	// ErrCorrupt: bytes on disk that no writer produces.
	ErrCorrupt = errors.New("kv: corrupt")
	// ErrFormat: the directory holds something else than a store, or one of a newer or unknown format.
	ErrFormat = errors.New("kv: unknown format")
	// ErrTooLarge: a batch, key or value exceeds its limit.
	ErrTooLarge = errors.New("kv: too large")
	// ErrOptions: an option is out of its range.
	ErrOptions = errors.New("kv: invalid option")
)

// wrap names the operation and gives an error of the engine the sentinel that callers test for.
func wrap(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pebble.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, ErrReadOnly), errors.Is(err, ErrClosed), errors.Is(err, ErrCorrupt):
		return fmt.Errorf("kv: %s: %w", op, err)
	case errors.Is(err, pebble.ErrClosed):
		return fmt.Errorf("kv: %s: %w", op, ErrClosed)
	case errors.Is(err, pebble.ErrReadOnly):
		return fmt.Errorf("kv: %s: %w", op, ErrReadOnly)
	case vfs.IsNoSpaceError(err):
		return fmt.Errorf("kv: %s: %w: %w", op, ErrDiskFull, err)
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("kv: %s: %w: %w", op, ErrCorrupt, err)
	default:
		return fmt.Errorf("kv: %s: %w", op, err)
	}
}

// guard turns a panic of the engine into an error and latches the store: a panic is a bug there, but the
// host must survive it. Use it deferred.
func (s *Store) guard(op string, err *error) {
	if r := recover(); r != nil {
		s.poison(r)
		*err = wrap(op, readOnly(panicked(r)))
	}
}

func (s *Store) poison(r any) {
	s.poisoned.Store(true)
	s.latch.set(panicked(r))
}

// panicked makes an error of what the engine panicked with.
func panicked(r any) error {
	if err, ok := r.(error); ok {
		return fmt.Errorf("storage engine panicked: %w", err)
	}
	return fmt.Errorf("storage engine panicked: %v", r)
}
