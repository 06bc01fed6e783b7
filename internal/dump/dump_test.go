package dump

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type payload struct {
	Text  Text    `json:"text"`
	Bytes []byte  `json:"bytes,omitempty"`
	N     float64 `json:"n"`
}

func write(t testing.TB, o Options, f func(w *Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, o)
	if err := errors.Join(f(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sample(w *Writer) error {
	return errors.Join(
		w.Record("kv", []string{"a", "1"}, payload{Text: "x<y>&z", N: 0.1}, map[string]int{"time": 7}),
		w.Record("kv", []string{"a", "2"}, payload{Text: "\xff\x00", Bytes: []byte{0, 255}}, nil),
		w.Record("node", []string{"中"}, payload{}, nil),
	)
}

func readAll(s string) (recs []Record, err error) {
	for r, rerr := range Read(strings.NewReader(s)) {
		if rerr != nil {
			return recs, rerr
		}
		recs = append(recs, r)
	}
	return recs, nil
}

func TestForm(t *testing.T) {
	want := `{"glim_dump":1}
{"kind":"kv","key":["a","1"],"value":{"text":"x<y>&z","n":0.1},"volatile":{"time":7}}
{"kind":"kv","key":["a","2"],"value":{"text":{"base64":"/wA="},"bytes":"AP8=","n":0}}
{"kind":"node","key":["中"],"value":{"text":"","n":0}}
`
	got := write(t, Options{}, sample)
	if !strings.HasPrefix(got, want) || !strings.HasPrefix(got[len(want):], `{"end":{"records":3,"sha256":"`) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if logical := write(t, Options{Logical: true}, sample); strings.Contains(logical, "volatile") || strings.Count(logical, "\n") != 5 {
		t.Errorf("a logical dump holds volatile fields:\n%s", logical)
	}
}

func TestD1_Order(t *testing.T) {
	for name, second := range map[string][2]string{"same key": {"b", "k"}, "lower key": {"b", "a"}, "kind again": {"a", "z"}} {
		w := NewWriter(io.Discard, Options{})
		err := errors.Join(w.Record("a", []string{"k"}, nil, nil), w.Record("b", []string{"k"}, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Record(second[0], []string{second[1]}, nil, nil); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: got %v, want ErrOrder", name, err)
		}
		if err := w.Close(); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: the error did not stick: %v", name, err)
		}
	}
}

func TestD2_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anyText := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")) })
		keys := rapid.SliceOfNDistinct(anyText, 0, 20, rapid.ID).Draw(t, "keys")
		slices.Sort(keys)
		var b bytes.Buffer
		w := NewWriter(&b, Options{})
		for _, k := range keys {
			if err := w.Record("k", []string{k}, payload{Text: Text(k), Bytes: []byte(k)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		recs, err := readAll(b.String())
		if err != nil || len(recs) != len(keys) {
			t.Fatalf("read %d of %d records: %v", len(recs), len(keys), err)
		}
		for i, r := range recs {
			var p payload
			if err := r.Decode(&p, nil); err != nil {
				t.Fatal(err)
			}
			if r.Key[0] != keys[i] || string(p.Text) != keys[i] || string(p.Bytes) != keys[i] {
				t.Fatalf("record %d: %q became %q, %q, %q", i, keys[i], r.Key[0], p.Text, p.Bytes)
			}
		}
	})
}

// D3: every cut and every changed byte is noticed.
func TestD3_Damage(t *testing.T) {
	whole := write(t, Options{}, sample)
	for n := range len(whole) {
		if _, err := readAll(whole[:n]); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrVersion) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
	for i := range whole {
		b := []byte(whole)
		b[i] ^= 1
		if _, err := readAll(string(b)); err == nil {
			t.Fatalf("changed byte %d (%q to %q) went unnoticed", i, whole[i], b[i])
		}
	}
	if _, err := readAll(whole + whole); !errors.Is(err, ErrLine) {
		t.Errorf("two dumps in one stream: %v", err)
	}
	if _, err := readAll(strings.Replace(whole, `"glim_dump":1`, `"glim_dump":2`, 1)); !errors.Is(err, ErrVersion) {
		t.Errorf("version 2: %v", err)
	}
	_, err := readAll(strings.Replace(whole, `"kind":"node"`, `"kind":"node","extra":1`, 1))
	var le *LineError
	if !errors.As(err, &le) || le.Line != 4 {
		t.Errorf("unknown field: got %v, want a LineError of line 4", err)
	}
}

func TestWriterReportsWriteErrors(t *testing.T) {
	w := NewWriter(failing{}, Options{})
	for range 100_000 { // until the buffer is full
		if err := w.Record("a", []string{strings.Repeat("x", w.n+1)}, nil, nil); err != nil {
			return
		}
		if w.n > 1000 {
			break
		}
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzRead(f *testing.F) {
	f.Add(write(f, Options{}, sample))
	f.Add(`{"glim_dump":1}` + "\n")
	f.Fuzz(func(t *testing.T, s string) {
		recs, err := readAll(s)
		if err != nil {
			return
		}
		// What was read without an error can be written again and reads the same.
		var b bytes.Buffer
		w := NewWriter(&b, Options{})
		for _, r := range recs {
			var value, volatile any
			if r.Value != nil {
				value = r.Value
			}
			if r.Volatile != nil {
				volatile = r.Volatile
			}
			if err := w.Record(r.Kind, r.Key, value, volatile); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := readAll(b.String()); err != nil || len(again) != len(recs) {
			t.Fatalf("%d records became %d: %v", len(recs), len(again), err)
		}
	})
}
