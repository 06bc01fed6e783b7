package main

import "fmt"

// bandwidthBytes is more than any cache holds.
const bandwidthBytes = 512 << 20

// reader measures how fast one thread reads memory, which bounds every scan.
type reader struct {
	words []uint64
	sum   uint64 // keeps the reads from being left out
}

func newReader() *reader {
	r := &reader{words: make([]uint64, bandwidthBytes/8)}
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
	return bandwidthBytes / took.Seconds(), nil
}

// scanRate is the share of the read bandwidth at which the exact scan goes through the int8 codes, by round.
func (r *race) scanRate(x *racer, k int) span {
	var shares []float64
	codes := float64(r.e.data.base.rows()) * float64(r.e.data.base.dim)
	for round, rate := range r.bandwidth {
		for _, micros := range x.series[k].micros {
			shares = append(shares, codes/(micros[round]/1e6)/rate)
		}
	}
	return spanOf(shares)
}
