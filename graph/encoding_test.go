package graph

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// The bytes on disk. A change here is a change of format.
func TestGoldenEncoding(t *testing.T) {
	g := handle("ws", "g\x00", Config{})
	for _, tc := range []struct {
		name string
		got  []byte
		want string
	}{
		{"prefix", g.prefix, "027773000167" + "6700ff0001"},
		{"name key", g.nameKey("né")[len(g.prefix):], "736ec3a9"},
		{"id key", g.idKey(kindID, 0x01020304)[len(g.prefix):], "6901020304"},
		{"out key", g.pairKey(kindOut, 1, 2, "t")[len(g.prefix):], "6f000000010000000274"},
		{"shelf key", g.shelfKey(1, shelfEntry{3, 1.5, "né"})[len(g.prefix):], "6800000001" + "fc" + "4007ffffffffffff" + "6ec3a9"},
		{"fold key", g.foldKey("né", "Né")[len(g.prefix):], "66" + "2352a319273b5ced" + "4ec3a9"},
		{"config", appendConfig(nil, Config{Directed: true}), "0301"},
		{"counters", (&counters{next: 300, nodes: 2, edges: 1}).encode(), "ac020201"},
		{"weight", appendWeight(nil, 1.5), "000000000000f83f"},
		{"degree page", appendPage(nil, &degreePage{1: 5, 3: 300}), "000500ac02"},
		{"empty degree page", appendPage(nil, &degreePage{}), ""},
		{"node", encodeNode(Node{Type: "t", Props: Props{"s": "x", "i": int64(-1), "f": 0.5, "t": true, "n": false, "l": []string{"a", ""}}}),
			"0174" + "06" + "016666" + "000000000000e03f" + "016969" + "01" + "016c6c" + "02016100" + "016e6e" + "017373" + "0178" + "017474"},
		{"edge", encodeEdge(Edge{Weight: 1, Props: Props{"k": "v"}}), "000000000000f03f" + "01" + "016b73" + "0176"},
	} {
		if got := hex.EncodeToString(tc.got); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestUnknownLayoutIsRefused(t *testing.T) {
	s := newStore(t)
	s.update(func(b *kv.Batch) error {
		return b.Set(handle("", "g", Config{}).key(kindConfig, 0), []byte{layout + 1, 0})
	})
	if _, err := Open(s.view(), "", "g"); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("Open of a later layout: %v", err)
	}
	s.update(func(b *kv.Batch) error {
		if _, err := Create(b, "", "g", Config{}); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("Create over a later layout: %v", err)
		}
		return nil
	})
}

func FuzzDecodeNode(f *testing.F) {
	f.Add(encodeNode(Node{Type: "t", Props: Props{"s": "x", "i": int64(-1), "f": 0.5, "t": true, "n": false, "l": []string{"a", ""}}}))
	f.Add(encodeNode(Node{}))
	f.Add([]byte{0, 0xFF, 0xFF, 0xFF, 0x7F})
	f.Add([]byte{0, 2, 1, 'a', 't', 1, 'a', 't'})
	f.Fuzz(func(t *testing.T, v []byte) {
		n, err := decodeNode(v)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatalf("error %v is not ErrCorrupt", err)
			}
			return
		}
		enc := encodeNode(n)
		again, err := decodeNode(enc)
		if err != nil || !bytes.Equal(encodeNode(again), enc) {
			t.Fatalf("%x decodes to %+v, which encodes to %x (%v)", v, n, enc, err)
		}
	})
}

func FuzzDecodeEdge(f *testing.F) {
	f.Add(encodeEdge(Edge{Weight: 1, Props: Props{"k": "v"}}))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, v []byte) {
		e, err := decodeEdge(v)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatalf("error %v is not ErrCorrupt", err)
			}
			return
		}
		enc := encodeEdge(e)
		again, err := decodeEdge(enc)
		if err != nil || !bytes.Equal(encodeEdge(again), enc) {
			t.Fatalf("%x decodes to %+v, which encodes to %x (%v)", v, e, enc, err)
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	f.Add(appendPage(nil, &degreePage{1: 5, 3: 300, 63: 1 << 31}))
	f.Add(bytes.Repeat([]byte{1}, pageSize+1))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Fuzz(func(t *testing.T, v []byte) {
		var p, again degreePage
		if err := decodePage(v, &p); err != nil {
			return
		}
		if err := decodePage(appendPage(nil, &p), &again); err != nil || again != p {
			t.Fatalf("%x: %v", v, err)
		}
	})
}

func FuzzDecodeSmall(f *testing.F) {
	f.Add(appendConfig(nil, Config{}))
	f.Add((&counters{next: 300}).encode())
	f.Add(codec.AppendKeyUint32(nil, 7))
	f.Fuzz(func(t *testing.T, v []byte) {
		if c, err := decodeConfig(v); err == nil {
			if again, err := decodeConfig(appendConfig(nil, c)); err != nil || again != c {
				t.Fatalf("config %x: %v", v, err)
			}
		}
		if c, err := decodeCounters(v); err == nil {
			if again, err := decodeCounters(c.encode()); err != nil || !reflect.DeepEqual(again, c) {
				t.Fatalf("counters %x: %v", v, err)
			}
		}
		if id, err := decodeID(v); err == nil && (id == 0 || !bytes.Equal(codec.AppendKeyUint32(nil, uint32(id)), v)) {
			t.Fatalf("id %x: %d", v, id)
		}
	})
}
