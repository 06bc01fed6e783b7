package simd

import (
	"math/rand/v2"
	"testing"
)

// segmented lays rows out as the gather kernels want them.
func segmented[T any](rows [][]T, stride int) []*T {
	segs := make([]*T, (len(rows)+SegmentRows-1)/SegmentRows)
	for s := range segs {
		seg := make([]T, max(1, SegmentRows*stride))
		for i, row := range rows[s*SegmentRows : min((s+1)*SegmentRows, len(rows))] {
			copy(seg[i*stride:], row)
		}
		segs[s] = &seg[0]
	}
	return segs
}

func flat[T any](rows [][]T, stride int) []T {
	out := make([]T, len(rows)*stride)
	for i, row := range rows {
		copy(out[i*stride:], row)
	}
	return out
}

// codes returns n codes, half of them extremes.
func codes(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		switch r.IntN(4) {
		case 0:
			v[i] = -127
		case 1:
			v[i] = 127
		default:
			v[i] = int8(r.IntN(255) - 127)
		}
	}
	return v
}

// counts are numbers of rows around the kernels' groups and blocks.
var counts = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 63, 64, 65, 67, 131}

// picks returns n ids below rows. Most lists repeat some; all contain the last row.
func picks(r *rand.Rand, n, rows int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(r.IntN(rows))
		if i > 0 && r.IntN(4) == 0 {
			ids[i] = ids[r.IntN(i)]
		}
	}
	if n > 0 {
		ids[r.IntN(n)] = uint32(rows - 1)
	}
	return ids
}

func TestRowsAndGather(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, dim := range lengths() {
			// The large ones take long to lay out: fewer rows, all in the first segment.
			rows, counts := SegmentRows+20, counts
			if dim > 1000 {
				rows, counts = 12, counts[:12]
			}
			stride := dim + r.IntN(9)
			q := values(r, dim, 1)
			all, dots, dists := make([][]float32, rows), make([]exact, rows), make([]exact, rows)
			for i := range all {
				all[i] = values(r, dim, 0)
				dots[i], dists[i] = exactDot(q, all[i]), exactL2(q, all[i])
			}
			segs, block := segmented(all, stride), flat(all, stride)
			for _, n := range counts {
				const canary = 77
				ids, out := picks(r, n, rows), make([]float32, n+1)
				out[n] = canary
				DotGather(q, segs, stride, ids, out[:n])
				for i, id := range ids {
					within(t, "gathered dot", out[i], dots[id])
				}
				L2Gather(q, segs, stride, ids, out[:n])
				for i, id := range ids {
					within(t, "gathered l2", out[i], dists[id])
				}
				DotRows(q, block, stride, out[:n])
				for i := range n {
					within(t, "dot of rows", out[i], dots[i])
				}
				L2Rows(q, block, stride, out[:n])
				for i := range n {
					within(t, "l2 of rows", out[i], dists[i])
				}
				if out[n] != canary {
					t.Fatalf("%d results of %d dimensions: written behind the end", n, dim)
				}
			}
		}
	})
}

func TestCodes(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, dim := range lengths() {
			rows, counts := SegmentRows+20, counts
			if dim > 1000 {
				rows, counts = 12, counts[:12]
			}
			stride := dim + r.IntN(9)
			q := codes(r, dim)
			all, want := make([][]int8, rows), make([]int32, rows)
			for i := range all {
				all[i] = codes(r, dim)
				for j := range q {
					want[i] += int32(q[j]) * int32(all[i][j])
				}
				if got := DotI8(q, all[i]); got != want[i] {
					t.Fatalf("product of %d codes: %d, want %d", dim, got, want[i])
				}
			}
			segs, block := segmented(all, stride), flat(all, stride)
			for _, n := range counts {
				const canary = 77
				ids, out := picks(r, n, rows), make([]int32, n+1)
				out[n] = canary
				DotI8Gather(q, segs, stride, ids, out[:n])
				for i, id := range ids {
					if out[i] != want[id] {
						t.Fatalf("gathered product of %d codes, %d of %d: %d, want %d", dim, i, n, out[i], want[id])
					}
				}
				DotI8Rows(q, block, stride, out[:n])
				for i := range n {
					if out[i] != want[i] {
						t.Fatalf("row product of %d codes, %d of %d: %d, want %d", dim, i, n, out[i], want[i])
					}
				}
				if out[n] != canary {
					t.Fatalf("%d results of %d codes: written behind the end", n, dim)
				}
			}
		}
	})
}

// Every place of several segments is found, also as the id that is only prefetched.
func TestGatherReachesEveryRow(t *testing.T) {
	both(t, func(t *testing.T) {
		const rows, dim, stride = 3 * SegmentRows, 16, 19
		floats, bytes := make([][]float32, rows), make([][]int8, rows)
		for i := range rows {
			floats[i], bytes[i] = make([]float32, dim), make([]int8, dim)
			floats[i][0], floats[i][dim-1] = float32(i), 1
			bytes[i][0], bytes[i][dim-1] = int8(i&127), int8(i>>7)
		}
		q, coded := make([]float32, dim), make([]int8, dim)
		q[0], q[dim-1], coded[0], coded[dim-1] = 1, 0.5, 1, 127
		r := rand.New(rand.NewPCG(5, 6))
		ids := make([]uint32, rows)
		for i, p := range r.Perm(rows) {
			ids[i] = uint32(p)
		}
		dots, dists, sums := make([]float32, rows), make([]float32, rows), make([]int32, rows)
		DotGather(q, segmented(floats, stride), stride, ids, dots)
		L2Gather(q, segmented(floats, stride), stride, ids, dists)
		DotI8Gather(coded, segmented(bytes, stride), stride, ids, sums)
		for i, id := range ids {
			if want := float32(id) + 0.5; dots[i] != want {
				t.Errorf("row %d: dot %v, want %v", id, dots[i], want)
			}
			if want := (float32(id)-1)*(float32(id)-1) + 0.25; dists[i] != want {
				t.Errorf("row %d: distance %v, want %v", id, dists[i], want)
			}
			if want := int32(id&127) + 127*int32(id>>7); sums[i] != want {
				t.Errorf("row %d: product of codes %d, want %d", id, sums[i], want)
			}
		}
	})
}

// The largest products of MaxCodes codes do not overflow.
func TestCodesDoNotOverflow(t *testing.T) {
	both(t, func(t *testing.T) {
		q, seg := make([]int8, MaxCodes), make([]int8, SegmentRows*MaxCodes)
		row := seg[:MaxCodes]
		for _, sign := range []int8{1, -1} {
			for i := range q {
				q[i], row[i] = 127*sign, 127
			}
			want := int32(sign) * 127 * 127 * MaxCodes
			out := make([]int32, 5)
			DotI8Rows(q, row, MaxCodes, out[:1])
			DotI8Gather(q, []*int8{&seg[0]}, MaxCodes, []uint32{0, 0, 0, 0}, out[1:])
			for i, got := range append(out, DotI8(q, row)) {
				if got != want {
					t.Errorf("result %d: %d, want %d", i, got, want)
				}
			}
		}
	})
}
