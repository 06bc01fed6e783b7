package simd

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// littleEndian tells whether float32 values lie in memory as they are stored.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Float32s fills dst from four little-endian bytes a value; src holds exactly that many. It costs one copy
// where memory has that order anyway.
func Float32s(dst []float32, src []byte) {
	checkSame(4*len(dst), len(src))
	if len(dst) == 0 {
		return
	}
	if littleEndian {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(src)), src)
		return
	}
	float32sGo(dst, src)
}

// AppendFloat32s appends the values of src, four little-endian bytes each, as Float32s reads them.
func AppendFloat32s(dst []byte, src []float32) []byte {
	if len(src) == 0 {
		return dst
	}
	if littleEndian {
		return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), 4*len(src))...)
	}
	return appendFloat32sGo(dst, src)
}

func appendFloat32sGo(dst []byte, src []float32) []byte {
	for _, f := range src {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst
}

func float32sGo(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// Int8s fills dst from a byte a value; src holds exactly that many.
func Int8s(dst []int8, src []byte) {
	checkSame(len(dst), len(src))
	if len(dst) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)), src)
	}
}

// AppendInt8s appends the values of src, a byte each, as Int8s reads them.
func AppendInt8s(dst []byte, src []int8) []byte {
	if len(src) == 0 {
		return dst
	}
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), len(src))...)
}
