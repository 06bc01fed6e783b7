package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db"
)

const (
	// commitVectors go in one commit, with a document; a tenth of a small data set.
	commitVectors = 1000
	// documentKeys and documentBytes are those of a document of some forty pages.
	documentKeys, documentBytes = 300, 200_000
	// ourMemTable is the default of the storage engine inside the database.
	ourMemTable = 8 << 20
	// warmCommits of each side come first: a first flush, and memory that was touched before.
	warmCommits     = 3
	commitsPerRound = 6
	// restPerVector is about what a flush and a compaction take for each vector of a commit.
	restPerVector = 100 * time.Microsecond
)

// commit compares commits of vectors and a document through the public API with bare Pebble writing the
// same keys and values in one synced batch, in turn and with a rest between them for what runs behind. In one
// database the collection is only scanned, in another it has an index, whose work is waited for. The times
// are the wall's, medians of a round, because what is waited for is the disk; files in memory show the rest.
func commit(ctx context.Context, s *session) (err error) {
	inMemory := vfs.NewMem()
	bare, bareInMemory := &committer{name: "bare"}, &committer{name: "bare-in-memory", fs: inMemory}
	pairs := []*struct {
		ours, bare *committer
		what       string
		bar        bar
		ratios     []float64
	}{
		{&committer{name: "scanned", exactBytes: math.MaxInt64}, bare, "commit of %d vectors and a document against bare Pebble, wall", noMoreThan(1.3), nil},
		{&committer{name: "indexed", exactBytes: -1}, bare, "commit of %d vectors and a document to an indexed collection, wall", bar{}, nil},
		{&committer{name: "in-memory", exactBytes: math.MaxInt64, fs: inMemory}, bareInMemory, "commit of %d vectors and a document to files in memory, wall", bar{}, nil},
	}
	size := max(1, min(commitVectors, s.data.base.rows()/10))
	sides := []*committer{bare, bareInMemory, pairs[0].ours, pairs[1].ours, pairs[2].ours}
	for _, c := range sides {
		c.size = size
		if err := c.open(s.temp); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
	}
	for i := range min(s.data.base.rows()/size, warmCommits+commitsPerRound*s.rounds) {
		for j := range sides {
			if err := sides[(i+j)%len(sides)].write(ctx, s, i); err != nil {
				return err
			}
			time.Sleep(time.Duration(size) * restPerVector)
		}
		if i+1 < warmCommits || (i+1-warmCommits)%commitsPerRound != 0 {
			continue
		}
		for _, p := range pairs {
			if i >= warmCommits {
				p.ratios = append(p.ratios, median(p.ours.took)/median(p.bare.took))
			}
		}
		for _, c := range sides {
			c.took = nil
		}
	}
	for _, p := range pairs {
		if err := p.ours.check(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", p.ours.name, err)
		}
		s.report(fmt.Sprintf(p.what, size), "×", spanOf(p.ratios), p.bar)
	}
	return nil
}

// committer writes the same to a database or, without one, to bare Pebble.
type committer struct {
	name       string
	exactBytes int64
	fs         vfs.FS
	size       int // vectors in a commit
	d          *db.DB
	bare       *pebble.DB
	commits    int
	took       []float64 // seconds of the commits of a round
}

func (c *committer) open(dir string) (err error) {
	path := filepath.Join(dir, c.name)
	if c.fs != nil {
		path = c.name
	}
	if c.exactBytes == 0 {
		o := bareOptions()
		o.FS = c.fs
		c.bare, err = pebble.Open(path, o)
		return err
	}
	c.d, err = db.Open(path, db.WithOptions(db.Options{FS: c.fs, Vectors: db.VectorOptions{ExactBytes: c.exactBytes}}))
	return err
}

func (c *committer) close() error {
	if c.d != nil {
		return c.d.Close()
	}
	return c.bare.Close()
}

// write commits vectors and a document, the i-th of each.
func (c *committer) write(ctx context.Context, s *session, i int) error {
	first, doc := i*c.size, makeDocument(uint64(i))
	rows := s.data.base.slice(first, first+c.size)
	run := func() error { return c.writeAPI(ctx, s, rows, first, doc) }
	if c.d == nil {
		keys, values := rowKeys(rows, first)
		keys, values = append(keys, doc.keys...), append(values, doc.values...)
		run = func() error { return c.writeBare(keys, values) }
	}
	began := time.Now()
	if err := run(); err != nil {
		return err
	}
	c.took = append(c.took, time.Since(began).Seconds())
	c.commits++
	if c.d != nil {
		return c.d.Settle(ctx)
	}
	return nil
}

func (c *committer) writeAPI(ctx context.Context, s *session, rows matrix, first int, doc document) error {
	return c.d.Update(ctx, func(tx *db.Tx) error {
		v, err := tx.CreateVectors(collectionName, s.config())
		if err != nil {
			return err
		}
		for j := range rows.rows() {
			if err := v.Put(rowID(first+j), rows.row(j)); err != nil {
				return err
			}
		}
		text := tx.KV("documents")
		for j, key := range doc.keys {
			if err := text.Put(key, doc.values[j]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *committer) writeBare(keys, values [][]byte) error {
	b := c.bare.NewBatch()
	for i, k := range keys {
		if err := b.Set(k, values[i], nil); err != nil {
			return err
		}
	}
	return errors.Join(c.bare.Apply(b, pebble.Sync), b.Close())
}

// check reads the last commit back.
func (c *committer) check(ctx context.Context, s *session) error {
	first, doc := (c.commits-1)*c.size, makeDocument(uint64(c.commits-1))
	return c.d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(collectionName)
		if err != nil {
			return err
		}
		got, err := v.Get(rowID(first))
		if err != nil {
			return err
		}
		if want := s.data.base.row(first); !near(got, want) {
			return errors.New("a vector that was committed is another now")
		}
		for i, key := range doc.keys {
			value, err := tx.KV("documents").Get(key)
			if err != nil || string(value) != string(doc.values[i]) {
				return fmt.Errorf("%d bytes of a document that was committed: %w", len(value), err)
			}
		}
		return nil
	})
}

// document is what a document takes in the store beside its vectors.
type document struct{ keys, values [][]byte }

func makeDocument(seed uint64) (d document) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range documentKeys {
		v := make([]byte, documentBytes/documentKeys)
		for j := range v {
			v[j] = byte(r.Uint32())
		}
		d.keys = append(d.keys, fmt.Appendf(nil, "doc/%016x/%04d", r.Uint64(), i))
		d.values = append(d.values, v)
	}
	return d
}
