package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFloat32s(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := 0; n <= 130; n++ {
		want := make([]float32, n)
		for i := range want {
			want[i] = float32(r.NormFloat64())
		}
		var raw []byte
		for _, f := range want {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		src := append([]byte{0}, raw...)[1:] // unaligned
		got, slow := make([]float32, n), make([]float32, n)
		Float32s(got, src)
		float32sGo(slow, src)
		if !slices.Equal(got, want) || !slices.Equal(slow, want) {
			t.Fatalf("%d values: %v and %v, want %v", n, got, slow, want)
		}
		head := []byte{7}
		if b := AppendFloat32s(head, want); b[0] != 7 || !slices.Equal(b[1:], raw) || !slices.Equal(appendFloat32sGo(nil, want), raw) {
			t.Fatalf("%d values: %v appended, want %v", n, b, raw)
		}
	}
}

func TestInt8s(t *testing.T) {
	for n := 0; n <= 256; n++ {
		want, raw := make([]int8, n), make([]byte, n)
		for i := range want {
			want[i], raw[i] = int8(i), byte(int8(i))
		}
		got := make([]int8, n)
		Int8s(got, raw)
		head := []byte{7}
		if b := AppendInt8s(head, want); !slices.Equal(got, want) || b[0] != 7 || !slices.Equal(b[1:], raw) {
			t.Fatalf("%d values: %v read, %v appended", n, got, b)
		}
	}
}
