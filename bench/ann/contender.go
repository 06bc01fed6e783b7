package main

import (
	"context"
	"math"
	"regexp"
	"time"

	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/vector/ivf"
)

// contender is one thing that is measured over one data set.
type contender interface {
	// add inserts the base rows [from, to) and returns the processor time it took. It is called for all
	// rows, in order, before anything else.
	add(ctx context.Context, from, to int) (time.Duration, error)
	// search answers the first len(out) queries, one after the other on one thread, with the k nearest ids
	// in out, and returns the processor time it took. Width is what the contender trades speed for recall
	// by; some have nothing of the kind.
	search(ctx context.Context, width, k int, out [][]uint32) (time.Duration, error)
	// bytes is the memory of vectors and index for one vector.
	bytes() (float64, error)
	close() error
}

// spec says how a contender is made and run.
type spec struct {
	name string
	// builds is false when the contender searches what another one has built.
	builds bool
	// slow contenders answer a tenth of the queries.
	slow bool
	// widths are tried in this order until recall is high enough.
	widths func(k int) []int
	open   func(e *env) (contender, error) // *absentError: not on this machine
}

// names of contenders that tables refer to.
const (
	nameBare    = "glim/hnsw-int8"
	nameFloat32 = "glim/hnsw-f32"
	nameExact   = "glim/exact" + throughDB
	nameHnswlib = "hnswlib"
	nameCoder   = "coder/hnsw"

	// throughDB ends the name of a contender that is searched through the whole database.
	throughDB = "-db"
	// defaultWidth ends the name of a contender that is built with the default efConstruction.
	defaultWidth = "-efc128"
)

// variants lists the indexes of ours, one line a configuration.
func variants() []variant {
	return []variant{
		{nameBare, true, hnsw.Factory, func(*vector.Config) {}},
		{nameFloat32, true, hnsw.Factory, func(c *vector.Config) { c.Quantization = vector.Float32 }},
		{"glim/hnsw-1bit", true, hnsw.Factory, func(c *vector.Config) { c.Quantization = vector.Binary }},
		{nameBare + defaultWidth, false, hnsw.Factory, func(c *vector.Config) { c.EfConstruction = vector.DefaultEfConstruction }},
		{"glim/ivf", true, ivf.Factory, func(c *vector.Config) { c.Kind = vector.IVF }},
	}
}

// specs lists all contenders.
func specs() []spec {
	out := []spec{{nameHnswlib, true, false, ladder, openHnswlib}}
	for _, v := range variants() {
		out = append(out, spec{v.name, true, false, ladder, v.openBare})
		if v.database {
			out = append(out, spec{v.name + throughDB, true, false, ladder, v.openThroughDatabase})
		}
	}
	return append(out,
		spec{nameExact, false, true, noLadder, openExact},
		spec{nameCoder, true, true, func(int) []int { return []int{20, 100, 400, 1600} }, openCoder})
}

// specsNamed picks contenders by a regular expression.
func specsNamed(pattern string) ([]spec, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var out []spec
	for _, s := range specs() {
		if re.MatchString(s.name) {
			out = append(out, s)
		}
	}
	return out, nil
}

// widest bounds the widths that are tried.
const widest = 1600

// ladder returns widths from k, and not below 10, each 1.41 times the one before.
func ladder(k int) (out []int) {
	for x := float64(max(k, 10)); x <= widest; x *= math.Sqrt2 {
		out = append(out, int(math.Round(x)))
	}
	return out
}

func noLadder(int) []int { return []int{0} }

// env is what contenders of one data set share.
type env struct {
	ctx            context.Context
	data           *dataset
	m              int
	efConstruction int
	include        string // folder of hnswlib's headers, or ""
	temp           string // folder that is removed at the end

	points map[vector.Config]*loadedPoints
	db     *database
	vecs   *vecFiles
	driver string // compiled program of hnswlib
}

// warmUp is the number of searches before the clock starts: caches and pools are then as they stay.
const warmUp = 32
