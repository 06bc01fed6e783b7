package vector

import "math"

// floor keeps the k largest values it was given, the least of them first (a binary heap).
type floor []float32

// least is the k-th largest value so far, or −Inf while there are fewer.
func (h floor) least(k int) float32 {
	if len(h) < k {
		return float32(math.Inf(-1))
	}
	return h[0]
}

func (h floor) add(v float32, k int) floor {
	if len(h) < k {
		h = append(h, v)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if h[up] <= h[i] {
				break
			}
			h[up], h[i] = h[i], h[up]
			i = up
		}
		return h
	}
	if v <= h[0] {
		return h
	}
	h[0] = v
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	return h
}
