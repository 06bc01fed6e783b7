package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

var ctx = context.Background()

const ws = ""

// store is a real engine with a layer over chunks that a test puts itself.
type store struct {
	t       testing.TB
	fs      vfs.FS
	dim     int
	kv      *kv.Store
	log     *wal.Log
	vectors *vector.Set
	layer   *Layer
	model   Summarizer
	closed  bool
}

func openStore(t testing.TB, fs vfs.FS, dim int) *store {
	t.Helper()
	s := &store{t: t, fs: fs, dim: dim}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.closed {
			s.check()
			s.close()
		}
	})
	return s
}

func (s *store) open() (err error) {
	if s.kv, err = kv.Open("db", kv.Options{FS: s.fs, MemTableBytes: 256 << 10}); err != nil {
		return err
	}
	if s.log, err = wal.Open(s.kv, func() time.Time { return time.Unix(1, 0) }); err != nil {
		return err
	}
	snap, err := s.log.View()
	if err != nil {
		return err
	}
	defer snap.Close()
	if s.vectors, err = vector.OpenSet(nil, vector.SetOptions{NewIndex: hnsw.Factory, Oldest: s.kv.OldestLSN, Store: s.kv, Update: s.log.Update}); err != nil {
		return err
	}
	if err := s.vectors.Load(snap, ws); err != nil {
		return err
	}
	emb, err := hashed.New(hashed.Options{Dim: s.dim})
	if err != nil {
		return err
	}
	s.layer, err = Open(snap, Config{Updater: s.log, Vectors: s.vectors, Workspace: ws, Model: s.model,
		Embedder: func() llm.Embedder { return emb }, Now: func() time.Time { return time.Unix(1, 0) }})
	s.closed = false
	return err
}

func (s *store) close() {
	s.closed = true
	if err := errors.Join(s.vectors.Close(), s.log.Close(), s.kv.Close()); err != nil {
		s.t.Error(err)
	}
}

func (s *store) reopen() {
	s.t.Helper()
	s.check()
	s.close()
	if err := s.open(); err != nil {
		s.t.Fatal(err)
	}
	s.check()
}

func (s *store) view() *kv.Snapshot {
	s.t.Helper()
	v, err := s.log.View()
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *store) check() {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	for p, err := range s.layer.Check(ctx, v) {
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Error(p)
	}
}

// update stages changes of chunks in one commit; a nil vector deletes.
func (s *store) update(changes map[string][]float32) error {
	_, err := s.log.Update(ctx, "test", nil, func(b *kv.Batch) error {
		c, err := s.vectors.Create(b, ws, record.ChunkCollection, vector.Config{Dim: s.dim, Model: "test"})
		if err != nil {
			return err
		}
		for id, v := range changes {
			doc, order, _ := record.ParseChunkID(id)
			if v == nil {
				err = errors.Join(c.Delete(b, id), b.Delete(record.ChunkKey(ws, doc, order)))
			} else {
				k := record.Chunk{Doc: doc, Order: order, Content: fmt.Sprintf("The passage of topic %s speaks of %s.", doc, doc)}
				err = errors.Join(c.Put(b, id, v), b.SetText(record.ChunkKey(ws, doc, order), k.Encode()))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (s *store) put(changes map[string][]float32) {
	s.t.Helper()
	if err := s.update(changes); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) build(o Options) Report {
	s.t.Helper()
	r, err := s.layer.Build(ctx, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// topics are n vectors around each of k directions.
func topics(r *rand.Rand, k, n, dim int, spread float32) map[string][]float32 {
	out := make(map[string][]float32)
	for t := range k {
		centre := gauss(r, dim)
		for i := range n {
			v := gauss(r, dim)
			for j := range v {
				v[j] = centre[j] + spread*v[j]
			}
			out[record.ChunkID(fmt.Sprintf("doc%02d", t), i)] = v
		}
	}
	return out
}

func gauss(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func seeded(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
