package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

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
				return &failure{code: exitUsage, what: name + " is no graph: " + graphReason(err), hint: "see `glim graph insert --help` for its form", err: err}
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
	type document index.CustomGraph // its fields, but for the records
	var raw struct {
		document
		Chunks    []json.RawMessage `json:"chunks"`
		Entities  []json.RawMessage `json:"entities"`
		Relations []json.RawMessage `json:"relationships"`
	}
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return g, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return g, errors.New("something follows the graph")
	}
	g = index.CustomGraph(raw.document)
	if g.Chunks, err = readRecords[index.CustomChunk]("chunk", raw.Chunks); err != nil {
		return g, err
	}
	if g.Entities, err = readRecords[index.CustomEntity]("entity", raw.Entities); err != nil {
		return g, err
	}
	g.Relations, err = readRecords[index.CustomRelation]("relationship", raw.Relations)
	return g, err
}

// readRecords reads the records of a graph. An error names the one that it is about as InsertGraph does, by its number from 0.
func readRecords[T any](kind string, raw []json.RawMessage) ([]T, error) {
	out := make([]T, len(raw))
	for i, r := range raw {
		dec := json.NewDecoder(bytes.NewReader(r))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&out[i]); err != nil {
			return nil, fmt.Errorf("%s %d: %w", kind, i, err)
		}
	}
	return out, nil
}

// jsonKinds are what JSON has where Go has these kinds.
var jsonKinds = map[reflect.Kind]string{reflect.String: "text", reflect.Float64: "a number", reflect.Int: "a whole number", reflect.Slice: "a list",
	reflect.Map: "an object", reflect.Struct: "an object", reflect.Bool: "true or false"}

// graphReason says in words of JSON why a file is no graph.
func graphReason(err error) string {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return strings.ReplaceAll(plain(err), "json: ", "")
	}
	where, _, _ := strings.Cut(err.Error(), "json: ") // the record
	if e.Field != "" {
		where += e.Field[strings.LastIndexByte(e.Field, '.')+1:] + ": "
	}
	return where + "want " + cmp.Or(jsonKinds[e.Type.Kind()], e.Type.String()) + ", not " + e.Value
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
