package codec

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

func TestProps(t *testing.T) {
	p := map[string]any{"": "", "b": true, "c": false, "f": -0.5, "i": int64(math.MinInt64), "l": []string{"", "x"}, "n": []string(nil), "s": "é\x00"}
	b := AppendProps(nil, p)
	r := NewReader(append(bytes.Clone(b), 7))
	if got := r.Props(); !reflect.DeepEqual(got, p) || r.Len() != 1 {
		t.Errorf("%v, %d bytes left, %v; want %v", got, r.Len(), r.Err(), p)
	}
	for n := range b {
		if r := NewReader(b[:n]); r.Props() != nil || !errors.Is(r.Err(), ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", n, len(b), r.Err())
		}
	}
	if r := NewReader(AppendProps(nil, nil)); r.Props() != nil || r.Done() != nil {
		t.Errorf("nothing: %v", r.Err())
	}
	for name, b := range map[string][]byte{
		"keys out of order": {2, 1, 'b', 't', 1, 'a', 't'},
		"a key twice":       {2, 1, 'a', 't', 1, 'a', 't'},
		"an unknown tag":    {1, 1, 'a', 'z'},
		"many":              {200, 1, 1, 'a', 't'},
		"no number":         AppendFloat64([]byte{1, 1, 'a', 'f'}, math.NaN()),
		"infinity":          AppendFloat64([]byte{1, 1, 'a', 'f'}, math.Inf(-1)),
	} {
		if r := NewReader(b); r.Props() != nil || !errors.Is(r.Err(), ErrCorrupt) {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
}

// FuzzProps: what can be read is read again after writing it.
func FuzzProps(f *testing.F) {
	f.Add(AppendProps(nil, map[string]any{"a": int64(1), "b": 2.5, "c": []string{"x"}, "d": false, "e": "s"}))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(in)
		p := r.Props()
		if r.Err() != nil {
			return
		}
		again := NewReader(AppendProps(nil, p))
		if q := again.Props(); again.Done() != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%v became %v, %v", p, q, again.Err())
		}
	})
}
