package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// AnalysisOptions say what Analyze looks at, and what for.
type AnalysisOptions struct {
	analytics.Options
	// Graph is the graph that is analysed; empty: KnowledgeGraph, which is empty before the first document.
	Graph string
	// Vectors, when not empty, names a vector collection whose pairs are analysed in place of a graph: the vectors
	// are the nodes, and two whose score is MinScore or more are joined, weighted by the score. It costs a search for
	// every vector. The documents' collections are "chunks", "entities" and "relations".
	Vectors string
	// MinScore is the least score of a joined pair, above 0.
	MinScore float64
	// Limits bound the graph; zero fields: those of graph.Limits. Pairs count as edges.
	Limits graph.Limits
}

// Analysis is a result, and what it was made from.
type Analysis struct {
	*analytics.Result
	// Workspace is that of the handle which analysed.
	Workspace string
	// Graph is the name of the graph; empty when Vectors were analysed.
	Graph string
	// LSN is the commit whose state was analysed.
	LSN kv.LSN
}

// Analyze runs an algorithm over a whole graph, or over the similar pairs of a vector collection, as one commit shows
// it. The view is held while the graph is copied, not while the algorithm runs, so that writers and compactions go on.
//
// Errors: those of analytics.Run, with graph.ErrLimit for what exceeds Limits or MemoryBytes (told before anything is
// copied, for a graph); ErrNotFound for a graph or a collection that is not there, and for a node From that is not;
// *OptionError for a MinScore out of range; ErrDropped when the workspace is dropped meanwhile.
func (d *DB) Analyze(ctx context.Context, o AnalysisOptions) (*Analysis, error) {
	ctx, s, leave, err := d.enter(ctx, reads)
	if err != nil {
		return nil, err
	}
	defer leave()
	a := &Analysis{Workspace: d.name}
	c, err := s.analyzed(ctx, &o, a)
	if err == nil {
		a.Result, err = analytics.Run(ctx, c, o.Options)
	}
	if err != nil {
		return nil, fmt.Errorf("db: analyze: %w", because(ctx, err))
	}
	return a, nil
}

// analyzed copies what is to be analysed, and notes it in a.
func (s *state) analyzed(ctx context.Context, o *AnalysisOptions, a *Analysis) (c *graph.CSR, err error) {
	if o.Options, err = o.WithDefaults(); err != nil {
		return nil, err
	}
	snap, err := s.log.View()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	a.LSN = snap.LSN()
	if o.Vectors != "" {
		return s.similar(ctx, snap, o)
	}
	if a.Graph = o.Graph; a.Graph == "" {
		a.Graph = KnowledgeGraph
	}
	g, err := graph.Open(snap, s.name, a.Graph)
	if errors.Is(err, ErrNotFound) && a.Graph == KnowledgeGraph {
		return graph.NewCSR(false, nil, nil)
	}
	if err != nil {
		return nil, err
	}
	st, err := g.Stats(snap)
	if err == nil {
		err = o.Admit(st.Nodes, st.Edges)
	}
	if err != nil {
		return nil, err
	}
	return g.Snapshot(ctx, snap, o.Limits)
}

// similar makes a graph of the pairs of a collection.
func (s *state) similar(ctx context.Context, r kv.Reader, o *AnalysisOptions) (*graph.CSR, error) {
	if math.IsNaN(o.MinScore) || o.MinScore <= 0 {
		return nil, &OptionError{Field: "MinScore", Value: o.MinScore, Want: "a number above 0: scores become weights"}
	}
	coll, err := s.vectors.Collection(r, s.name, o.Vectors)
	if err != nil {
		return nil, err
	}
	limits := o.Limits.WithDefaults()
	var names []string
	place := make(map[string]uint32)
	for row, err := range coll.All(r) {
		if err == nil && len(names) == limits.Nodes {
			err = &graph.LimitError{What: "nodes", Limit: limits.Nodes}
		}
		if err != nil {
			return nil, err
		}
		place[row.ID] = uint32(len(names))
		names = append(names, row.ID)
	}
	var arcs []graph.Arc
	for p, err := range coll.Pairs(ctx, r, o.MinScore) {
		if err == nil && len(arcs) == limits.Edges {
			err = &graph.LimitError{What: "edges", Limit: limits.Edges}
		}
		if err == nil && len(arcs)%admitEvery == 0 {
			err = o.Admit(len(names), len(arcs))
		}
		if err != nil {
			return nil, err
		}
		arcs = append(arcs, graph.Arc{From: place[p.A], To: place[p.B], Weight: float64(p.Score)})
	}
	return graph.NewCSR(false, names, arcs)
}

// admitEvery is the number of pairs between two looks at the memory they take.
const admitEvery = 1 << 16

// SavedAnalysis describes derived properties that SaveAnalysis stored.
type SavedAnalysis struct {
	Property string `json:"property"`
	Graph    string `json:"graph"`
	// LSN is the commit whose state was analysed: what came later is not in it.
	LSN     kv.LSN            `json:"lsn"`
	Options analytics.Options `json:"options"` // the parameters, seed included
	Nodes   int               `json:"nodes"`   // of the graph that was analysed
	Edges   int               `json:"edges"`
	// Saved nodes got a value; Absent ones were gone when it was stored.
	Saved  int       `json:"saved"`
	Absent int       `json:"absent"`
	At     time.Time `json:"at"`
}

// changeAnalysis is the kind of change record that SaveAnalysis and DropAnalysis write.
const changeAnalysis = "analysis"

// SaveAnalysis stores a result as a derived property of the graph's nodes, of that name (empty: the algorithm's), in
// one commit together with its stamp. It replaces the property of that name. Graph.Derived and Analyses read it.
//
// Derived properties of every graph, KnowledgeGraph included, stand beside it and not in it: nodes, edges and dumps stay
// as they were, a node that is deleted takes its own with it, a node that comes later has none, and a load has none at
// all. Values are int64 for groups, degrees, cores and hops, else float64; a node that was not reached has none.
//
// Errors: graph.ErrInvalid for a name that cannot be one, ErrNotFound when the graph is gone, *OptionError for an
// analysis of vectors, which belongs to no graph, and for one of another workspace, ErrTooLarge for graphs of several millions of nodes.
func (d *DB) SaveAnalysis(ctx context.Context, a *Analysis, property string) (SavedAnalysis, error) {
	return writing(ctx, d, func(ctx context.Context, w *state) (SavedAnalysis, error) {
		if a == nil || a.Result == nil || a.Graph == "" {
			return SavedAnalysis{}, &OptionError{Field: "analysis", Value: "no result, or one of vectors", Want: "a result for a graph"}
		}
		if a.Workspace != w.name {
			return SavedAnalysis{}, &OptionError{Field: "analysis", Value: "of workspace " + brief.Quote(a.Workspace), Want: "one of workspace " + brief.Quote(w.name)}
		}
		s := SavedAnalysis{Property: property, Graph: a.Graph, LSN: a.LSN, Options: a.Options, Nodes: a.Nodes, Edges: a.Edges, At: d.opts.Now()}
		s.Options.MemoryBytes = 0 // no parameter of the result
		if s.Property == "" {
			s.Property = string(a.Options.Algorithm)
		}
		_, err := w.Update(ctx, changeAnalysis, []string{s.Graph, s.Property}, func(b *kv.Batch) error {
			g, err := graph.Open(b, w.name, s.Graph)
			if err != nil {
				return err
			}
			_, _, err = g.SaveDerived(ctx, b, s.Property, func(saved, absent int) (graph.Props, error) {
				s.Saved, s.Absent = saved, absent
				v, err := json.Marshal(s)
				return graph.Props{analysisKey: string(v)}, err
			}, a.All())
			return err
		})
		if err != nil {
			return SavedAnalysis{}, fmt.Errorf("db: save analysis: %w", err)
		}
		return s, nil
	})
}

// analysisKey is the one property of a stamp; its value is JSON.
const analysisKey = "analysis"

// DropAnalysis removes a derived property from all nodes of a graph (empty: KnowledgeGraph), or returns ErrNotFound.
func (d *DB) DropAnalysis(ctx context.Context, graphName, property string) error {
	_, err := writing(ctx, d, func(ctx context.Context, w *state) (struct{}, error) {
		if graphName == "" {
			graphName = KnowledgeGraph
		}
		_, err := w.Update(ctx, changeAnalysis, []string{graphName, property}, func(b *kv.Batch) error {
			g, err := graph.Open(b, w.name, graphName)
			if err != nil {
				return err
			}
			return g.DropDerived(ctx, b, property)
		})
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("db: drop analysis: %w", err)
	}
	return nil
}

// Analyses lists what SaveAnalysis stored for a graph (empty: KnowledgeGraph), in order of property.
func (d *DB) Analyses(ctx context.Context, graphName string) ([]SavedAnalysis, error) {
	return reading(ctx, d, "Analyses", func(_ context.Context, w *state, r kv.Reader) ([]SavedAnalysis, error) {
		if graphName == "" {
			graphName = KnowledgeGraph
		}
		g, err := graph.Open(r, w.name, graphName)
		if errors.Is(err, ErrNotFound) && graphName == KnowledgeGraph {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		stamps, err := g.DerivedStamps(r)
		if err != nil {
			return nil, err
		}
		out := make([]SavedAnalysis, len(stamps))
		for i, st := range stamps {
			text, _ := st.Props[analysisKey].(string)
			if err := json.Unmarshal([]byte(text), &out[i]); err != nil {
				return nil, fmt.Errorf("%w: stamp of %q: %w", ErrCorrupt, st.Property, err)
			}
		}
		return out, nil
	})
}
