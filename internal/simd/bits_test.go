package simd

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// words returns n words, some of them empty or full.
func words(r *rand.Rand, n int) []uint64 {
	v := make([]uint64, n)
	for i := range v {
		switch r.IntN(8) {
		case 0:
		case 1:
			v[i] = math.MaxUint64
		default:
			v[i] = r.Uint64()
		}
	}
	return v
}

func TestHamming(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		lengths := []int{128, 256, 257}
		for n := range 34 {
			lengths = append(lengths, n)
		}
		for _, n := range lengths {
			const rows = SegmentRows + 20
			stride := n + r.IntN(5)
			q := words(r, n+1)[1:] // off a vector's alignment
			all, want := make([][]uint64, rows), make([]int32, rows)
			for i := range all {
				all[i] = words(r, n)
				if i == 5 {
					copy(all[i], q)
				}
				if i == 6 {
					for j := range q {
						all[i][j] = ^q[j]
					}
				}
				for j := range q {
					want[i] += int32(bits.OnesCount64(q[j] ^ all[i][j]))
				}
			}
			segs, block := segmented(all, stride), flat(all, stride)
			for _, k := range counts {
				const canary = 77
				ids, out := picks(r, k, rows), make([]int32, k+1)
				out[k] = canary
				HammingGather(q, segs, stride, ids, out[:k])
				for i, id := range ids {
					if out[i] != want[id] {
						t.Fatalf("gathered row of %d words, %d of %d: %d, want %d", n, i, k, out[i], want[id])
					}
				}
				HammingRows(q, block, stride, out[:k])
				for i := range k {
					if out[i] != want[i] {
						t.Fatalf("row of %d words, %d of %d: %d, want %d", n, i, k, out[i], want[i])
					}
				}
				if out[k] != canary {
					t.Fatalf("%d results of %d words: written behind the end", k, n)
				}
			}
		}
	})
}

// Every place of several segments is found, also as the id that is only prefetched.
func TestHammingReachesEveryRow(t *testing.T) {
	both(t, func(t *testing.T) {
		const rows, n, stride = 3 * SegmentRows, 4, 5
		all := make([][]uint64, rows)
		for i := range all {
			all[i] = make([]uint64, n)
			for bit := range i % 256 {
				all[i][bit/64] |= 1 << (bit % 64)
			}
		}
		r := rand.New(rand.NewPCG(9, 9))
		ids := make([]uint32, rows)
		for i, p := range r.Perm(rows) {
			ids[i] = uint32(p)
		}
		out := make([]int32, rows)
		HammingGather(make([]uint64, n), segmented(all, stride), stride, ids, out)
		for i, id := range ids {
			if out[i] != int32(id%256) {
				t.Errorf("row %d: %d bits, want %d", id, out[i], id%256)
			}
		}
	})
}

func TestSigns(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 10))
		negZero, nan := float32(math.Copysign(0, -1)), float32(math.NaN())
		for _, n := range lengths() {
			v := values(r, n, 1)
			for i := range v {
				switch r.IntN(8) {
				case 0:
					v[i] = 0
				case 1:
					v[i] = negZero
				case 2:
					v[i] = math.Float32frombits(math.Float32bits(nan) | r.Uint32()<<31)
				case 3:
					v[i] = float32(math.Inf(r.IntN(2) - 1))
				}
			}
			got := words(r, Words(n)+1) // what was there does not shine through
			behind := got[Words(n)]
			Signs(v, got[:Words(n)])
			for i := range 64 * Words(n) {
				want := i < n && math.Signbit(float64(v[i]))
				if got[i/64]>>(i%64)&1 == 1 != want {
					t.Fatalf("bit %d of %d values: want %v", i, n, want)
				}
			}
			if got[Words(n)] != behind {
				t.Fatalf("%d values: written behind the end", n)
			}
		}
	})
}
