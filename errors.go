package db

import (
	"errors"

	"github.com/glimdb/db/kv"
)

// Errors of the whole module, tested with errors.Is. Each is defined where it arises and named here.
var (
	// ErrNotFound: a key, node, edge, vector, collection, graph or document is absent.
	ErrNotFound = kv.ErrNotFound
	// ErrClosed: the database or transaction was closed.
	ErrClosed = kv.ErrClosed
	// ErrReadOnly: opened read-only, or made so by a failed disk; after the latter, reopen.
	ErrReadOnly = kv.ErrReadOnly
	// ErrDiskFull accompanies ErrReadOnly when the file system had no space left.
	ErrDiskFull = kv.ErrDiskFull
	// ErrLocked: another process, or another DB of this one, owns the directory.
	ErrLocked = kv.ErrLocked
	// ErrCorrupt: bytes on disk that no writer produces.
	ErrCorrupt = kv.ErrCorrupt
	// ErrTooLarge: a batch, key or value exceeds its limit.
	ErrTooLarge = kv.ErrTooLarge
	// ErrFormat: the directory was written in a format this version does not know.
	ErrFormat = errors.New("db: unknown format")
	// ErrMismatch: the store was made with another tokenizer, embedding model or dimension.
	ErrMismatch = errors.New("db: model mismatch")
	// ErrOption: an option is out of range.
	ErrOption = errors.New("db: invalid option")
	// ErrReserved: a transaction tried to write what documents become: KnowledgeGraph, or a collection of
	// theirs. Insert, Put and Delete write those.
	ErrReserved = errors.New("db: written by documents only")
)
