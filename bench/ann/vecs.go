package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// matrix holds vectors of one dimension, row after row.
type matrix struct {
	dim    int
	values []float32
}

func newMatrix(rows, dim int) matrix { return matrix{dim, make([]float32, rows*dim)} }

func (m matrix) rows() int {
	if m.dim == 0 {
		return 0
	}
	return len(m.values) / m.dim
}

func (m matrix) row(i int) []float32 { return m.values[i*m.dim : (i+1)*m.dim : (i+1)*m.dim] }

// slice returns the rows [from, to); they are shared.
func (m matrix) slice(from, to int) matrix {
	return matrix{m.dim, m.values[from*m.dim : to*m.dim : to*m.dim]}
}

// normalise scales every row to length 1. A zero row, which has no direction, is an error.
func (m matrix) normalise() error {
	for i := range m.rows() {
		v := m.row(i)
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum == 0 {
			return fmt.Errorf("vector %d is zero: it has no direction to compare by cosine", i)
		}
		inv := 1 / math.Sqrt(sum)
		for j, x := range v {
			v[j] = float32(float64(x) * inv)
		}
	}
	return nil
}

// maxVecsDim refuses lengths that no vector file has, before they are allocated.
const maxVecsDim = 1 << 20

// writeFvecs writes m in the format of the TEXMEX corpora: each row after its length, little-endian.
func writeFvecs(path string, m matrix) error {
	return writeWhole(path, func(w io.Writer) error {
		buf := make([]byte, 4+4*m.dim)
		for i := range m.rows() {
			binary.LittleEndian.PutUint32(buf, uint32(m.dim))
			for j, x := range m.row(i) {
				binary.LittleEndian.PutUint32(buf[4+4*j:], math.Float32bits(x))
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
}

// readFvecs reads what writeFvecs wrote.
func readFvecs(path string) (m matrix, err error) {
	err = eachVec(path, func(vec []byte) error {
		if m.dim == 0 {
			m.dim = len(vec) / 4
		}
		if len(vec)/4 != m.dim {
			return fmt.Errorf("rows of %d and of %d values", m.dim, len(vec)/4)
		}
		for i := 0; i < len(vec); i += 4 {
			m.values = append(m.values, math.Float32frombits(binary.LittleEndian.Uint32(vec[i:])))
		}
		return nil
	})
	return m, err
}

// writeIvecs writes rows of ids in the integer form of the same format.
func writeIvecs(path string, rows [][]uint32) error {
	return writeWhole(path, func(w io.Writer) error {
		for _, row := range rows {
			buf := binary.LittleEndian.AppendUint32(nil, uint32(len(row)))
			for _, id := range row {
				buf = binary.LittleEndian.AppendUint32(buf, id)
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
}

// readIvecs reads rows of ids.
func readIvecs(path string) (rows [][]uint32, err error) {
	err = eachVec(path, func(vec []byte) error {
		row := make([]uint32, len(vec)/4)
		for i := range row {
			row[i] = binary.LittleEndian.Uint32(vec[4*i:])
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// eachVec calls fn with the bytes of every row of a vector file; they are valid during the call.
func eachVec(path string, fn func(vec []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var buf []byte
	for row := 0; ; row++ {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: row %d: %w", path, row, err)
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > maxVecsDim {
			return fmt.Errorf("%s: row %d has %d values: no vector file", path, row, n)
		}
		if buf == nil || len(buf) != int(4*n) {
			buf = make([]byte, 4*n)
		}
		if _, err := io.ReadFull(r, buf); err != nil {
			return fmt.Errorf("%s: row %d: %w", path, row, err)
		}
		if err := fn(buf); err != nil {
			return fmt.Errorf("%s: row %d: %w", path, row, err)
		}
	}
}

// writeWhole writes a file that appears under its name only when it is complete.
func writeWhole(path string, write func(w io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
