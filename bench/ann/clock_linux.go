package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockName says what threadTime is.
const clockName = "thread CPU time"

// threadTime returns the processor time that the calling thread has used. The caller has locked its
// goroutine to it.
func threadTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime returns the processor time that all threads of the process have used.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		return time.Since(started) // no such clock: a kernel older than Go supports
	}
	return time.Duration(now.Nano())
}
