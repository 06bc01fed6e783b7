package main

import (
	"runtime"
	"time"
)

// started is where clocks begin that have no start of their own.
var started = time.Now()

// timed runs fn on one thread and returns the processor time of that thread.
func timed(fn func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := threadTime()
	err := fn()
	return threadTime() - from, err
}
