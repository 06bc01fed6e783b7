//go:build !purego

package simd

// forceGo turns the assembly off until the returned function is called.
func forceGo() func() {
	was := useAVX2
	useAVX2 = false
	return func() { useAVX2 = was }
}
