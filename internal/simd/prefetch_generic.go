//go:build !amd64 || purego

package simd

// Prefetch asks for the two cache lines that begin at p and behind it, where there is an instruction for it.
func Prefetch(p *uint32) {}

// PrefetchRow does nothing here.
func PrefetchRow(row []float32) {}
