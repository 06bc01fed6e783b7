package main

import (
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/glimdb/db/vector"
)

// npy reads an array in NumPy's format, versions 1 to 3: two dimensions, rows one after the other, little-endian
// floats of 4 or 8 bytes.
type npy struct {
	c         *counted
	floats    floats
	double    bool
	rows, dim int
	row       int
}

const (
	npyMagic = "\x93NUMPY"
	// maxNPYHeader is far more than the header of a plain array takes.
	maxNPYHeader = 1 << 20
)

// The header is a literal of Python's.
var (
	npyDescr = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

func openNPY(r io.ReadSeeker) (vecReader, error) {
	n := &npy{c: newCounted(r)}
	var head [8]byte
	if err := n.c.full(head[:]); err != nil {
		return nil, n.c.cut(err, "the magic number of a NumPy array")
	}
	if string(head[:6]) != npyMagic {
		return nil, &vecFileError{place{"byte", 0}, "this is no NumPy array"}
	}
	size := make([]byte, 4)
	switch head[6] {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return nil, &vecFileError{place{"byte", 6}, "version " + strconv.Itoa(int(head[6])) + " of the format, want 1, 2 or 3"}
	}
	at := n.c.place()
	if err := n.c.full(size); err != nil {
		return nil, n.c.cut(err, "the header")
	}
	length := binary.LittleEndian.Uint32(append(size, 0, 0)[:4])
	if length > maxNPYHeader {
		return nil, &vecFileError{at, "a header of " + strconv.Itoa(int(length)) + " bytes"}
	}
	header := make([]byte, length)
	at = n.c.place()
	if err := n.c.full(header); err != nil {
		return nil, n.c.cut(err, "the header")
	}
	if reason := n.header(string(header)); reason != "" {
		return nil, &vecFileError{at, reason}
	}
	return n, nil
}

// header takes in what the header says, or returns why it cannot be read.
func (n *npy) header(h string) string {
	descr, order, shape := npyDescr.FindStringSubmatch(h), npyOrder.FindStringSubmatch(h), npyShape.FindStringSubmatch(h)
	switch {
	case descr == nil:
		return "the header names no plain type of values: want '<f4' or '<f8'"
	case descr[1] != "<f4" && descr[1] != "<f8":
		return "values of type " + strconv.Quote(descr[1]) + ", want '<f4' or '<f8': convert with astype('<f4')"
	case order == nil || shape == nil:
		return "the header has no order or no shape"
	case order[1] == "True":
		return "values in Fortran's order: convert with numpy.ascontiguousarray"
	}
	var dims []int
	for part := range strings.SplitSeq(shape[1], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		d, err := strconv.Atoi(part)
		if err != nil {
			return "shape (" + shape[1] + ") is too large"
		}
		dims = append(dims, d)
	}
	if len(dims) != 2 {
		return "an array of shape (" + shape[1] + "), want two dimensions"
	}
	n.double, n.rows, n.dim = descr[1] == "<f8", dims[0], dims[1]
	if n.rows > 0 && (n.dim < 1 || n.dim > vector.MaxDim) {
		return "vectors of " + strconv.Itoa(n.dim) + " values, want 1 to " + strconv.Itoa(vector.MaxDim)
	}
	return ""
}

func (n *npy) next() (vecRecord, error) {
	if n.row == n.rows {
		return vecRecord{}, n.c.end()
	}
	at := n.c.place()
	read := n.floats.read32
	if n.double {
		read = n.floats.read64
	}
	vec, err := read(n.c, n.dim)
	if errors.Is(err, io.EOF) {
		return vecRecord{}, n.c.fail("the file ends after %d of %d vectors", n.row, n.rows)
	}
	if err != nil {
		return vecRecord{}, n.c.cut(err, "vector "+strconv.Itoa(n.row)+" of "+strconv.Itoa(n.rows))
	}
	n.row++
	return vecRecord{strconv.Itoa(n.row - 1), vec, at}, nil
}
