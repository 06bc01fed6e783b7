//go:build !windows

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	coder "github.com/coder/hnsw"

	"github.com/glimdb/db/vector"
)

// coderGraph is github.com/coder/hnsw.
type coderGraph struct {
	data           *dataset
	graph          *coder.Graph[uint32]
	efConstruction int
	heapBefore     uint64
}

func openCoder(e *env) (contender, error) {
	g := coder.NewGraph[uint32]()
	g.Rng.Seed(1)
	g.M = e.m
	if e.data.metric == vector.L2 {
		g.Distance = coder.EuclideanDistance
	}
	return &coderGraph{e.data, g, e.efConstruction, heapInUse()}, nil
}

// heapInUse is the memory of what is reachable.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (c *coderGraph) add(_ context.Context, from, to int) (took time.Duration, err error) {
	defer catch(&err)
	c.graph.EfSearch = c.efConstruction
	return timed(func() error {
		for i := from; i < to; i++ {
			c.graph.Add(coder.MakeNode(uint32(i), c.data.base.row(i)))
		}
		return nil
	})
}

// catch turns a panic of the peer, which it answers some legal calls with, into an error.
func catch(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("coder/hnsw panicked: %v", p)
	}
}

// search asks for as many neighbours as the width says, because the graph's own EfSearch does not change what
// is found, and keeps the k nearest of what it gets in no order.
func (c *coderGraph) search(_ context.Context, width, k int, out [][]uint32) (took time.Duration, err error) {
	defer catch(&err)
	c.graph.EfSearch = width
	var near []neighbour
	find := func(i int) {
		q := c.data.queries.row(i)
		near = near[:0]
		for _, n := range c.graph.Search(q, max(k, width)) {
			near = append(near, neighbour{n.Key, float64(c.graph.Distance(n.Value, q))})
		}
		slices.SortFunc(near, compareNeighbours)
		out[i] = out[i][:0]
		for _, n := range near[:min(k, len(near))] {
			out[i] = append(out[i], n.id)
		}
	}
	for i := range min(warmUp, len(out)) {
		find(i)
	}
	return timed(func() error {
		for i := range out {
			find(i)
		}
		return nil
	})
}

// bytes is what the heap has grown by, and the vectors, which the graph shares with the caller.
func (c *coderGraph) bytes() (float64, error) {
	grown := float64(heapInUse()) - float64(c.heapBefore)
	return grown/float64(c.data.base.rows()) + float64(4*c.data.base.dim), nil
}

func (c *coderGraph) close() error { return nil }
