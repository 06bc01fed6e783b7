package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that the calling thread has used. The caller has locked its goroutine to it.
func cpuTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return time.Since(started)
	}
	return time.Duration(now.Nano())
}

// processTime returns the processor time that all threads have used.
func processTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		return time.Since(started)
	}
	return time.Duration(now.Nano())
}
