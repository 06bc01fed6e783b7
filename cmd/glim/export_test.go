package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/glimdb/db/graph"
	"pgregory.net/rapid"
)

func exportOf(nodes []*graph.Node, edges []*graph.Edge) exported {
	return exported{func() iter.Seq2[*graph.Node, error] { return seq(nodes) }, func() iter.Seq2[*graph.Edge, error] { return seq(edges) }}
}

func seq[T any](s []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range s {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Whatever is in names and properties, an export is valid and names that differ stay different.
func TestGraphMLHoldsAnyName(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "\x00", "\x01", "\x1f", "\u0085", "\ufffd", "\ufffe", "\uffff", "\xff", "\xed\xa0\x80", "&", "<", ">", `"`, "'", "]]>", "&amp;",
		"\t", "\n", "\r", "👩‍🚀", "青石港", "e\u0301", "|", "#", "\u202e"})
	name := rapid.StringOfN(rapid.Rune(), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return piece.Draw(t, "piece") + piece.Draw(t, "piece") + name.Draw(t, "name")
		}), 1, 12, rapid.ID[string]).Draw(t, "names")
		var nodes []*graph.Node
		var edges []*graph.Edge
		for i, n := range names {
			nodes = append(nodes, &graph.Node{Name: n, Type: piece.Draw(t, "type"), Props: graph.Props{
				"description": n, "paths": []string{n, "b"}, "tokens": int64(i), "known": true, piece.Draw(t, "key"): 1.5}})
			edges = append(edges, &graph.Edge{Src: n, Dst: names[0], Weight: 2.5, Props: graph.Props{"keywords": []string{n}, "mixed": any(n)}})
		}
		edges = append(edges, &graph.Edge{Src: names[0], Dst: names[0], Props: graph.Props{"mixed": int64(1)}})
		var b bytes.Buffer
		if err := writeGraphML(&b, exportOf(nodes, edges)); err != nil {
			t.Fatal(err)
		}
		g, err := parseGraphML(&b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if len(g.Graph.Nodes) != len(nodes) || len(g.Graph.Edges) != len(edges) || g.Graph.EdgeDefault != "undirected" {
			t.Fatalf("%d nodes, %d edges", len(g.Graph.Nodes), len(g.Graph.Edges))
		}
		b.Reset()
		if err := writeGraphJSON(&b, exportOf(nodes, edges)); err != nil {
			t.Fatal(err)
		}
		var j struct {
			Nodes []struct{ Name, Type string }
			Edges []struct {
				Source, Target string
				Weight         float64
			}
		}
		if err := json.Unmarshal(b.Bytes(), &j); err != nil || len(j.Nodes) != len(nodes) || len(j.Edges) != len(edges) || j.Edges[0].Weight != 2.5 {
			t.Fatalf("%v in\n%s", err, b.String())
		}
	})
}

func TestGraphMLKeepsOrdinaryNames(t *testing.T) {
	var b bytes.Buffer
	const name = `Smith & "Sons" <青石港> 🚀`
	if err := writeGraphML(&b, exportOf([]*graph.Node{{Name: name, Props: graph.Props{"description": "a\tb"}}}, nil)); err != nil {
		t.Fatal(err)
	}
	g, err := parseGraphML(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Graph.Nodes[0].ID; got != name {
		t.Errorf("got %q, want %q", got, name)
	}
	if got := g.Graph.Nodes[0].Data[0].Value; got != "a\tb" {
		t.Errorf("description %q", got)
	}
}

func TestExportOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := writeGraphJSON(&b, exportOf(nil, nil)); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	if err := writeGraphML(&b, exportOf(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := parseGraphML(&b); err != nil {
		t.Error(err)
	}
}

func TestExportStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	g := exported{
		nodes: func() iter.Seq2[*graph.Node, error] {
			return func(yield func(*graph.Node, error) bool) { yield(nil, broken) }
		},
		edges: func() iter.Seq2[*graph.Edge, error] { return seq[*graph.Edge](nil) },
	}
	var b bytes.Buffer
	if err := writeGraphML(&b, g); !errors.Is(err, broken) {
		t.Errorf("GraphML: %v", err)
	}
	if err := writeGraphJSON(&b, g); !errors.Is(err, broken) {
		t.Errorf("JSON: %v", err)
	}
	if err := writeGraphML(&failing{n: 10}, exportOf(nil, nil)); !errors.Is(err, errFull) {
		t.Errorf("full disk: %v", err)
	}
}
