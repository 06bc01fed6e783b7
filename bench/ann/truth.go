package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

const (
	// truthDepth is the number of exact neighbours kept for each query.
	truthDepth = 100
	// truthSlack neighbours more are compared in float64, because float32 may order near ties wrongly.
	truthSlack = 28
	// truthRows is the number of rows compared while they are in the cache.
	truthRows = 128
)

// truth is the exact answer of a data set: the nearest rows of each query, nearest first, ties by id, as
// many as there are up to truthDepth.
type truth [][]uint32

// solve returns the exact answer, from the folder of an earlier run if it is there. It is found by the
// content of the vectors, so that no name or version can go stale.
func solve(d *dataset, cache string) (truth, error) {
	path := filepath.Join(cache, "truth-"+d.contentKey()+".ivecs")
	if rows, err := readIvecs(path); err == nil && len(rows) == d.queries.rows() {
		return rows, nil
	}
	t := bruteForce(d)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	return t, writeIvecs(path, t)
}

// contentKey names everything that the exact answer depends on.
func (d *dataset) contentKey() string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %d %d %d\n", d.metric, d.base.dim, d.base.rows(), truthDepth)
	var buf [1 << 14]byte
	for _, values := range [][]float32{d.base.values, d.queries.values} {
		for part := range slices.Chunk(values, len(buf)/4) {
			for i, x := range part {
				binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(x))
			}
			h.Write(buf[:4*len(part)])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// bruteForce compares every query with every row, on all processors.
func bruteForce(d *dataset) truth {
	d = &dataset{d.name, d.metric, padded(d.base), padded(d.queries)}
	out := make(truth, d.queries.rows())
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			lo, hi := w*len(out)/workers, (w+1)*len(out)/workers
			bruteRange(d, lo, hi, out)
		})
	}
	wg.Wait()
	return out
}

// padded returns m with zeros behind its rows, which change no distance, as the kernels are fastest with.
func padded(m matrix) matrix {
	if m.dim%simd.FloatPad == 0 {
		return m
	}
	out := newMatrix(m.rows(), (m.dim/simd.FloatPad+1)*simd.FloatPad)
	for i := range m.rows() {
		copy(out.row(i), m.row(i))
	}
	return out
}

// bruteRange answers the queries [lo, hi). A block of rows is compared with all of them before the next.
func bruteRange(d *dataset, lo, hi int, out truth) {
	best := make([]nearest, hi-lo)
	for i := range best {
		best[i].room = truthDepth + truthSlack
	}
	var far [truthRows]float32
	for at := 0; at < d.base.rows(); at += truthRows {
		rows := d.base.slice(at, min(at+truthRows, d.base.rows()))
		n := rows.rows()
		for i := range best {
			q := d.queries.row(lo + i)
			if d.metric == vector.L2 {
				simd.L2Rows(q, rows.values, d.base.dim, far[:n])
			} else {
				simd.DotRows(q, rows.values, d.base.dim, far[:n])
				for j := range n {
					far[j] = -far[j]
				}
			}
			for j, x := range far[:n] {
				best[i].offer(uint32(at+j), float64(x))
			}
		}
	}
	for i := range best {
		final := nearest{room: truthDepth}
		for _, c := range best[i].found {
			final.offer(c.id, d.distance(lo+i, c.id))
		}
		for _, c := range final.found {
			out[lo+i] = append(out[lo+i], c.id)
		}
	}
}

// distance compares query i with a row in float64: the negated product, or the squared distance under L2.
func (d *dataset) distance(query int, row uint32) float64 {
	a, b := d.queries.row(query), d.base.row(int(row))
	sum := 0.0
	if d.metric == vector.L2 {
		for i, x := range a {
			diff := float64(x) - float64(b[i])
			sum += diff * diff
		}
		return sum
	}
	for i, x := range a {
		sum -= float64(x) * float64(b[i])
	}
	return sum
}

// nearest keeps the room nearest of what it is offered, nearest first, ties by id.
type nearest struct {
	room  int
	found []neighbour
}

type neighbour struct {
	id  uint32
	far float64
}

func compareNeighbours(a, b neighbour) int {
	if c := cmp.Compare(a.far, b.far); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

func (n *nearest) offer(id uint32, far float64) {
	c := neighbour{id, far}
	if len(n.found) == n.room {
		if compareNeighbours(c, n.found[n.room-1]) >= 0 {
			return
		}
		n.found = n.found[:n.room-1]
	}
	at, _ := slices.BinarySearchFunc(n.found, c, compareNeighbours)
	n.found = slices.Insert(n.found, at, c)
}

// recall is the share of the k nearest that answers hold, over the first len(answers) queries. An answer
// counts when it is not farther than the k-th exact neighbour; a repeated one counts once.
func (d *dataset) recall(t truth, answers [][]uint32, k int) float64 {
	found, wanted := 0, 0
	for i, ids := range answers {
		exact := t[i][:min(k, len(t[i]))]
		wanted += len(exact)
		last := d.distance(i, exact[len(exact)-1])
		counted := map[uint32]bool{}
		for _, id := range ids[:min(k, len(ids))] {
			if !counted[id] && (slices.Contains(exact, id) || d.distance(i, id) <= last) {
				counted[id] = true
			}
		}
		found += min(len(counted), len(exact))
	}
	return float64(found) / float64(wanted)
}
