//go:build !windows

package kv

import (
	"errors"
	iofs "io/fs"
	"syscall"
)

// heldElsewhere reports whether err, from locking a file, says that another process holds the lock. POSIX
// lets a system answer either code; the same codes from opening the file come as a PathError.
func heldElsewhere(err error) bool {
	var path *iofs.PathError
	return !errors.As(err, &path) && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES))
}
