package bench

import (
	"fmt"
	"os"
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

// residentBytes returns the memory of the process that is in RAM, 0 where that cannot be told.
func residentBytes() uint64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(raw), &size, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}
