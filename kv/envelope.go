package kv

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The first byte of every stored value. These bytes are on disk and may never change their meaning.
const (
	envelopeRaw  byte = 0
	envelopeZstd byte = 1
)

const (
	// compressFrom is the size from which compression is tried: below it the zstd frame header
	// (about 12 bytes) and the decode call cost more than they save.
	compressFrom = 256
	// compressGain is the smallest saving, as a fraction 1/compressGain of the input, that is kept.
	compressGain = 8
	// maxDecoded bounds what one value may decompress to, so that a damaged frame cannot exhaust memory. No
	// batch could have held more.
	maxDecoded = MaxBatchBytes
)

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	// EncodeAll is stateless and safe for concurrent use; one encoder serves the process.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(true))
	if err != nil {
		panic(err) // fixed, valid options
	}
	return e
})

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxDecoded))
	if err != nil {
		panic(err) // fixed, valid options
	}
	return d
})

func sealRaw(dst, value []byte) []byte { return append(append(dst, envelopeRaw), value...) }

func sealText(dst, value []byte) []byte {
	if len(value) >= compressFrom {
		n := len(dst)
		dst = zstdEncoder().EncodeAll(value, append(dst, envelopeZstd))
		if len(dst)-n-1 <= len(value)-len(value)/compressGain {
			return dst
		}
		dst = dst[:n]
	}
	return sealRaw(dst, value)
}

// open appends the content of a sealed value to dst. For a raw value with a nil dst it returns a
// subslice of sealed.
func open(dst, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, fmt.Errorf("%w: value without envelope", ErrCorrupt)
	}
	switch sealed[0] {
	case envelopeRaw:
		if dst == nil {
			return sealed[1:], nil
		}
		return append(dst, sealed[1:]...), nil
	case envelopeZstd:
		out, err := zstdDecoder().DecodeAll(sealed[1:], dst)
		if err != nil {
			return nil, fmt.Errorf("%w: zstd value: %w", ErrCorrupt, err)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("%w: unknown value envelope %#x", ErrCorrupt, sealed[0])
	}
}
