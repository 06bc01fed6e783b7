//go:build !race

package vectorkit

// Race tells that the race detector is on.
const Race = false
