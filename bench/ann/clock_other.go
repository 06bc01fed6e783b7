//go:build !linux

package main

import "time"

// clockName says what threadTime is.
const clockName = "wall time (no thread clock on this system)"

func threadTime() time.Duration { return time.Since(started) }

func processTime() time.Duration { return time.Since(started) }
