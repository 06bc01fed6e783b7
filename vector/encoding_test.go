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
