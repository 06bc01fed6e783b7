package main

import (
	"context"
	"errors"

	"github.com/glimdb/db"
)

// Exit codes, documented in `glim help exit-codes`.
const (
	exitOK          = 0
	exitFailure     = 1   // something failed; the message says what
	exitUsage       = 2   // unknown command, flag or value
	exitNotFound    = 3   // no such document, entity or database
	exitPartial     = 4   // some inputs failed, the others are done
	exitUnavailable = 5   // database locked, read-only or disk full
	exitProblems    = 6   // check found problems
	exitInterrupted = 130 // SIGINT or SIGTERM; work that was done is kept
)

// usageError is a mistake in the command line, the environment or the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error { return &usageError{err} }

// exitError carries its own code and, if silent, has been reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func exitCode(err error) int {
	var (
		ue *usageError
		ee *exitError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ee):
		return ee.code
	case errors.As(err, &ue):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, db.ErrNotFound):
		return exitNotFound
	case errors.Is(err, db.ErrLocked), errors.Is(err, db.ErrReadOnly), errors.Is(err, db.ErrDiskFull):
		return exitUnavailable
	}
	return exitFailure
}

// hint adds to an error what a person can do about it.
func hint(err error) string {
	switch {
	case errors.Is(err, db.ErrLocked):
		return "another glim or program has this database open; wait for it or choose another with --db"
	case errors.Is(err, db.ErrDiskFull):
		return "free some space and run the command again; everything that was acknowledged is kept"
	case errors.Is(err, db.ErrMismatch):
		return "use the models the database was made with (see `glim stats`), or insert into a new database with --db"
	case errors.Is(err, db.ErrFormat):
		return "the directory belongs to another version or another program; choose another with --db"
	}
	return ""
}
