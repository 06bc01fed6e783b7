//go:build amd64 && !purego

package simd

// Prefetch asks for the two cache lines that begin at p and behind it, without waiting for them. It never faults.
//
//go:noescape
func Prefetch(p *uint32)
