package codec

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The bytes on disk. A change here is a change of format.
func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  []byte
		want string
	}{
		{"key string", AppendKeyString(nil, "a\x00b"), "6100ff620001"},
		{"empty key string", AppendKeyString(nil, ""), "0001"},
		{"key uint64", AppendKeyUint64(nil, 0x0102030405060708), "0102030405060708"},
		{"key uint32", AppendKeyUint32(nil, 0x01020304), "01020304"},
		{"uvarint", AppendUvarint(nil, 300), "ac02"},
		{"varint", AppendVarint(nil, -2), "03"},
		{"string", AppendString(nil, "né"), "036ec3a9"},
		{"strings", AppendStrings(nil, []string{"a", ""}), "02016100"},
		{"float64", AppendFloat64(nil, 1.5), "000000000000f83f"},
		{"bool", AppendBool(AppendBool(nil, true), false), "0100"},
	} {
		if got := hex.EncodeToString(tc.got); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

type part struct {
	s string
	n uint64
	m uint32
}

func (p part) key() []byte {
	return AppendKeyUint32(AppendKeyUint64(AppendKeyString(nil, p.s), p.n), p.m)
}

func (p part) compare(q part) int {
	return cmp.Or(strings.Compare(p.s, q.s), cmp.Compare(p.n, q.n), cmp.Compare(p.m, q.m))
}

func drawPart(t *rapid.T, label string) part {
	// Few different bytes, those of the escape among them, so that near misses are frequent.
	b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}), 0, 6).Draw(t, label)
	return part{string(b), rapid.Uint64().Draw(t, label+".n"), rapid.Uint32().Draw(t, label+".m")}
}

func TestC1_KeyOrderIsLogicalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawPart(t, "p"), drawPart(t, "q")
		if got, want := bytes.Compare(p.key(), q.key()), p.compare(q); got != want {
			t.Fatalf("keys of %+v and %+v compare as %d, the parts as %d", p, q, got, want)
		}
	})
}

func TestC2_KeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawPart(t, "p"), drawPart(t, "q")
		s, rest, err := KeyString(p.key())
		n, rest, err2 := KeyUint64(rest)
		m, rest, err3 := KeyUint32(rest)
		if err := errors.Join(err, err2, err3); err != nil || (part{s, n, m}) != p || len(rest) != 0 {
			t.Fatalf("%+v became %q %d %d, %d bytes left, %v", p, s, n, m, len(rest), err)
		}
		if a, b := AppendKeyString(nil, p.s), AppendKeyString(nil, q.s); p.s != q.s && bytes.HasPrefix(a, b) {
			t.Fatalf("the key part of %q begins with that of %q", p.s, q.s)
		}
	})
}

func TestC2_ValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Uint64().Draw(t, "u")
		i := rapid.Int64().Draw(t, "i")
		n := rapid.IntRange(0, math.MaxInt32).Draw(t, "n")
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		ss := rapid.SliceOf(rapid.String()).Draw(t, "ss")
		f := rapid.Float64().Draw(t, "f")
		b := rapid.Bool().Draw(t, "b")
		var v []byte
		v = AppendVarint(AppendUvarint(v, u), i)
		v = AppendUvarint(v, uint64(n))
		v = AppendString(AppendString(v, s), s)
		v = AppendFloat64(AppendStrings(v, ss), f)
		v = append(AppendBool(v, b), 0x7F)
		for _, r := range []*Reader{NewReader(v), NewTextReader(v)} {
			ok := r.Uvarint() == u && r.Varint() == i && r.Int() == n && r.String() == s && string(r.Bytes()) == s &&
				slices.Equal(r.Strings(), ss) && r.Float64() == f && r.Bool() == b && r.Byte() == 0x7F
			if err := r.Done(); !ok || err != nil {
				t.Fatalf("a value came back changed: %v", err)
			}
		}
		cut := NewReader(v[:rapid.IntRange(0, len(v)-1).Draw(t, "cut")])
		cut.Uvarint()
		cut.Varint()
		cut.Int()
		_ = cut.String()
		cut.Bytes()
		cut.Strings()
		cut.Float64()
		cut.Bool()
		cut.Byte()
		if err := cut.Done(); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("a cut value was read without an error: %v", err)
		}
	})
}

// A list read at once is what its values are one by one, whatever their sizes, and stops at the same places.
func TestUvarint32s(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) uint32 {
			return rapid.Uint32().Draw(t, "v") >> rapid.IntRange(0, 31).Draw(t, "shift")
		})).Draw(t, "list")
		var v []byte
		for _, u := range want {
			v = AppendUvarint(v, uint64(u))
		}
		r, got := NewReader(append(v, 0x7F)), make([]uint32, len(want))
		r.Uvarint32s(got)
		if !slices.Equal(got, want) || r.Byte() != 0x7F || r.Done() != nil {
			t.Fatalf("%v became %v: %v", want, got, r.Done())
		}
		if len(want) == 0 {
			return
		}
		cut := NewReader(v[:rapid.IntRange(0, len(v)-1).Draw(t, "cut")])
		if cut.Uvarint32s(got); !errors.Is(cut.Err(), ErrCorrupt) {
			t.Fatalf("a cut list was read without an error: %v", cut.Err())
		}
	})
	r := NewReader(AppendUvarint(nil, math.MaxUint32+1))
	if r.Uvarint32s(make([]uint32, 1)); !errors.Is(r.Err(), ErrCorrupt) {
		t.Error("a value beyond 32 bits was read")
	}
}

// What a reader returned as a string is not changed by what becomes of its input.
func TestTextReaderKeepsStrings(t *testing.T) {
	v := AppendStrings(AppendString(nil, "one"), []string{"two", "", "three"})
	for _, r := range []*Reader{NewReader(v), NewTextReader(v)} {
		input := slices.Clone(v)
		first, rest := r.String(), r.Strings()
		for i := range v {
			v[i] = 'x'
		}
		if first != "one" || !slices.Equal(rest, []string{"two", "", "three"}) {
			t.Fatalf("%q, %q", first, rest)
		}
		copy(v, input)
	}
}

func TestReaderFailureSticks(t *testing.T) {
	r := NewReader([]byte{5, 'a'})
	if got := r.String(); got != "" || !errors.Is(r.Err(), ErrCorrupt) {
		t.Errorf("String = %q, %v", got, r.Err())
	}
	first := r.Err()
	if r.Uvarint() != 0 || r.Bool() || r.Len() != 0 || !errors.Is(r.Err(), first) || !errors.Is(r.Done(), first) {
		t.Errorf("after a failure: %v, then %v", first, r.Err())
	}
	if r := NewReader([]byte{1, 1}); !r.Bool() || !errors.Is(r.Done(), ErrCorrupt) {
		t.Error("left-over bytes went unnoticed")
	}
	if r := NewReader([]byte{2}); r.Bool() || r.Err() == nil {
		t.Error("2 is no bool")
	}
	if r := NewReader(AppendUvarint(nil, math.MaxInt32+1)); r.Int() != 0 || r.Err() == nil {
		t.Error("a number beyond an int was read")
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, tc := range []struct{ in, want string }{{"a", "b"}, {"a\xff", "b"}, {"\xff\xff", ""}, {"", ""}, {"a\x00", "a\x01"}} {
		in := []byte(tc.in)
		got := PrefixEnd(in)
		if string(got) != tc.want || (got == nil) != (tc.want == "") || string(in) != tc.in {
			t.Errorf("PrefixEnd(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func FuzzKeyString(f *testing.F) {
	f.Add([]byte("a\x00\xff\x00\x01rest"))
	f.Add([]byte("\x00"))
	f.Add([]byte("\x00\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, err := KeyString(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if again := append(AppendKeyString(nil, s), rest...); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %q, which encodes to %x", b, s, again)
		}
	})
}

// FuzzReader reads arbitrary bytes with an arbitrary program: no panic, no allocation beyond the input.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, AppendStrings(nil, []string{"a", "b"}))
	f.Add([]byte{4}, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Add([]byte{3}, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Fuzz(func(t *testing.T, program, b []byte) {
		r := NewReader(b)
		for _, op := range program {
			before := r.Len()
			size := 0
			switch op % 8 {
			case 0:
				r.Uvarint()
			case 1:
				r.Varint()
			case 2:
				r.Int()
			case 3:
				size = len(r.Bytes())
			case 4:
				for _, s := range r.Strings() {
					size += 1 + len(s)
				}
			case 5:
				r.Float64()
			case 6:
				r.Bool()
			case 7:
				r.Byte()
			}
			if size > before || r.Len() > before {
				t.Fatalf("op %d returned %d bytes of %d, %d left", op%8, size, before, r.Len())
			}
		}
		if err := r.Done(); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzKeyNumbers reads arbitrary bytes as numbers of keys: what is accepted encodes to the same bytes.
func FuzzKeyNumbers(f *testing.F) {
	f.Add(AppendKeyUint32(AppendKeyUint64(nil, 1<<40), 7))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, rest, err := KeyUint64(b)
		if err == nil && !bytes.Equal(append(AppendKeyUint64(nil, n), rest...), b) {
			t.Fatalf("%x became %d, %x left", b, n, rest)
		}
		m, rest, err2 := KeyUint32(b)
		if err2 == nil && !bytes.Equal(append(AppendKeyUint32(nil, m), rest...), b) {
			t.Fatalf("%x became %d, %x left", b, m, rest)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) || err2 != nil && !errors.Is(err2, ErrCorrupt) {
			t.Fatal(err, err2)
		}
		if (err == nil) != (len(b) >= 8) || (err2 == nil) != (len(b) >= 4) {
			t.Fatalf("%d bytes: %v, %v", len(b), err, err2)
		}
	})
}

// TestIntFitsReader: whatever count a stranger reports, what AppendInt wrote is what Int reads.
func TestIntFitsReader(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 300: 300, 1<<31 - 1: 1<<31 - 1, 1 << 40: 1<<31 - 1, math.MaxInt: 1<<31 - 1, -1: 0, math.MinInt: 0} {
		r := NewReader(AppendInt(nil, n))
		if got := r.Int(); got != want || r.Done() != nil {
			t.Errorf("%d became %d, %v; want %d", n, got, r.Done(), want)
		}
	}
}
