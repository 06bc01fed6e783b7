package simd

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n elements that end where memory that may not be touched begins.
func guarded[T float32 | int8 | int32 | uint32 | uint64](t *testing.T, n int) []T {
	t.Helper()
	size := n * int(unsafe.Sizeof(*new(T)))
	page := syscall.Getpagesize()
	usable := max(1, (size+page-1)/page) * page
	mem, err := syscall.Mmap(-1, 0, usable+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(mem[usable:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[usable-size])), n)
}

// M3: with every slice at the end of its memory, a kernel that reads or writes one element too many
// faults. SetPanicOnFault, which holds for one goroutine, makes that a panic of this test.
func TestNoKernelLeavesItsSlices(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, dim := range []int{1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 40, 48, 63, 64, 72, 80, 96, 112, 128, 136} {
			t.Run("", func(t *testing.T) { // unmaps after each
				defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
				a, b := guarded[float32](t, dim), guarded[float32](t, dim)
				x, y := guarded[int8](t, dim), guarded[int8](t, dim)
				for i := range a {
					a[i], b[i] = r.Float32(), r.Float32()
				}
				PrefetchRow(a)
				within(t, "dot", Dot(a, b), exactDot(a, b))
				within(t, "l2", L2(a, b), exactL2(a, b))
				Quantize(a, x, 127/AbsMax(a))
				Quantize(b, y, 127/AbsMax(b))
				signed, twin := guarded[uint64](t, Words(dim)), make([]uint64, Words(dim))
				Signs(a, signed)
				if signsGo(a, twin); !slices.Equal(signed, twin) {
					t.Errorf("signs of %d values: %x, want %x", dim, signed, twin)
				}
				product := DotI8(x, y)

				// The last rows of a segment end at its end.
				seg, codeSeg := guarded[float32](t, SegmentRows*dim), guarded[int8](t, SegmentRows*dim)
				copy(seg[len(seg)-dim:], b)
				copy(codeSeg[len(codeSeg)-dim:], y)
				for n := 1; n <= 9; n++ {
					ids, out, sums := guarded[uint32](t, n), guarded[float32](t, n), guarded[int32](t, n)
					for i := range ids {
						ids[i] = uint32(SegmentRows - n + i)
					}
					DotGather(a, []*float32{&seg[0]}, dim, ids, out)
					within(t, "gathered dot", out[n-1], exactDot(a, b))
					L2Gather(a, []*float32{&seg[0]}, dim, ids, out)
					within(t, "gathered l2", out[n-1], exactL2(a, b))
					DotRows(a, seg[len(seg)-n*dim:], dim, out)
					within(t, "dot of rows", out[n-1], exactDot(a, b))
					L2Rows(a, seg[len(seg)-n*dim:], dim, out)
					within(t, "l2 of rows", out[n-1], exactL2(a, b))
					DotI8Gather(x, []*int8{&codeSeg[0]}, dim, ids, sums)
					if sums[n-1] != product {
						t.Errorf("gathered product of %d codes: %d, want %d", dim, sums[n-1], product)
					}
					DotI8Rows(x, codeSeg[len(codeSeg)-n*dim:], dim, sums)
					if sums[n-1] != product {
						t.Errorf("row product of %d codes: %d, want %d", dim, sums[n-1], product)
					}
				}
			})
		}
		for words := 1; words <= 17; words++ {
			t.Run("", func(t *testing.T) {
				defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
				q, seg := guarded[uint64](t, words), guarded[uint64](t, SegmentRows*words)
				for i := range q {
					q[i] = r.Uint64()
				}
				last := seg[len(seg)-words:]
				last[words-1] = r.Uint64()
				want := hammingGo(q, last)
				for n := 1; n <= 9; n++ {
					ids, sums := guarded[uint32](t, n), guarded[int32](t, n)
					for i := range ids {
						ids[i] = uint32(SegmentRows - n + i)
					}
					HammingGather(q, []*uint64{&seg[0]}, words, ids, sums)
					if sums[n-1] != want {
						t.Errorf("gathered row of %d words differs in %d bits, want %d", words, sums[n-1], want)
					}
					HammingRows(q, seg[len(seg)-n*words:], words, sums)
					if sums[n-1] != want {
						t.Errorf("row of %d words differs in %d bits, want %d", words, sums[n-1], want)
					}
				}
			})
		}
	})
}
