package vector

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/glimdb/db/kv"
)

func FuzzDecodeMeta(f *testing.F) {
	f.Add(encodeMeta(newCollectionID(7, 3), Config{Metric: L2, Dim: 384, Model: "m", M: 16, EfConstruction: 128}))
	f.Add(encodeMeta(newCollectionID(7, 3), Config{Dim: 8, M: 4, EfConstruction: 16, Kind: IVF, ExtendCandidates: true}))
	f.Add([]byte{})
	f.Add([]byte{1, 255, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		id, c, err := decodeMeta("c", in)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("error of another kind: %v", err)
			}
			return
		}
		again, d, err := decodeMeta("c", encodeMeta(id, c))
		if err != nil || again != id || d != c {
			t.Errorf("%v %v became %v %v: %v", id, c, again, d, err)
		}
	})
}

// A configuration is what was stored; records of stores from before a field had it at its default; what no version
// wrote is corruption.
func TestDecodeMeta(t *testing.T) {
	full := Config{Metric: Dot, Dim: 9, Model: "m", Kind: IVF, Quantization: Binary, M: 5, EfConstruction: 17, ExtendCandidates: true, KeepPruned: true}
	stored := encodeMeta(newCollectionID(7, 3), full)
	before := full
	before.ExtendCandidates, before.KeepPruned = false, false
	first := before
	first.Kind, first.Quantization = HNSW, Int8
	last := func(n byte) []byte { return append(bytes.Clone(stored[:len(stored)-1]), n) }
	for _, is := range []struct {
		name string
		b    []byte
		want Config
	}{
		{"full", stored, full},
		{"before choices", last(byte(Binary)), before},
		{"before kinds", stored[:len(stored)-2], first},
		{"half of what kinds added", stored[:len(stored)-1], Config{}},
		{"cut", stored[:len(stored)-3], Config{}},
		{"longer", append(bytes.Clone(stored), 0), Config{}},
		{"no quantization", last(byte(Binary + 1)), Config{}},
		{"a choice that is none", last(choices + 1<<4), Config{}},
	} {
		switch _, got, err := decodeMeta("c", is.b); {
		case is.want == Config{} && !errors.Is(err, kv.ErrCorrupt):
			t.Errorf("%s: %v, %v", is.name, got, err)
		case is.want != Config{} && (err != nil || got != is.want):
			t.Errorf("%s: %v, %v, want %v", is.name, got, err, is.want)
		}
	}
}

func FuzzDecodeRow(f *testing.F) {
	f.Add(appendRow(nil, "id", []float32{1, -2.5, float32(math.Inf(1))}))
	f.Add(appendRow(nil, "", []float32{0, 0, 0}))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0x7F})
	f.Fuzz(func(t *testing.T, in []byte) {
		vec := make([]float32, 3)
		id, err := decodeRow(in, vec)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("error of another kind: %v", err)
			}
			return
		}
		if out := appendRow(nil, string(id), vec); !bytes.Equal(out[len(out)-12:], in[len(in)-12:]) {
			t.Errorf("%x became %x", in, out)
		}
	})
}

func TestCollectionIDTellsItsCommit(t *testing.T) {
	for _, lsn := range []kv.LSN{1, 77, 1<<48 - 1} {
		if id := newCollectionID(lsn, createdPerCommit-1); id.born() != lsn {
			t.Errorf("LSN %d became %d", lsn, id.born())
		}
	}
}
