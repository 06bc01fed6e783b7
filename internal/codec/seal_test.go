package codec

import (
	"bytes"
	"errors"
	"testing"
)

// A sealed value is read back under its key; with any bit changed, cut, or under another key it is corrupt.
func TestSeal(t *testing.T) {
	key := []byte("key")
	for _, value := range [][]byte{nil, {0}, []byte("a value of some length")} {
		sealed := Seal(key, bytes.Clone(value))
		if got, err := Unseal(key, sealed); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%q: %q, %v", value, got, err)
		}
		if _, err := Unseal([]byte("kez"), sealed); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q under another key: %v", value, err)
		}
		for bit := range 8 * len(sealed) {
			damaged := bytes.Clone(sealed)
			damaged[bit/8] ^= 1 << (bit % 8)
			if _, err := Unseal(key, damaged); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%q with bit %d changed: %v", value, bit, err)
			}
		}
		for n := range sealed {
			if _, err := Unseal(key, sealed[:n]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes of %q: %v", n, value, err)
			}
		}
	}
}
