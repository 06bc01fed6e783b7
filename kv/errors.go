package kv

import "errors"

// Errors that callers test with errors.Is.
var (
	// ErrNotFound: the key is absent from the view.
	ErrNotFound = errors.New("kv: not found")
	// ErrClosed: the store, snapshot or batch was closed.
	ErrClosed = errors.New("kv: closed")
	// ErrReadOnly: the store was opened read-only, or a failed write made it so; reopen it.
	ErrReadOnly = errors.New("kv: read-only")
	// ErrDiskFull accompanies ErrReadOnly when the file system reported no space.
	ErrDiskFull = errors.New("kv: disk full")
	// ErrLocked: another process or another Store of this process owns the directory.
	ErrLocked = errors.New("kv: directory is locked by another process")
	// ErrCorrupt: bytes on disk that no writer produces.
	ErrCorrupt = errors.New("kv: corrupt")
	// ErrTooLarge: a batch, key or value exceeds its limit.
	ErrTooLarge = errors.New("kv: too large")
)
