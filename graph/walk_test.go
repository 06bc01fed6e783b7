package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

// pairs reads "AB AC" as edges A-B and A-C.
func pairs(s string) (out [][2]string) {
	for f := range strings.FieldsSeq(s) {
		out = append(out, [2]string{f[:1], f[1:]})
	}
	return out
}

func TestSubgraphConformance(t *testing.T) {
	for _, tc := range []struct {
		name         string
		nodes        []string
		edges        string
		label        string
		depth, nmax  int
		want         string
		edgesWant    int
		truncated    bool
		depthLimited bool
	}{
		{name: "star", edges: "AB AC AD AE AF", label: "A", depth: 2, nmax: 3, want: "A B C", edgesWant: 2, truncated: true},
		{name: "diamond", edges: "AB AC BD CD", label: "A", depth: 2, nmax: 4, want: "A B C D", edgesWant: 4},
		{name: "isolates", nodes: []string{"Zeta", "Alpha", "Beta"}, label: "*", depth: 3, nmax: 2, want: "Alpha Beta", truncated: true},
		{name: "chain", edges: "AB BC CD", label: "A", depth: 1, nmax: 100, want: "A B", edgesWant: 1, depthLimited: true},
		{name: "triangle", edges: "AB AC BC", label: "A", depth: 1, nmax: 3, want: "A B C", edgesWant: 3},
		{name: "unknown label", edges: "AB", label: "a", depth: 3, nmax: 10, want: ""},
		{name: "depth 0", edges: "AB", label: "A", depth: 0, nmax: 10, want: "A", depthLimited: true},
		{name: "degree before name", edges: "AB AC CD CE", label: "A", depth: 1, nmax: 2, want: "A C", edgesWant: 1, truncated: true, depthLimited: true},
		{name: "hops before degree", edges: "AB BC CD CE CF", label: "A", depth: 2, nmax: 2, want: "A B", edgesWant: 1, truncated: true},
		{name: "self-loop", edges: "AA AB", label: "A", depth: 1, nmax: 10, want: "A B", edgesWant: 2},
		{name: "whole", edges: "AB BC", label: "*", depth: 0, nmax: 10, want: "B A C", edgesWant: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStore(t)
			g := s.build("g", tc.nodes, pairs(tc.edges)...)
			r := s.view()
			sub, err := g.Subgraph(t.Context(), r, tc.label, tc.depth, tc.nmax)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, n := range sub.Nodes {
				names = append(names, n.Name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("nodes %q, want %q", got, tc.want)
			}
			if len(sub.Edges) != tc.edgesWant {
				t.Errorf("%d edges, want %d", len(sub.Edges), tc.edgesWant)
			}
			if sub.Truncated != tc.truncated || sub.DepthLimited != tc.depthLimited {
				t.Errorf("truncated %v, depth limited %v; want %v, %v", sub.Truncated, sub.DepthLimited, tc.truncated, tc.depthLimited)
			}
			if tc.label == All || tc.want == "" {
				return
			}
			w, err := g.KHop(t.Context(), r, tc.label, tc.depth, tc.nmax)
			if err != nil {
				t.Fatal(err)
			}
			var hops []string
			for _, h := range w.Hops {
				hops = append(hops, h.Name)
			}
			if !slices.Equal(hops, names) || w.Truncated != sub.Truncated || w.DepthLimited != sub.DepthLimited {
				t.Errorf("KHop %v %v %v differs from Subgraph", hops, w.Truncated, w.DepthLimited)
			}
		})
	}
}

func TestSubgraphArguments(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"A"})
	r := s.view()
	for _, b := range [][2]int{{-1, 1}, {0, 0}, {1, -5}} {
		if _, err := g.Subgraph(t.Context(), r, "A", b[0], b[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("Subgraph(%v): %v, want ErrInvalid", b, err)
		}
	}
	if _, err := g.KHop(t.Context(), r, "B", 1, 1); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("KHop of an absent node: %v, want ErrNotFound", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Subgraph(ctx, r, "A", 1, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Subgraph: %v", err)
	}
}

func TestPath(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"Z"}, pairs("AC CD AB BD DE EF FG AX XY YG")...)
	r := s.view()
	for _, tc := range []struct {
		from, to string
		max      int
		want     string
		err      error
	}{
		{from: "A", to: "A", want: "A"},
		{from: "A", to: "D", max: 2, want: "A B D"}, // B before C, though C was made first
		{from: "D", to: "A", max: 9, want: "D B A"},
		{from: "A", to: "G", max: 9, want: "A X Y G"},
		{from: "A", to: "G", max: 2, err: ErrNoPath},
		{from: "A", to: "Z", max: 9, err: ErrNoPath},
		{from: "A", to: "nobody", max: 9, err: kv.ErrNotFound},
		{from: "nobody", to: "A", max: 9, err: kv.ErrNotFound},
		{from: "A", to: "B", max: -1, err: ErrInvalid},
	} {
		got, err := g.Path(t.Context(), r, tc.from, tc.to, tc.max)
		if !errors.Is(err, tc.err) || strings.Join(got, " ") != tc.want {
			t.Errorf("Path(%s, %s, %d) = %v, %v; want %q, %v", tc.from, tc.to, tc.max, got, err, tc.want, tc.err)
		}
	}
}

func TestPathDirected(t *testing.T) {
	s := newStore(t)
	g := s.create("g", Config{Directed: true})
	s.update(func(b *kv.Batch) error { return putAll(g, b, nil, pairs("AB BC CA")) })
	r := s.view()
	if p, err := g.Path(t.Context(), r, "A", "C", 9); err != nil || !slices.Equal(p, []string{"A", "B", "C"}) {
		t.Errorf("forwards: %v, %v", p, err)
	}
	if _, err := g.Path(t.Context(), r, "A", "C", 1); !errors.Is(err, ErrNoPath) {
		t.Errorf("an edge was followed backwards: %v", err)
	}
}

func TestLabelSearchConformance(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"Cargo", "Let Go", "my_go", "Gopher", "Go", "Rust", "世界"})
	r := s.view()
	got, err := g.SearchLabels(t.Context(), r, " go ", DefaultSearch)
	if err != nil {
		t.Fatal(err)
	}
	want := []Match{{"Go", 1000}, {"Gopher", 500}, {"my_go", 145}, {"Let Go", 144}, {"Cargo", 95}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, err := g.SearchLabels(t.Context(), r, "go", 2); err != nil || !slices.Equal(got, want[:2]) {
		t.Errorf("limit 2: %v, %v", got, err)
	}
	if got, err := g.SearchLabels(t.Context(), r, "界", 9); err != nil || !slices.Equal(got, []Match{{"世界", 98}}) {
		t.Errorf("length counts characters: %v, %v", got, err)
	}
	if got, err := g.SearchLabels(t.Context(), r, " \t", 9); err != nil || got != nil {
		t.Errorf("empty query: %v, %v", got, err)
	}
	for _, limit := range []int{0, -1, MaxSearch + 1} {
		if _, err := g.SearchLabels(t.Context(), r, "go", limit); !errors.Is(err, ErrInvalid) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestPopularLabels(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"lone", "Alone"}, pairs("CB CA BA CD")...)
	r := s.view()
	got, err := g.PopularLabels(t.Context(), r, DefaultPopular)
	if err != nil {
		t.Fatal(err)
	}
	want := []Label{{"C", 3}, {"A", 2}, {"B", 2}, {"D", 1}, {"Alone", 0}, {"lone", 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, err := g.PopularLabels(t.Context(), r, 2); err != nil || !slices.Equal(got, want[:2]) {
		t.Errorf("limit 2: %v, %v", got, err)
	}
	if _, err := g.PopularLabels(t.Context(), r, MaxPopular+1); !errors.Is(err, ErrInvalid) {
		t.Errorf("limit: %v", err)
	}
	labels, err := g.Labels(t.Context(), r)
	if err != nil || !slices.Equal(labels, []string{"A", "Alone", "B", "C", "D", "lone"}) {
		t.Errorf("labels %v, %v", labels, err)
	}
}

func TestWalkManyLevels(t *testing.T) {
	s := newStore(t)
	var edges [][2]string
	for i := range 200 {
		edges = append(edges, [2]string{fmt.Sprintf("n%03d", i), fmt.Sprintf("n%03d", i+1)})
	}
	g := s.build("g", nil, edges...)
	w, err := g.KHop(t.Context(), s.view(), "n100", 40, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Hops) != 81 || w.Truncated || !w.DepthLimited {
		t.Errorf("%d hops, truncated %v, depth limited %v", len(w.Hops), w.Truncated, w.DepthLimited)
	}
	if last := w.Hops[80]; last.Depth != 40 || last.Name != "n140" {
		t.Errorf("last hop %v", last)
	}
}
