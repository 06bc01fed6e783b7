package postings

import (
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/glimdb/db/kv"
)

func sampleSegment() *segment {
	s := &segment{items: []member{{3, 4}, {5, 0}, {9, 300}}, terms: map[string][]posting{}}
	s.terms["né"] = []posting{{3, 4, 4}, {9, 1, 300}}
	s.terms["a\x00"] = []posting{{9, 299, 300}}
	return s
}

// The bytes on disk. A change here is a change of format.
func TestGoldenEncoding(t *testing.T) {
	x := handle("ws", "x\x00", Config{})
	for _, tc := range []struct {
		name string
		got  []byte
		want string
	}{
		{"prefix", x.prefix, "027773000169" + "7800ff0001"},
		{"id key", x.idKey("né")[len(x.prefix):], "736ec3a9"},
		{"item key", x.itemKey(0x01020304)[len(x.prefix):], "6901020304"},
		{"segment key", x.segmentKey(0x01020304)[len(x.prefix):], "7901020304"},
		{"block key", x.blockKey("né", 258)[len(x.prefix):], "706ec3a90001" + "00000102"},
		{"config", Config{Analyser: "t/1"}.encode(layout), "0103742f31"},
		{"counters", (&counters{next: 3000, items: 5, length: 300, segments: 1, folded: 2}).encode(), "b81705ac020201"},
		{"ordinal", encodeOrdinal(258), "00000102"},
		{"item", encodeItem(300, "né"), "ac026ec3a9"},
		{"block", appendBlock(nil, 1, []posting{{1025, 1, 7}, {1026, 5, 300}}), "020507" + "0207" + "0103ac02"},
		{"segment", sampleSegment().encode(), "03" + "0004" + "0100" + "03ac02" + "02" + "00000000" +
			"026100" + "01" + "03" + "02ab02" + "036ec3a9" + "02" + "04" + "0004" + "0101"},
	} {
		if got := hex.EncodeToString(tc.got); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// FuzzSegment: no panic whatever the bytes; look-ups agree with the whole; what was accepted is encoded to itself.
func FuzzSegment(f *testing.F) {
	f.Add(uint32(3), sampleSegment().encode(), "né")
	many := &segment{items: []member{{1024, 40}}, terms: map[string][]posting{}}
	for i := range 40 {
		many.terms[string(rune('A'+i))] = []posting{{1024, 1, 40}}
	}
	f.Add(uint32(1024), many.encode(), "Q")
	f.Add(uint32(0), []byte{}, "")
	f.Fuzz(func(t *testing.T, base uint32, value []byte, term string) {
		var v view
		if err := v.open(ordinal(base), value); err != nil {
			mustBeCorrupt(t, err)
			return
		}
		found, err := v.find(nil, term)
		if err != nil {
			mustBeCorrupt(t, err)
		}
		s, err := decodeSegment(ordinal(base), value)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if !reflect.DeepEqual(found, s.terms[term]) {
			t.Fatalf("%q: found %v, holds %v", term, found, s.terms[term])
		}
		again, err := decodeSegment(ordinal(base), s.encode())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v encoded and decoded is %+v, %v", s, again, err)
		}
	})
}

// FuzzBlock: no panic whatever the bytes; what is accepted survives encoding.
func FuzzBlock(f *testing.F) {
	f.Add(uint32(1), appendBlock(nil, 1, []posting{{1025, 1, 7}, {1026, 5, 300}}))
	f.Add(uint32(1<<22-1), appendBlock(nil, 1<<22-1, []posting{{1<<32 - 1, 1, 1}}))
	f.Fuzz(func(t *testing.T, e uint32, value []byte) {
		at := epoch(e % (1 << 22))
		list, err := decodeBlock(nil, at, value)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		again, err := decodeBlock(nil, at, appendBlock(nil, at, list))
		if err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%v encoded and decoded is %v, %v", list, again, err)
		}
	})
}

// FuzzRecords: the small values.
func FuzzRecords(f *testing.F) {
	f.Add(Config{Analyser: "t/1"}.encode(layout))
	f.Add((&counters{next: 3000, items: 5, length: 300, segments: 1, folded: 2}).encode())
	f.Add(encodeItem(300, "né"))
	f.Add(encodeOrdinal(258))
	f.Fuzz(func(t *testing.T, v []byte) {
		if c, err := decodeConfig(v, layout); err == nil {
			if again, err := decodeConfig(c.encode(layout), layout); err != nil || again != c {
				t.Fatal(again, err)
			}
		}
		if c, err := decodeCounters(v); err == nil {
			if again, err := decodeCounters(c.encode()); err != nil || again != c {
				t.Fatal(again, err)
			}
		}
		if n, id, err := decodeItem(v); err == nil {
			if m, again, err := decodeItem(encodeItem(int(n), string(id))); err != nil || m != n || string(again) != string(id) {
				t.Fatal(m, again, err)
			}
		}
		if o, err := decodeOrdinal(v); err == nil && string(encodeOrdinal(o)) != string(v) {
			t.Fatal(o)
		}
	})
}

func mustBeCorrupt(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, kv.ErrCorrupt) {
		t.Fatal(err)
	}
}
