package main

import (
	"errors"
	"io"
	"math"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/vector"
	"github.com/spf13/cobra"
)

type vectorsSearchFlags struct {
	id    string
	k, ef int
	exact bool
}

// foundVectors is the JSON form of a search.
type foundVectors struct {
	Hits []foundVector `json:"hits"`
	Plan vector.Plan   `json:"plan"` // how they were found
}

type foundVector struct {
	ID    string  `json:"id"`
	Score float32 `json:"score"`
}

func (a *app) vectorsSearch() *cobra.Command {
	var f vectorsSearchFlags
	cmd := &cobra.Command{
		Use:   "search NAME [VECTOR]",
		Short: "Find the vectors nearest to one",
		Long: `Search finds the vectors of a collection that are nearest to one: given as a JSON list on the command line, or on standard
input for -, or stored under --id, which is then left out of the result. Scores are cosines, dot products or, under l2,
distances negated: larger is nearer.`,
		Example: `  glim vectors search words --id 17 -k 5
  glim vectors search points '[0.5, 1.25]'
  embed "the mill" | glim vectors search words - --json`,
		Args: args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			switch {
			case len(given) == 1 && !cmd.Flags().Changed("id"):
				return usage("a vector is wanted, or --id of a stored one")
			case len(given) == 2 && cmd.Flags().Changed("id"):
				return usage("a vector and --id: want one of them")
			}
			if err := bounded("k", f.k, 1, math.MaxInt); err != nil {
				return err
			}
			if f.ef != 0 && (f.ef < f.k || f.ef >= vector.MaxEf) {
				return usage("--ef %d: want 0, or -k (%d) to %d", f.ef, f.k, vector.MaxEf-1)
			}
			return a.inCollection(cmd, given[0], func(v *db.Vectors) error {
				q, err := a.queryVector(v, given, f.id)
				if err != nil {
					return err
				}
				return a.searchVectors(v, given, q, f)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.id, "id", "", "search for the vector of this `id`")
	fl.IntVarP(&f.k, "k", "k", 10, "how many, at least 1")
	fl.IntVar(&f.ef, "ef", 0, "width of an index search, k or more; 0 chooses by k")
	fl.BoolVar(&f.exact, "exact", false, "compare every vector, even where there is an index")
	return cmd
}

// queryVector returns the vector to search for.
func (a *app) queryVector(v *db.Vectors, given []string, id string) ([]float32, error) {
	if len(given) == 1 {
		q, err := v.Get(id)
		if errors.Is(err, db.ErrNotFound) {
			return nil, notFound("", "no vector %q in collection %q", id, given[0])
		}
		return q, err
	}
	raw := []byte(given[1])
	if given[1] == stdinArg {
		var err error
		if raw, err = io.ReadAll(io.LimitReader(a.in, maxJSONLine)); err != nil {
			return nil, err
		}
	}
	q, reason := parseValues(raw)
	switch {
	case reason != "":
		return nil, usage("%s", reason)
	case v.Config().Metric == vector.Cosine && len(q) == v.Config().Dim && !slices.ContainsFunc(q, func(x float32) bool { return x != 0 }):
		return nil, usage("the vector is zero, which has no direction: under cosine nothing is near it")
	}
	return q, nil
}

func (a *app) searchVectors(v *db.Vectors, given []string, q []float32, f vectorsSearchFlags) error {
	stored := len(given) == 1
	var info vector.SearchInfo
	o := vector.SearchOptions{K: f.k, Ef: f.ef, Exact: f.exact, Info: &info}
	if stored { // itself is found, too
		o.K++
		if o.Ef > 0 {
			o.Ef++
		}
	}
	hits, err := v.Search(q, o)
	if err != nil {
		return err
	}
	if stored {
		hits = slices.DeleteFunc(hits, func(h vector.Hit) bool { return h.ID == f.id })
	}
	hits = hits[:min(f.k, len(hits))]
	if a.json {
		out := foundVectors{Hits: []foundVector{}, Plan: info.Plan}
		for _, h := range hits {
			out.Hits = append(out.Hits, foundVector(h))
		}
		if err := a.out.json(out); err != nil {
			return err
		}
	}
	switch {
	case len(hits) == 0 && stored:
		return notFound("", "nothing found: collection %s holds no other vector", brief.Quote(given[0]))
	case len(hits) == 0:
		return notFound("", "nothing found: collection %s is empty", brief.Quote(given[0]))
	case a.json:
		return nil
	}
	for _, h := range hits {
		a.out.printf("%12.6f  %s\n", h.Score+0, h.ID) // no negative zero
	}
	return nil
}
