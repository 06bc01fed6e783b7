package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) graphInsert() *cobra.Command {
	var (
		id      string
		replace bool
		lenient bool
	)
	cmd := &cobra.Command{
		Use:   "insert [FILE]",
		Short: "Store a graph from elsewhere as one document",
		Long: `Insert stores a custom knowledge graph, a JSON file in LightRAG's form, as one document in one step; no model is asked to
extract anything. It is listed and deleted like other documents.

  {"chunks": [{"content": "...", "source_id": "s1"}],
   "entities": [{"entity_name": "...", "entity_type": "...", "description": "...", "source_id": "s1"}],
   "relationships": [{"src_id": "...", "tgt_id": "...", "description": "...", "keywords": "a, b", "weight": 1, "source_id": "s1"}]}

"id", "path", "metadata" and "time" of the document may stand beside these.`,
		Example: `  glim graph insert triples.json --id triples
  jq -f to-graph.jq dump.json | glim graph insert --id dump --replace
  glim delete triples`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			r, name, err := a.given(cmd.Context(), given)
			if err != nil {
				return err
			}
			defer r.Close()
			g, err := readGraph(r)
			if err != nil {
				return &failure{code: exitUsage, what: name + " is no graph: " + plain(err), hint: "see `glim graph insert --help` for its form", err: err}
			}
			if id != "" {
				g.ID = id
			}
			o := index.CustomOptions{Lenient: lenient}
			if replace {
				o.Policy = index.Put
			}
			done := false
			return a.creating(func() bool { return !done }, func(d *db.DB) error {
				res, err := d.InsertGraph(cmd.Context(), g, o)
				done = err == nil
				switch {
				case errors.Is(err, db.ErrDuplicate):
					return &failure{code: exitUsage, what: plain(err), hint: "--replace puts this one in its place", err: err}
				case errors.Is(err, db.ErrDocument):
					return &failure{code: exitUsage, what: plain(err), hint: "nothing was stored; --lenient leaves out what cannot be", err: err}
				case err != nil:
					return err
				case a.json:
					return a.out.json(res)
				}
				a.inserted(&res)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "id of the document; none: the file's, or made of the content")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the document when it is there")
	cmd.Flags().BoolVar(&lenient, "lenient", false, "leave out and count what cannot be stored")
	return cmd
}

// readGraph reads exactly one graph. A field that it does not know is an error: its content would be lost.
func readGraph(r io.Reader) (g index.CustomGraph, err error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		return g, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return g, errors.New("something follows the graph")
	}
	return g, nil
}

func (a *app) inserted(r *index.CustomResult) {
	verb := r.Result
	if r.Replaces {
		verb = "replaced"
	}
	a.out.printf("  %s: %s, %s, %s, %s\n", r.ID, verb, count(r.Chunks, "chunk"), count(r.Entities, "entity"), count(r.Relations, "relation"))
	for _, why := range slices.Sorted(maps.Keys(r.Dropped)) {
		a.out.printf("    note: %s\n", fmt.Sprintf("%d left out: %s", r.Dropped[why], why))
	}
	for _, w := range r.Warnings {
		a.out.printf("    note: %s\n", w)
	}
}
