package kv

import (
	"errors"
	"syscall"
)

// heldElsewhere reports whether err, from opening the lock file for this process alone, says that another
// one has it open.
func heldElsewhere(err error) bool {
	const sharingViolation, lockViolation = syscall.Errno(32), syscall.Errno(33)
	return errors.Is(err, sharingViolation) || errors.Is(err, lockViolation) || errors.Is(err, syscall.EAGAIN)
}
