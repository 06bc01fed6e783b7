package cluster

import (
	"bytes"
	"reflect"
	"testing"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, uint8(2))
	f.Add(encodeSum(3, []int64{-1, 1 << 40}), uint8(2))
	f.Add((&note{Summary: "s", Keywords: []Keyword{{"t", "ts", 0.5}}, Representatives: []string{"a"}, Size: 2, UpdatedAt: 3, Trusted: true,
		Vector: []float32{1, 0}, Mean: []float32{0, 1}}).encode(), uint8(2))
	f.Add(encodeMember([]uint32{7, 9}), uint8(2))
	f.Add([]byte(`{"dim":2,"next":1}`), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, d uint8) {
		dim := int(d)
		if n, sum, err := decodeSum(b, dim); err == nil {
			if n2, sum2, err := decodeSum(encodeSum(n, sum), dim); err != nil || n2 != n || !reflect.DeepEqual(sum, sum2) {
				t.Errorf("sum %d %v came back as %d %v (%v)", n, sum, n2, sum2, err)
			}
		}
		if n, err := decodeNote(b, dim); err == nil {
			if again, err := decodeNote(n.encode(), dim); err != nil || !bytes.Equal(again.encode(), n.encode()) {
				t.Errorf("description %+v came back as %+v (%v)", n, again, err)
			}
		}
		if cells, err := decodeMember(b); err == nil {
			if again, err := decodeMember(encodeMember(cells)); err != nil || !reflect.DeepEqual(cells, again) {
				t.Errorf("cells %v came back as %v (%v)", cells, again, err)
			}
		}
		if h, err := decodeHead(b); err == nil {
			if _, err := h.encode(); err != nil {
				t.Error(err)
			}
		}
	})
}
