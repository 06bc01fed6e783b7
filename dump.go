package db

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/dump"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// DumpOptions are the options of Dump.
type DumpOptions struct {
	// Logical leaves out what may differ between two databases in the same logical state: times, attempts,
	// usage. Logical dumps of equal states are equal byte for byte. Load takes either kind.
	Logical bool
}

// Kinds of dump records, with their keys. The kinds of package index stand beside them.
const (
	kindModels     = "models"     // []: tokenizer, embedder and dimension that documents are bound to
	kindKV         = "kv"         // [space, key]
	kindGraph      = "graph"      // [name]
	kindNode       = "node"       // [graph, name]
	kindEdge       = "edge"       // [graph, source, target, type]
	kindCollection = "collection" // [name]
	kindVector     = "vector"     // [collection, id]
)

type modelsRecord struct {
	Tokenizer string `json:"tokenizer"`
	Embedder  string `json:"embedder"`
	Dim       int    `json:"dim"`
}

type kvRecord struct {
	Value dump.Text `json:"value"`
}

type graphRecord struct {
	Directed bool `json:"directed"`
}

type nodeRecord struct {
	Type  dump.Text `json:"type"`
	Props props     `json:"properties"`
}

type edgeRecord struct {
	Weight float64 `json:"weight"`
	Props  props   `json:"properties"`
}

type collectionRecord struct {
	Metric         string `json:"metric"`
	Dim            int    `json:"dim"`
	Model          string `json:"model"`
	M              int    `json:"m"`
	EfConstruction int    `json:"ef_construction"`
	Kind           string `json:"kind"`
	Quantization   string `json:"quantization"`

	ExtendCandidates bool `json:"extend_candidates,omitempty"`
	KeepPruned       bool `json:"keep_pruned,omitempty"`
}

type vectorRecord struct {
	Vector []byte `json:"vector"` // float32, little-endian
}

// Dump writes the whole logical state of one view as JSON Lines, sorted and versioned, while writers go on:
// key-value spaces, graphs, collections, documents with texts, chunks, sources and statuses. Caches of
// model replies, LSNs and internal ids are no part of it. Load reads it back.
func (d *DB) Dump(ctx context.Context, w io.Writer, o DumpOptions) error {
	_, err := reading(ctx, d, "Dump", func(ctx context.Context, s *state, r kv.Reader) (struct{}, error) {
		x := &dumper{ctx: ctx, s: s, r: r, w: dump.NewWriter(w, dump.Options{Logical: o.Logical})}
		for _, part := range []func() error{x.kv, x.graphs, x.collections, x.documents, x.models} {
			if err := part(); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, x.w.Close()
	})
	if err != nil {
		return fmt.Errorf("db: dump: %w", err)
	}
	return nil
}

type dumper struct {
	ctx context.Context
	s   *state
	r   kv.Reader
	w   *dump.Writer
	// documented: some document exists, so the models it is bound to are part of the state.
	documented bool
}

func (x *dumper) kv() error {
	prefix := space.In(x.s.name, space.User)
	c, err := x.r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer c.Close()
	for c.Next() {
		name, key, err := codec.KeyString(c.Key()[len(prefix):])
		if err != nil {
			return fmt.Errorf("%w: key of a key-value space: %w", ErrCorrupt, err)
		}
		if err := x.w.Record(kindKV, []string{name, string(key)}, kvRecord{dump.Text(c.Value())}, nil); err != nil {
			return err
		}
	}
	return c.Err()
}

// graphs writes graphs, then all nodes, then all edges. The knowledge graph exists in the logical state
// only while it holds something: the first document creates it, and the last one's delete leaves it empty.
func (x *dumper) graphs() error {
	names, err := graph.List(x.r, x.s.name)
	if err != nil {
		return err
	}
	var open []*graph.Graph
	for _, name := range names {
		g, err := graph.Open(x.r, x.s.name, name)
		if err != nil {
			return err
		}
		s, err := g.Stats(x.r)
		if err != nil {
			return err
		}
		if name == record.GraphName && s.Nodes == 0 {
			continue
		}
		open = append(open, g)
		if err := x.w.Record(kindGraph, []string{name}, graphRecord{g.Config().Directed}, nil); err != nil {
			return err
		}
	}
	for _, g := range open {
		for n, err := range g.AllNodes(x.r) {
			if err != nil {
				return err
			}
			p, vol := propsOf(g.Name(), n.Props)
			if err := x.w.Record(kindNode, []string{g.Name(), n.Name}, nodeRecord{dump.Text(n.Type), p}, vol); err != nil {
				return err
			}
		}
	}
	for _, g := range open {
		for e, err := range g.AllEdges(x.r) {
			if err != nil {
				return err
			}
			p, vol := propsOf(g.Name(), e.Props)
			if err := x.w.Record(kindEdge, []string{g.Name(), e.Src, e.Dst, e.Type}, edgeRecord{e.Weight, p}, vol); err != nil {
				return err
			}
		}
	}
	return x.ctx.Err()
}

func (x *dumper) collections() error {
	names, err := x.s.vectors.Names(x.r, x.s.name)
	if err != nil {
		return err
	}
	var open []*vector.Collection
	var kept []string
	for _, name := range names {
		c, err := x.s.vectors.Collection(x.r, x.s.name, name)
		if err != nil {
			return err
		}
		n, err := c.Len(x.r)
		if err != nil {
			return err
		}
		if n == 0 && reservedCollection(name) || nextCollection(name) {
			continue
		}
		open, kept = append(open, c), append(kept, name)
		cfg := c.Config()
		rec := collectionRecord{cfg.Metric.String(), cfg.Dim, cfg.Model, cfg.M, cfg.EfConstruction, cfg.Kind.String(), cfg.Quantization.String(),
			cfg.ExtendCandidates, cfg.KeepPruned}
		if err := x.w.Record(kindCollection, []string{name}, rec, nil); err != nil {
			return err
		}
	}
	for i, c := range open {
		for row, err := range c.All(x.r) {
			if err == nil {
				err = x.ctx.Err()
			}
			if err != nil {
				return err
			}
			if err := x.w.Record(kindVector, []string{kept[i], row.ID}, vectorRecord{vectorBytes(row.Vector)}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// documents writes what index owns, in its order: keyless records.
func (x *dumper) documents() error {
	for e, err := range index.Export(x.r, x.s.name) {
		if err == nil {
			err = x.ctx.Err()
		}
		if err != nil {
			return err
		}
		x.documented = true
		var volatile any
		if doc, ok := e.Value.(*index.ExportedDocument); ok {
			volatile = doc.Volatile
		}
		if err := x.w.Record(e.Kind, nil, e.Logical(), volatile); err != nil {
			return err
		}
	}
	return nil
}

func (x *dumper) models() error {
	if !x.documented {
		return nil
	}
	s, err := readStamp(x.r, x.s.name)
	if err != nil {
		return err
	}
	return x.w.Record(kindModels, nil, modelsRecord{s.Tokenizer, s.Embedder, s.Dim}, nil)
}

// nextCollection: the vectors of the next embedding model, which are no state before they take their place.
func nextCollection(name string) bool {
	rest, ok := strings.CutPrefix(name, record.NextPrefix)
	return ok && reservedCollection(rest)
}

// reservedCollection: documents alone write it.
func reservedCollection(name string) bool {
	switch name {
	case record.ChunkCollection, record.EntityCollection, record.RelationCollection:
		return true
	}
	return false
}
