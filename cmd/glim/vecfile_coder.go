package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/glimdb/db/vector"
)

// coderHNSW reads what Graph.Export of github.com/coder/hnsw v0.6 writes: version, M, Ml, EfSearch and the name
// of the distance; then the layers, the lowest first, each as nodes with key, vector and the keys of neighbours.
// Whole numbers are signed varints, floats little-endian, strings and vectors follow their length. The lowest
// layer holds every vector; the others, and the links, are read over, since an index of ours is built anew.
type coderHNSW struct {
	c      *counted
	key    func() (string, error)
	floats floats
	dim    int

	layers, layer int
	nodes, node   int // of the layer
}

const (
	coderVersion = 1
	// coderMaxName bounds the lengths of the distance's name and of a key.
	coderMaxName = 1 << 20
	// coderMaxLayers and coderMaxCount refuse numbers that no export has.
	coderMaxLayers = 1 << 10
	coderMaxCount  = 1 << 40
)

// openCoder finds out by reading whether the keys are strings or ints, which the file does not say.
func openCoder(r io.ReadSeeker) (vecReader, error) {
	var errs [2]error
	for ints := range errs {
		if err := restart(r); err != nil {
			return nil, err
		}
		g, err := newCoder(r, ints == 1)
		for err == nil {
			_, err = g.next()
		}
		if errors.Is(err, io.EOF) {
			if err := restart(r); err != nil {
				return nil, err
			}
			return newCoder(r, ints == 1)
		}
		errs[ints] = err
	}
	// The right reading of a damaged file comes further.
	at := [2]int64{}
	for i, err := range errs {
		e, ok := errors.AsType[*vecFileError](err)
		if !ok {
			return nil, err
		}
		at[i] = e.at.n
	}
	if at[1] > at[0] {
		return nil, errs[1]
	}
	return nil, errs[0]
}

func restart(r io.Seeker) error {
	_, err := r.Seek(0, io.SeekStart)
	return err
}

func newCoder(r io.Reader, ints bool) (vecReader, error) {
	g := &coderHNSW{c: newCounted(r)}
	g.key = g.text
	if ints {
		g.key = g.int
	}
	return g, g.open()
}

func (g *coderHNSW) open() error {
	version, err := g.number("the version", -1<<62, 1<<62)
	if err != nil {
		return err
	}
	if version != coderVersion {
		return &vecFileError{place{"byte", 0}, fmt.Sprintf("no export of coder/hnsw: version %d, want %d", version, coderVersion)}
	}
	var ml [8]byte
	_, err = g.number("M", 0, coderMaxCount)
	if err == nil {
		err = g.c.cut(g.c.full(ml[:]), "the parameters")
	}
	if err == nil {
		_, err = g.number("EfSearch", 0, coderMaxCount)
	}
	if err == nil {
		_, err = g.text()
		err = g.c.cut(err, "the name of the distance")
	}
	if err == nil {
		g.layers, err = g.number("the number of layers", 0, coderMaxLayers)
	}
	if err == nil && g.layers > 0 {
		g.nodes, err = g.number("the number of nodes", 0, coderMaxCount)
	}
	return err
}

func (g *coderHNSW) next() (vecRecord, error) {
	for g.layer < g.layers {
		for g.node < g.nodes {
			rec, err := g.read()
			if err != nil {
				return rec, err
			}
			g.node++
			if g.layer == 0 {
				return rec, nil
			}
		}
		g.node, g.layer = 0, g.layer+1
		if g.layer < g.layers {
			var err error
			if g.nodes, err = g.number("the number of nodes", 0, coderMaxCount); err != nil {
				return vecRecord{}, err
			}
		}
	}
	return vecRecord{}, g.c.end()
}

// read reads one node.
func (g *coderHNSW) read() (vecRecord, error) {
	at := g.c.place()
	id, err := g.key()
	if err != nil {
		return vecRecord{}, g.c.cut(err, "a key")
	}
	dim, err := g.number("the length of a vector", 1, vector.MaxDim)
	if err != nil {
		return vecRecord{}, err
	}
	if g.dim == 0 {
		g.dim = dim
	}
	if dim != g.dim {
		return vecRecord{}, &vecFileError{at, fmt.Sprintf("a vector of %d values after ones of %d", dim, g.dim)}
	}
	vec, err := g.floats.read32(g.c, dim)
	if err != nil {
		return vecRecord{}, g.c.cut(err, "a vector")
	}
	links, err := g.number("the number of neighbours", 0, coderMaxCount)
	for ; err == nil && links > 0; links-- {
		_, err = g.key()
		err = g.c.cut(err, "the neighbours of a vector")
	}
	return vecRecord{id, vec, at}, err
}

// number reads a whole number and wants it between lo and hi.
func (g *coderHNSW) number(what string, lo, hi int64) (int, error) {
	at := g.c.place()
	n, err := binary.ReadVarint(g.c)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, g.c.cut(err, what)
	case err != nil && g.c.n-at.n >= binary.MaxVarintLen64:
		return 0, &vecFileError{at, what + " is no number"}
	case err != nil:
		return 0, err
	case n < lo || n > hi:
		return 0, &vecFileError{at, fmt.Sprintf("%s is %d, want %d to %d", what, n, lo, hi)}
	}
	return int(n), nil
}

// int reads a key of type int.
func (g *coderHNSW) int() (string, error) {
	n, err := binary.ReadVarint(g.c)
	return strconv.FormatInt(n, 10), err
}

// text reads a string.
func (g *coderHNSW) text() (string, error) {
	n, err := g.number("the length of a string", 0, coderMaxName)
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	err = g.c.full(b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return string(b), err
}
