//go:build !linux

package bench

import "time"

// cpuTime falls back to the clock where no portable call tells the time of one thread.
func cpuTime() time.Duration { return time.Since(started) }

// processTime falls back to the clock where no portable call tells the time of a process.
func processTime() time.Duration { return time.Since(started) }

// residentBytes returns 0: no portable call tells.
func residentBytes() uint64 { return 0 }
