package db

import (
	"context"
	"errors"
	"iter"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant that Check found.
type Problem struct {
	// Part is the package whose invariant it is: "index", "graph", "vector", "cluster" or "cache".
	Part string `json:"part"`
	// Name is the graph, collection or cache concerned; empty for index.
	Name string `json:"name,omitempty"`
	// What names the invariant and the ids concerned, never text.
	What string `json:"what"`
}

// String is one line for a person.
func (p Problem) String() string {
	if p.Name == "" {
		return p.What
	}
	return p.Name + ": " + p.What
}

// Check compares everything stored with everything else, on one view: both directions of each edge, degree
// counters, id maps, vectors against memory and index, sources against chunks, merged views against their
// sources, statuses against content, postings against texts, sums of caches. A sound database yields nothing. An error comes last. It reads the
// whole database once or twice, while writers go on.
func (d *DB) Check(ctx context.Context) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		_, err := reading(ctx, d, "Check", func(ctx context.Context, s *state, r kv.Reader) (struct{}, error) {
			return struct{}{}, s.check(ctx, r, yield)
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Problem{}, err)
		}
	}
}

func (s *state) check(ctx context.Context, r kv.Reader, yield func(Problem, error) bool) error {
	graphs, err := graph.List(r, s.name)
	if err != nil {
		return err
	}
	for _, name := range graphs {
		g, err := graph.Open(r, s.name, name)
		if err != nil {
			return err
		}
		if err := pass(g.Check(r), "graph", name, yield); err != nil {
			return err
		}
	}
	for p, err := range s.vectors.Check(ctx, r, s.name) {
		if err != nil {
			return err
		}
		if !yield(Problem{Part: "vector", Name: p.Collection, What: p.Detail}, nil) {
			return errStopped
		}
	}
	for p, err := range s.checkCaches(ctx, r) {
		if err != nil {
			return err
		}
		if !yield(p, nil) {
			return errStopped
		}
	}
	if err := pass(s.clusters.Check(ctx, r), "cluster", "", yield); err != nil {
		return err
	}
	return pass(s.pipe.Check(ctx, r), "index", "", yield)
}

// pass hands the problems of one part on.
func pass[P interface{ String() string }](problems iter.Seq2[P, error], part, name string, yield func(Problem, error) bool) error {
	for p, err := range problems {
		if err != nil {
			return err
		}
		if !yield(Problem{Part: part, Name: name, What: p.String()}, nil) {
			return errStopped
		}
	}
	return nil
}
