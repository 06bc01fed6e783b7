package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// numbered is row i of the test files: found by its first value.
func numbered(i, dim int) []float32 {
	v := make([]float32, dim)
	for j := range v {
		v[j] = 1 / float32(j+1)
	}
	v[0] = float32(i)
	return v
}

// vecFile returns n numbered vectors in a format.
func vecFile(t interface{ Fatalf(string, ...any) }, format string, n, dim int) []byte {
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatalf("%v", err)
		}
	}
	switch format {
	case "fvecs":
		for i := range n {
			put(int32(dim))
			put(numbered(i, dim))
		}
	case "npy", "npy2":
		descr, version := "<f4", byte(1)
		if format == "npy2" {
			descr, version = "<f8", 2
		}
		b.Write(npyFile(version, fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, n, dim)))
		for i := range n {
			for _, x := range numbered(i, dim) {
				if version == 1 {
					put(x)
				} else {
					put(float64(x))
				}
			}
		}
	case "jsonl":
		for i := range n {
			id := any(i)
			if i%2 == 1 {
				id = strconv.Itoa(i)
			}
			line, err := json.Marshal(map[string]any{"id": id, "vector": numbered(i, dim), "text": "null"})
			if err != nil {
				t.Fatalf("%v", err)
			}
			b.Write(append(line, '\n'))
		}
	default:
		t.Fatalf("no format %q", format)
	}
	return b.Bytes()
}

func npyFile(version byte, header string) []byte {
	b := append([]byte(npyMagic), version, 0)
	header += "\n"
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(b, header...)
}

// readVecs reads to the end or to the first error.
func readVecs(format string, b []byte) (all []vecRecord, err error) {
	f, err := vecFormatOf(format, "")
	if err != nil {
		return nil, err
	}
	r, err := f.open(bytes.NewReader(b))
	for err == nil {
		var rec vecRecord
		if rec, err = r.next(); err == nil {
			rec.vec = slices.Clone(rec.vec)
			all = append(all, rec)
		}
	}
	if errors.Is(err, io.EOF) {
		return all, nil
	}
	return all, err
}

func TestVectorFilesAreRead(t *testing.T) {
	const n, dim = 9, 3
	for _, format := range []string{"fvecs", "npy", "npy2", "jsonl"} {
		all, err := readVecs(strings.TrimSuffix(format, "2"), vecFile(t, format, n, dim))
		if err != nil || len(all) != n {
			t.Errorf("%s: %d vectors, %v", format, len(all), err)
		}
		for i, rec := range all {
			if rec.id != strconv.Itoa(i) || !slices.Equal(rec.vec, numbered(i, dim)) {
				t.Errorf("%s: vector %d is %+v", format, i, rec)
			}
		}
		if none, err := readVecs(strings.TrimSuffix(format, "2"), vecFile(t, format, 0, dim)); err != nil || len(none) != 0 {
			t.Errorf("%s without vectors: %d, %v", format, len(none), err)
		}
	}
}

// The files were written by coder/hnsw v0.6.1: 60 vectors (i, 1, -i/2), the key "key i" or the int i-5.
func TestExportsOfCoderHNSWAreRead(t *testing.T) {
	for name, key := range map[string]func(x float32) string{
		"strings": func(x float32) string { return fmt.Sprintf("key %g", x) },
		"ints":    func(x float32) string { return fmt.Sprint(x - 5) },
	} {
		b, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".hnsw"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := readVecs("coder-hnsw", b)
		if err != nil || len(all) != 60 {
			t.Fatalf("%s: %d vectors, %v", name, len(all), err)
		}
		seen := map[string]bool{}
		for _, rec := range all {
			if v := rec.vec; len(v) != 3 || rec.id != key(v[0]) || v[1] != 1 || v[2] != -v[0]/2 || seen[rec.id] {
				t.Errorf("%s: %+v", name, rec)
			}
			seen[rec.id] = true
		}
		wantCuts(t, "coder-hnsw", b, 0)
	}
}

// wantCuts wants a typed error for every file that b begins with, but those that end behind a whole vector of
// size bytes.
func wantCuts(t *testing.T, format string, b []byte, size int) {
	t.Helper()
	whole, err := readVecs(format, b)
	if err != nil {
		t.Fatal(err)
	}
	for end := 0; end < len(b); end += 1 + len(b)/400 { // every one of a small file
		all, err := readVecs(format, b[:end])
		if size > 0 && end%size == 0 {
			if err != nil || len(all) != end/size {
				t.Errorf("%s of %d bytes: %d vectors, %v", format, end, len(all), err)
			}
			continue
		}
		var e *vecFileError
		if !errors.As(err, &e) || e.at.n > int64(end) || e.at.unit != "byte" {
			t.Errorf("%s, %d of %d bytes: %v", format, end, len(b), err)
		}
		for i, rec := range all {
			if rec.id != whole[i].id || !slices.Equal(rec.vec, whole[i].vec) {
				t.Errorf("%s, %d of %d bytes: vector %d is %+v", format, end, len(b), i, rec)
			}
		}
	}
}

func TestVectorFilesAreCut(t *testing.T) {
	wantCuts(t, "fvecs", vecFile(t, "fvecs", 4, 3), 16)
	for _, format := range []string{"npy", "npy2"} {
		wantCuts(t, "npy", vecFile(t, format, 4, 3), 0)
	}
}

func TestVectorFilesThatAreNone(t *testing.T) {
	float := math.Float32bits(1)
	le := func(vs ...uint32) (b []byte) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	for _, is := range []struct {
		format string
		file   []byte
		want   string
	}{
		{"fvecs", le(0), "byte 0: a vector of 0 values, want 1 to 16384"},
		{"fvecs", le(math.MaxUint32), "byte 0: a vector of -1 values"},
		{"fvecs", le(1 << 30), "byte 0: a vector of 1073741824 values"},
		{"fvecs", le(1, float, 2, float, float), "byte 8: a vector of 2 values after ones of 1"},
		{"npy", []byte("\x93NUMPI\x01\x00"), "byte 0: this is no NumPy array"},
		{"npy", []byte("\x93NUMPY\x09\x00"), "byte 6: version 9 of the format, want 1, 2 or 3"},
		{"npy", append([]byte("\x93NUMPY\x02\x00"), le(1<<31)...), "byte 8: a header of 2147483648 bytes"},
		{"npy", npyFile(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }"), `byte 10: values of type ">f4", want '<f4' or '<f8'`},
		{"npy", npyFile(2, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }"), `byte 12: values of type "<i8"`},
		{"npy", npyFile(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }"), "names no plain type"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }"), "Fortran"},
		{"npy", npyFile(1, "{'descr': '<f4', 'shape': (1, 1), }"), "no order"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }"), "an array of shape (7,), want two dimensions"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }"), "want two dimensions"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 99999), }"), "vectors of 99999 values"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0), }"), "vectors of 0 values"},
		{"npy", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1), }"), "too large"},
		{"npy", append(vecFile(t, "npy", 1, 1), 0), "more bytes follow the last vector"},
		{"jsonl", []byte("\n{\"id\": 1, \"vector\": [1]}\n\n{\"id\": 2}\n"), `line 4: no member "vector"`},
		{"jsonl", []byte(`{"vector": [1]}`), `line 1: no member "id"`},
		{"jsonl", []byte(`{"id": null, "vector": [1]}`), `line 1: no member "id"`},
		{"jsonl", []byte(`{"id": 1.5, "vector": [1]}`), "id 1.5 is neither a string nor a whole number"},
		{"jsonl", []byte(`{"id": [1], "vector": [1]}`), "id [1] is neither"},
		{"jsonl", []byte(`{"id": 1, "vector": [1, null]}`), "no list of numbers"},
		{"jsonl", []byte(`{"id": 1, "vector": null}`), "no list of numbers"},
		{"jsonl", []byte(`{"id": 1, "vector": [1e39]}`), "no list of numbers that float32 holds"},
		{"jsonl", []byte(`{"id": 1, "vector": "x"}`), "no list of numbers"},
		{"jsonl", []byte("{\"id\": 1, \"vector\": [1]}\n{\"id\": 2, \"vect"), "line 2: no JSON object"},
		{"jsonl", bytes.Repeat([]byte("x"), maxJSONLine+1), "line 1: longer than"},
		{"coder-hnsw", nil, "byte 0: the file ends inside the version"},
		{"coder-hnsw", []byte{4}, "byte 0: no export of coder/hnsw: version 2, want 1"},
		{"coder-hnsw", bytes.Repeat([]byte{0xff}, 20), "byte 0: the version is no number"},
	} {
		_, err := readVecs(is.format, is.file)
		var e *vecFileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), is.want) {
			t.Errorf("%s %.60q: %v, want %s", is.format, is.file, err, is.want)
		}
	}
}

// Whatever the bytes are, reading ends, allocates no more than they could hold, and fails with a place in them.
func FuzzVectorFile(f *testing.F) {
	formats := []string{"fvecs", "npy", "jsonl", "coder-hnsw"}
	for i, format := range formats[:3] {
		f.Add(uint8(i), vecFile(f, format, 3, 2))
	}
	f.Add(uint8(1), vecFile(f, "npy2", 3, 2))
	for _, name := range []string{"strings", "ints"} {
		b, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".hnsw"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(3), b)
	}
	f.Fuzz(func(t *testing.T, format uint8, b []byte) {
		all, err := readVecs(formats[int(format)%len(formats)], b)
		var e *vecFileError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("untyped error %v", err)
		}
		values := 0
		for _, rec := range all {
			values += len(rec.vec)
		}
		if values > len(b) {
			t.Errorf("%d values out of %d bytes", values, len(b))
		}
	})
}

// writeVectors is a script's `vectors FILE N DIM [BYTES]`: it writes numbered vectors in the format that the
// ending tells, only the first bytes of the file when their number is given, without the last ones when it is
// negative.
func writeVectors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: vectors FILE N DIM [BYTES]")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dim, err := strconv.Atoi(args[2])
	ts.Check(err)
	b := vecFile(ts, strings.TrimPrefix(filepath.Ext(args[0]), "."), n, dim)
	if len(args) == 4 {
		end, err := strconv.Atoi(args[3])
		ts.Check(err)
		if end < 0 {
			end += len(b)
		}
		b = b[:end]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}
