//go:build amd64 && !purego

package simd

// Prefetch asks for the two cache lines that begin at p and behind it, without waiting for them. It never faults.
//
//go:noescape
func Prefetch(p *uint32)

// PrefetchRow asks for all cache lines of row, without waiting for them.
func PrefetchRow(row []float32) {
	if len(row) > 0 {
		prefetchRow(&row[0], len(row))
	}
}

//go:noescape
func prefetchRow(p *float32, n int)
