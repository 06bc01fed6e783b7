package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/glimdb/db/vector"
)

// vecReader reads a file of vectors one by one.
type vecReader interface {
	// next returns the next vector, or io.EOF behind the last. A file that is none of its format, or ends too
	// early, is a *vecFileError.
	next() (vecRecord, error)
}

// vecRecord is one vector of a file.
type vecRecord struct {
	id  string
	vec []float32 // valid until the next call
	at  place
}

// place is where something stands in a file.
type place struct {
	unit string // "byte", counted from 0, or "line", counted from 1
	n    int64
}

func (p place) String() string { return fmt.Sprintf("%s %d", p.unit, p.n) }

// vecFileError tells where a file stops being what it should be.
type vecFileError struct {
	at     place
	reason string
}

func (e *vecFileError) Error() string { return fmt.Sprintf("%v: %s", e.at, e.reason) }

// vecFormat is a format of vector files.
type vecFormat struct {
	name, says string
	endings    []string
	open       func(r io.ReadSeeker) (vecReader, error)
}

// vecFormats are the formats that can be read, in the order of the help.
func vecFormats() []vecFormat {
	return []vecFormat{
		{"fvecs", "rows of a length and float32 values (TEXMEX); the id is the row's number", []string{".fvecs"}, openFvecs},
		{"npy", "a NumPy array of two dimensions, float32 or float64; the id is the row's number", []string{".npy"}, openNPY},
		{"jsonl", `a line {"id": ..., "vector": [...]} a vector; other members are ignored`, []string{".jsonl", ".ndjson"}, openJSONL},
		{"coder-hnsw", "an export of github.com/coder/hnsw with keys of type string or int; its vectors only", []string{".hnsw"}, openCoder},
	}
}

// vecFormatOf finds the format by name, or by the ending of the file's name where that is empty.
func vecFormatOf(name, file string) (vecFormat, error) {
	var names []string
	for _, f := range vecFormats() {
		names = append(names, f.name)
		if name == f.name {
			return f, nil
		}
		for _, e := range f.endings {
			if name == "" && strings.EqualFold(filepath.Ext(file), e) {
				return f, nil
			}
		}
	}
	if name != "" {
		return vecFormat{}, usage("--format %s: want %s", name, strings.Join(names, ", "))
	}
	return vecFormat{}, usage("%s has no known ending: name its format with --format (%s)", file, strings.Join(names, ", "))
}

// counted reads and knows where it is.
type counted struct {
	r *bufio.Reader
	n int64
}

func newCounted(r io.Reader) *counted { return &counted{r: bufio.NewReaderSize(r, 1<<16)} }

// ReadByte implements io.ByteReader.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// full fills b. At the end of the file the error is io.EOF before the first byte, io.ErrUnexpectedEOF after it.
func (c *counted) full(b []byte) error {
	n, err := io.ReadFull(c.r, b)
	c.n += int64(n)
	return err
}

func (c *counted) place() place { return place{"byte", c.n} }

func (c *counted) fail(format string, args ...any) error {
	return &vecFileError{c.place(), fmt.Sprintf(format, args...)}
}

// cut is the error of a read that hit the end of the file, or failed.
func (c *counted) cut(err error, of string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return c.fail("the file ends inside %s", of)
	}
	return err
}

// end wants the file to be read to its end.
func (c *counted) end() error {
	switch _, err := c.r.Peek(1); {
	case err == nil:
		return c.fail("more bytes follow the last vector")
	case errors.Is(err, io.EOF):
		return io.EOF
	default:
		return err
	}
}

// floats reads values behind each other, little-endian.
type floats struct {
	raw []byte
	vec []float32
}

func (f *floats) read32(c *counted, n int) ([]float32, error) {
	f.size(n, 4)
	if err := c.full(f.raw); err != nil {
		return nil, err
	}
	for i := range f.vec {
		f.vec[i] = math.Float32frombits(binary.LittleEndian.Uint32(f.raw[4*i:]))
	}
	return f.vec, nil
}

// read64 reads float64 values and rounds them.
func (f *floats) read64(c *counted, n int) ([]float32, error) {
	f.size(n, 8)
	if err := c.full(f.raw); err != nil {
		return nil, err
	}
	for i := range f.vec {
		f.vec[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(f.raw[8*i:])))
	}
	return f.vec, nil
}

func (f *floats) size(n, width int) {
	if len(f.vec) != n {
		f.vec, f.raw = make([]float32, n), make([]byte, n*width)
	}
}

// fvecs reads the format of the TEXMEX corpora: each vector after its length, both little-endian.
type fvecs struct {
	c      *counted
	floats floats
	dim    int
	row    int
}

func openFvecs(r io.ReadSeeker) (vecReader, error) { return &fvecs{c: newCounted(r)}, nil }

func (f *fvecs) next() (vecRecord, error) {
	at := f.c.place()
	var head [4]byte
	if err := f.c.full(head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return vecRecord{}, io.EOF
		}
		return vecRecord{}, f.c.cut(err, "the length of a vector")
	}
	dim := int(int32(binary.LittleEndian.Uint32(head[:])))
	switch {
	case dim < 1 || dim > vector.MaxDim:
		return vecRecord{}, &vecFileError{at, fmt.Sprintf("a vector of %d values, want 1 to %d", dim, vector.MaxDim)}
	case f.row > 0 && dim != f.dim:
		return vecRecord{}, &vecFileError{at, fmt.Sprintf("a vector of %d values after ones of %d", dim, f.dim)}
	}
	f.dim = dim
	vec, err := f.floats.read32(f.c, dim)
	if err != nil {
		return vecRecord{}, f.c.cut(err, "a vector")
	}
	f.row++
	return vecRecord{strconv.Itoa(f.row - 1), vec, at}, nil
}
