package ivf

import (
	"slices"

	"github.com/glimdb/db/internal/simd"
)

// table holds centroids in blocks. It is a value: with and without return another, which shares the blocks
// that they do not touch.
type table struct {
	dim, stride int
	dot         bool // distances are dot products negated; else squared Euclidean
	n           int
	blocks      [][]float32 // blockCells rows each
}

// blockCells are copied when a centroid changes.
const blockCells = 64

func newTable(dim int, dot bool) table {
	return table{dim: dim, stride: (dim + simd.FloatPad - 1) / simd.FloatPad * simd.FloatPad, dot: dot}
}

// row returns centroid i. It is shared: read only.
func (t *table) row(i int) []float32 {
	at := i % blockCells * t.stride
	return t.blocks[i/blockCells][at : at+t.dim : at+t.dim]
}

// with returns the table with v as centroid i, which may be the first behind the last.
func (t table) with(i int, v []float32) table {
	t.blocks = slices.Clone(t.blocks)
	if at := i / blockCells; at < len(t.blocks) {
		t.blocks[at] = slices.Clone(t.blocks[at])
	}
	t.put(i, v)
	return t
}

// put makes v centroid i of a table that shares no block with another; i may be the first behind the last.
func (t *table) put(i int, v []float32) {
	if i/blockCells == len(t.blocks) {
		t.blocks = append(t.blocks, make([]float32, blockCells*t.stride))
	}
	t.n = max(t.n, i+1)
	copy(t.row(i), v)
}

// withoutLast returns the table without its last centroid.
func (t table) withoutLast() table {
	t.n--
	t.blocks = slices.Clone(t.blocks[:(t.n+blockCells-1)/blockCells])
	return t
}

// distances appends the distance of q, padded to the stride, from each centroid.
func (t *table) distances(q []float32, out []float32) []float32 {
	out = slices.Grow(out, t.n)[:len(out)+t.n]
	dst := out[len(out)-t.n:]
	for at := 0; at < t.n; at += blockCells {
		part := dst[at:min(at+blockCells, t.n)]
		if !t.dot {
			simd.L2Rows(q, t.blocks[at/blockCells], t.stride, part)
			continue
		}
		simd.DotRows(q, t.blocks[at/blockCells], t.stride, part)
		for i := range part {
			part[i] = -part[i]
		}
	}
	return out
}

// bytes is the memory of the centroids.
func (t *table) bytes() int64 { return int64(len(t.blocks)) * int64(blockCells*4*t.stride) }
