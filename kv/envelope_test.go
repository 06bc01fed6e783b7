package kv

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestEnvelope(t *testing.T) {
	noise := make([]byte, 4096)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for name, c := range map[string]struct {
		in   []byte
		want byte
	}{
		"empty":             {nil, envelopeRaw},
		"one byte":          {[]byte{1}, envelopeRaw},
		"just below":        {bytes.Repeat([]byte("a"), compressFrom-1), envelopeRaw},
		"just from":         {bytes.Repeat([]byte("a"), compressFrom), envelopeZstd},
		"text":              {[]byte(strings.Repeat("The quick brown fox. ", 100)), envelopeZstd},
		"incompressible":    {noise, envelopeRaw},
		"gain too small":    {append(bytes.Repeat([]byte{0}, 300), noise...), envelopeRaw},
		"looks like sealed": {append([]byte{envelopeZstd}, noise[:20]...), envelopeRaw},
	} {
		sealed := sealText(nil, c.in)
		if sealed[0] != c.want {
			t.Errorf("%s: sealed as %d", name, sealed[0])
		}
		if len(sealed) > len(c.in)+1 {
			t.Errorf("%s: %d bytes became %d", name, len(c.in), len(sealed))
		}
		for _, s := range [][]byte{sealed, sealRaw(nil, c.in)} {
			got, err := open([]byte{}, s)
			if err != nil || !bytes.Equal(got, c.in) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
		if got := sealText([]byte("prefix"), c.in); !bytes.Equal(got, append([]byte("prefix"), sealed...)) {
			t.Errorf("%s: sealing does not append", name)
		}
	}
}

// hugeFrame claims to hold 2^40 bytes.
var hugeFrame = []byte{envelopeZstd, 0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 1, 0, 0, 0x01, 0, 0}

func TestEnvelopeRefusesOversizedFrames(t *testing.T) {
	if _, err := open([]byte{}, hugeFrame); !errors.Is(err, ErrCorrupt) {
		t.Errorf("frame of a terabyte: %v", err)
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{envelopeRaw})
	f.Add([]byte{envelopeZstd, 0x28, 0xB5, 0x2F, 0xFD})
	f.Add(sealText(nil, []byte(strings.Repeat("abc", 200))))
	f.Add([]byte{0xFF, 1, 2})
	f.Add(hugeFrame)
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := open([]byte{}, b); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("open: %v", err)
			}
		} else if len(b) > 0 && b[0] == envelopeRaw && !bytes.Equal(v, b[1:]) {
			t.Error("raw value changed")
		}
		for _, s := range [][]byte{sealText(nil, b), sealRaw(nil, b)} {
			if v, err := open([]byte{}, s); err != nil || !bytes.Equal(v, b) {
				t.Errorf("round trip: %d bytes of %d, %v", len(v), len(b), err)
			}
		}
	})
}
