package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/dump"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// loadBytes is how much is staged before a commit of Load: large enough that commits cost little, small
// enough for the memory of a small machine.
const loadBytes = 32 << 20

const changeLoad = "load"

// Load reads a dump, of either kind, into a database that was never written to, and returns the number of
// records. It takes several commits, but is atomic all the same: a stream that is damaged or cut off, a
// cancelled call, a failure, or a kill in the middle leaves the database empty (after the last, the next
// Open cleans up). It runs alone: beside it writes fail with ErrBusy, and it with them; reads show a part
// of it. Dumps of databases with documents need the models of those.
//
// Errors: ErrNotEmpty, ErrMismatch, ErrBusy, ErrFormat (the stream is no dump, or one of another version),
// ErrDump (cut off, changed, or holding a record that cannot be), and those of reading r.
func (d *DB) Load(ctx context.Context, r io.Reader) (records int, err error) {
	ctx, s, leave, err := d.host(ctx, "Load", loads)
	if err != nil {
		return 0, err
	}
	defer leave()
	l := &loader{ctx: ctx, s: s, graphs: make(map[string]*graph.Graph), collections: make(map[string]*vector.Collection)}
	if err := l.begin(); err != nil {
		return 0, fmt.Errorf("db: load: %w", err)
	}
	err = l.records(r)
	if err == nil {
		err = l.commit(true)
	}
	if err != nil {
		return 0, fmt.Errorf("db: load: %w", errors.Join(dumpError(because(ctx, err)), s.unload()))
	}
	s.makePostings(context.WithoutCancel(ctx)) // the load is done, whatever becomes of that
	return l.n, nil
}

// dumpError marks what package dump found wrong with the stream by an error that callers can see.
func dumpError(err error) error {
	switch {
	case errors.Is(err, dump.ErrVersion):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	case errors.Is(err, dump.ErrTruncated), errors.Is(err, dump.ErrChecksum), errors.Is(err, dump.ErrLine):
		return fmt.Errorf("%w: %w", ErrDump, err)
	}
	return err
}

// loader stages records in commits of about loadBytes.
type loader struct {
	ctx         context.Context
	s           *state
	n           int
	pending     []dump.Record
	size        int
	models      *modelsRecord
	documented  bool
	graphs      map[string]*graph.Graph
	collections map[string]*vector.Collection
}

// begin marks the store as being loaded.
func (l *loader) begin() error {
	_, err := l.s.Update(l.ctx, changeLoad, nil, func(b *kv.Batch) error {
		s, err := readStamp(b, l.s.name)
		if err != nil {
			return err
		}
		empty, err := holdsNothing(b, l.s.name)
		if err != nil {
			return err
		}
		if s.Embedder != "" || !empty {
			return ErrNotEmpty
		}
		s.Loading = true
		return writeStamp(b, l.s.name, s)
	})
	return err
}

func (l *loader) records(r io.Reader) error {
	for rec, err := range dump.Read(r) {
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return err
		}
		l.n++
		l.pending = append(l.pending, rec)
		l.size += len(rec.Value) + len(rec.Volatile)
		if l.size >= loadBytes {
			if err := l.commit(false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) commit(last bool) error {
	_, err := l.s.Update(l.ctx, changeLoad, nil, func(b *kv.Batch) error {
		for i := range l.pending {
			rec := &l.pending[i]
			if err := l.stage(b, rec); err != nil {
				if _, ok := errors.AsType[*dump.LineError](err); !ok {
					err = &dump.LineError{Line: rec.Line, Err: err}
				}
				return err
			}
		}
		if !last {
			return nil
		}
		return l.finish(b)
	})
	l.pending, l.size = nil, 0
	return err
}

// finish checks the models and takes the mark away.
func (l *loader) finish(b *kv.Batch) error {
	s, err := readStamp(b, l.s.name)
	if err != nil {
		return err
	}
	s.Loading = false
	if l.documented {
		if l.models == nil {
			return errors.New("the dump holds documents but no models record")
		}
		s.Tokenizer, s.Embedder, s.Dim = l.models.Tokenizer, l.models.Embedder, l.models.Dim
		if err := s.compare(l.s.models.names()); err != nil {
			return err
		}
		if err := l.s.pipe.CreateStores(b); err != nil {
			return err
		}
	}
	if s == (stamp{}) { // of a workspace without documents
		return b.Delete(stampKey(l.s.name))
	}
	return writeStamp(b, l.s.name, s)
}

func (l *loader) stage(b *kv.Batch, rec *dump.Record) error {
	if index.IsEntry(rec.Kind) {
		return l.entry(b, rec)
	}
	want := map[string]int{kindModels: 0, kindKV: 2, kindGraph: 1, kindNode: 2, kindEdge: 4, kindCollection: 1, kindVector: 2}
	if n, ok := want[rec.Kind]; !ok || n != len(rec.Key) {
		return fmt.Errorf("unknown record: kind %s with a key of %d parts", brief.Quote(rec.Kind), len(rec.Key))
	}
	switch rec.Kind {
	case kindModels:
		l.models = &modelsRecord{}
		return rec.Decode(l.models, nil)
	case kindKV:
		var v kvRecord
		if err := rec.Decode(&v, nil); err != nil {
			return err
		}
		key := append(codec.AppendKeyString(space.In(l.s.name, space.User), rec.Key[0]), rec.Key[1]...)
		return b.SetText(key, []byte(v.Value))
	case kindGraph, kindNode, kindEdge:
		return l.graph(b, rec)
	}
	return l.vector(b, rec)
}

// entry hands a record of package index back to it, its volatile part put in again.
func (l *loader) entry(b *kv.Batch, rec *dump.Record) error {
	l.documented = true
	value := []byte(rec.Value)
	if rec.Kind == index.EntryDocument && len(rec.Volatile) > 0 {
		var doc index.ExportedDocument
		if err := rec.Decode(&doc, &doc.Volatile); err != nil {
			return err
		}
		var err error
		if value, err = json.Marshal(&doc); err != nil {
			return err
		}
	}
	return index.Import(b, l.s.name, rec.Kind, value)
}

func (l *loader) graph(b *kv.Batch, rec *dump.Record) error {
	name := rec.Key[0]
	if rec.Kind == kindGraph {
		var v graphRecord
		if err := rec.Decode(&v, nil); err != nil {
			return err
		}
		g, err := graph.Create(b, l.s.name, name, graph.Config{Directed: v.Directed})
		l.graphs[name] = g
		return err
	}
	g := l.graphs[name]
	if g == nil {
		return fmt.Errorf("graph %s was not declared", brief.Quote(name))
	}
	if rec.Kind == kindNode {
		var (
			v   nodeRecord
			vol props
		)
		if err := rec.Decode(&v, &vol); err != nil {
			return err
		}
		p, err := graphProps(v.Props, vol)
		if err != nil {
			return err
		}
		return g.PutNode(b, graph.Node{Name: rec.Key[1], Type: string(v.Type), Props: p})
	}
	var (
		v   edgeRecord
		vol props
	)
	if err := rec.Decode(&v, &vol); err != nil {
		return err
	}
	p, err := graphProps(v.Props, vol)
	if err != nil {
		return err
	}
	return g.PutEdge(b, graph.Edge{Src: rec.Key[1], Dst: rec.Key[2], Type: rec.Key[3], Weight: v.Weight, Props: p})
}

func (l *loader) vector(b *kv.Batch, rec *dump.Record) error {
	name := rec.Key[0]
	if rec.Kind == kindCollection {
		var v collectionRecord
		if err := rec.Decode(&v, nil); err != nil {
			return err
		}
		c := vector.Config{Dim: v.Dim, Model: v.Model, M: v.M, EfConstruction: v.EfConstruction,
			ExtendCandidates: v.ExtendCandidates, KeepPruned: v.KeepPruned}
		err := errors.Join(named("metric", &c.Metric, vector.L2, v.Metric), named("kind", &c.Kind, vector.IVF, v.Kind),
			named("quantization", &c.Quantization, vector.Binary, v.Quantization))
		if err != nil {
			return err
		}
		coll, err := l.s.vectors.Create(b, l.s.name, name, c)
		l.collections[name] = coll
		return err
	}
	c := l.collections[name]
	if c == nil {
		return fmt.Errorf("collection %s was not declared", brief.Quote(name))
	}
	var v vectorRecord
	if err := rec.Decode(&v, nil); err != nil {
		return err
	}
	vec, err := vectorOf(v.Vector)
	if err != nil {
		return err
	}
	return c.Put(b, rec.Key[1], vec)
}

// unload takes away what a failed Load left.
func (s *state) unload() error {
	_, err := s.Update(context.WithoutCancel(s.life.ctx), changeLoad, nil, func(b *kv.Batch) error {
		return errors.Join(s.vectors.DropWorkspace(b, s.name), clearWorkspace(b, s.name))
	})
	return err
}

// endLoading empties the workspace when a Load of it was interrupted.
func (s *state) endLoading(ctx context.Context) error {
	snap, err := s.log.View()
	if err != nil {
		return err
	}
	bound, err := readStamp(snap, s.name)
	if err = errors.Join(err, snap.Close()); err != nil || !bound.Loading {
		return err
	}
	if s.opts.ReadOnly {
		return fmt.Errorf("%w: a load was interrupted; open the database for writing once, which cleans up", ErrReadOnly)
	}
	_, err = s.Update(ctx, changeLoad, nil, func(b *kv.Batch) error { return clearWorkspace(b, s.name) })
	return err
}

// named sets v to the value up to last that is called name; no name is the zero value.
func named[T interface {
	~uint8
	String() string
}](what string, v *T, last T, name string) error {
	if name == "" {
		return nil
	}
	for *v = 0; (*v).String() != name; *v++ {
		if *v >= last {
			return fmt.Errorf("unknown %s %s", what, brief.Quote(name))
		}
	}
	return nil
}
