package main

import "fmt"

// maxBandwidthBytes is more than any cache holds.
const maxBandwidthBytes = 512 << 20

// reader measures how fast one thread reads memory, which bounds every scan.
type reader struct {
	words []uint64
	sum   uint64 // keeps the reads from being left out
}

// newReader makes a reader to compare with passes over so many bytes: it reads several times as many, so that
// a cache holds neither or both.
func newReader(passed int) *reader {
	const times = 8
	r := &reader{words: make([]uint64, min(times*passed, maxBandwidthBytes)/8)}
	for i := range r.words {
		r.words[i] = uint64(i) // pages that were never written are all the same one
	}
	return r
}

// measure returns the bytes a second of one pass.
func (r *reader) measure() (float64, error) {
	took, err := timed(func() error {
		var a, b, c, d uint64
		for w := r.words; len(w) >= 8; w = w[8:] {
			a += w[0] + w[4]
			b += w[1] + w[5]
			c += w[2] + w[6]
			d += w[3] + w[7]
		}
		r.sum += a + b + c + d
		return nil
	})
	if err != nil || took <= 0 {
		return 0, fmt.Errorf("the clock gave %v for a pass over memory: %w", took, err)
	}
	return float64(8*len(r.words)) / took.Seconds(), nil
}
