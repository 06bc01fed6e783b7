package graph

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

func TestCreateOpenListDrop(t *testing.T) {
	s := newStore(t)
	names := []string{"knowledge", "a", "a\x00b", "ab", "\xF0\x9F\x8C\x8D"}
	for _, n := range names {
		s.update(func(b *kv.Batch) error {
			g, err := Create(b, "", n, Config{})
			if err != nil {
				return err
			}
			return putAll(g, b, nil, [][2]string{{n + "1", n + "2"}})
		})
	}
	s.update(func(b *kv.Batch) error {
		_, err := Create(b, "other", "elsewhere", Config{})
		return err
	})
	r := s.view()
	got, err := List(r, "")
	slices.Sort(names)
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("List = %q, %v; want %q", got, err, names)
	}
	if got, err := List(r, "none"); err != nil || len(got) != 0 {
		t.Errorf("List of an unused workspace: %q, %v", got, err)
	}
	if _, err := Open(r, "other", "knowledge"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("Open in another workspace: %v", err)
	}

	s.update(func(b *kv.Batch) error {
		g, err := Create(b, "", "a", Config{})
		if err != nil {
			t.Errorf("Create of an existing graph: %v", err)
		} else if st, err := g.Stats(b); err != nil || st != (Stats{2, 1}) {
			t.Errorf("Create emptied the graph: %v, %v", st, err)
		}
		_, err = Create(b, "", "a", Config{Directed: true})
		var conflict *ConfigError
		if !errors.As(err, &conflict) || !errors.Is(err, ErrConfig) || conflict.Have.Directed || !conflict.Want.Directed {
			t.Errorf("Create with another configuration: %v", err)
		}
		return nil
	})

	s.update(func(b *kv.Batch) error {
		g, err := Open(b, "", "a")
		if err != nil {
			return err
		}
		if err := Drop(b, "", "a"); err != nil {
			return err
		}
		if err := Drop(b, "", "a"); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("second Drop: %v", err)
		}
		if err := g.PutNode(b, Node{Name: "x"}); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("PutNode into a dropped graph: %v", err)
		}
		if g, err = Create(b, "", "a", Config{Directed: true}); err != nil {
			return err
		}
		if err := g.PutNode(b, Node{Name: "x"}); err != nil {
			return err
		}
		st, err := g.Stats(b)
		if err != nil || st != (Stats{Nodes: 1}) {
			t.Errorf("recreated graph: %v, %v", st, err)
		}
		return Drop(b, "", "a\x00b")
	})
	got, err = List(s.view(), "")
	if want := []string{"a", "ab", "knowledge", "\xF0\x9F\x8C\x8D"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("List after Drop = %q, %v; want %q", got, err, want)
	}
	if g, err := Open(s.view(), "", "a"); err != nil || !g.Config().Directed || g.Name() != "a" {
		t.Errorf("Open after recreation: %v, %v", g, err)
	}
}

func TestValidation(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"A", "B"})
	long := strings.Repeat("x", MaxNameBytes+1)
	node := func(n Node) func(*kv.Batch) error { return func(b *kv.Batch) error { return g.PutNode(b, n) } }
	edge := func(e Edge) func(*kv.Batch) error { return func(b *kv.Batch) error { return g.PutEdge(b, e) } }
	prop := func(v any) func(*kv.Batch) error { return node(Node{Name: "A", Props: Props{"k": v}}) }
	for _, tc := range []struct {
		name       string
		op         func(*kv.Batch) error
		field, key string
		says       string
	}{
		{"empty name", node(Node{}), "node name", "", "empty"},
		{"long name", node(Node{Name: long}), "node name", "", "limit 4096"},
		{"name not UTF-8", node(Node{Name: "a\xff"}), "node name", "", "UTF-8"},
		{"long type", node(Node{Name: "A", Type: long}), "node type", "", "limit 4096"},
		{"long edge type", edge(Edge{Src: "A", Dst: "B", Type: long}), "edge type", "", "limit 4096"},
		{"NaN weight", edge(Edge{Src: "A", Dst: "B", Weight: math.NaN()}), "edge weight", "", "NaN"},
		{"infinite weight", edge(Edge{Src: "A", Dst: "B", Weight: math.Inf(-1)}), "edge weight", "", "-Inf"},
		{"edge property", edge(Edge{Src: "A", Dst: "B", Props: Props{"when": struct{}{}}}), "property", "when", "struct {}"},
		{"int property", prop(1), "property", "k", "type int;"},
		{"nil property", prop(nil), "property", "k", "<nil>"},
		{"NaN property", prop(math.NaN()), "property", "k", "NaN"},
		{"text property not UTF-8", prop("\xff"), "property", "k", "UTF-8"},
		{"list property not UTF-8", prop([]string{"a", "\xff"}), "property", "k", "element 1"},
		{"property key not UTF-8", node(Node{Name: "A", Props: Props{"\xff": "v"}}), "property", "\uFFFD", "UTF-8"},
		{"rename to empty", func(b *kv.Batch) error { return g.RenameNode(b, "A", "") }, "node name", "", "empty"},
		{"graph name", func(b *kv.Batch) error { _, err := Create(b, "", "", Config{}); return err }, "graph name", "", "empty"},
		{"negative limit", func(b *kv.Batch) error { _, err := g.RankedIncident(b, nil, -1); return err }, "argument", "limit", "negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := s.try(tc.op)
			var invalid *InvalidError
			if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v, want an InvalidError", err)
			}
			if invalid.Field != tc.field || invalid.Key != tc.key || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %q (field %q, key %q), want field %q, key %q, %q in the text", err, invalid.Field, invalid.Key, tc.field, tc.key, tc.says)
			}
		})
	}
	for _, e := range []Edge{{Src: "A", Dst: "nobody"}, {Src: "nobody", Dst: "A"}} {
		err := s.try(edge(e))
		var missing *MissingNodeError
		if !errors.As(err, &missing) || missing.Name != "nobody" || !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("edge %v: %v, want a MissingNodeError", e, err)
		}
	}
	if st, err := g.Stats(s.view()); err != nil || st != (Stats{Nodes: 2}) {
		t.Errorf("a refused operation left a trace: %v, %v", st, err)
	}
}

// Control characters, separators of other systems and the longest name are names like any other.
func TestOddNames(t *testing.T) {
	s := newStore(t)
	odd := []string{"\x00", "\x00\x01", "\x00\xC3\xBF", "<SEP>", "a\x1b[31mred", "a", "a\x00", "*", strings.Repeat("長", MaxNameBytes/3)}
	g := s.create("g", Config{})
	s.update(func(b *kv.Batch) error {
		for _, n := range odd {
			if err := g.PutNode(b, Node{Name: n, Type: n}); err != nil {
				return err
			}
		}
		for i, n := range odd {
			if err := g.PutEdge(b, Edge{Src: n, Dst: odd[(i+1)%len(odd)], Type: n, Weight: float64(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	r := s.view()
	for i, n := range odd {
		if got, err := g.Node(r, n); err != nil || got.Name != n || got.Type != n || got.Degree != 2 {
			t.Errorf("node %q: %+v, %v", n, got, err)
		}
		if e, err := g.Edge(r, odd[(i+1)%len(odd)], n, n); err != nil || e.Weight != float64(i) {
			t.Errorf("edge of %q: %+v, %v", n, e, err)
		}
	}
	labels, err := g.Labels(t.Context(), r)
	slices.Sort(odd)
	if err != nil || !slices.Equal(labels, odd) {
		t.Errorf("labels %q, %v", labels, err)
	}
}

func TestUndirectedEdgeIsOne(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"B", "A"})
	s.update(func(b *kv.Batch) error { return g.PutEdge(b, Edge{Src: "B", Dst: "A", Weight: 1}) })
	s.update(func(b *kv.Batch) error {
		return g.PutEdge(b, Edge{Src: "A", Dst: "B", Weight: 2, Props: Props{"k": "v"}})
	})
	r := s.view()
	for _, p := range [][2]string{{"A", "B"}, {"B", "A"}} {
		e, err := g.Edge(r, p[0], p[1], "")
		if err != nil || e.Src != "A" || e.Dst != "B" || e.Weight != 2 || e.Props["k"] != "v" {
			t.Errorf("edge %v = %+v, %v", p, e, err)
		}
	}
	if st, err := g.Stats(r); err != nil || st.Edges != 1 {
		t.Errorf("stats %v, %v", st, err)
	}
	if d, err := g.Degrees(r, []string{"A", "B", "C"}); err != nil || !slices.Equal(d, []int{1, 1, 0}) {
		t.Errorf("degrees %v, %v", d, err)
	}
}

// The props handed in belong to the caller again after the call, and those handed out to the caller.
func TestPropsAreCopied(t *testing.T) {
	s := newStore(t)
	g := s.create("g", Config{})
	list := []string{"one"}
	props := Props{"l": list}
	s.update(func(b *kv.Batch) error {
		err := g.PutNode(b, Node{Name: "A", Props: props})
		list[0], props["l"] = "changed", "changed"
		return err
	})
	n, err := g.Node(s.view(), "A")
	if err != nil || !slices.Equal(n.Props["l"].([]string), []string{"one"}) {
		t.Errorf("props %v, %v", n.Props, err)
	}
}

// Equal content gives equal answers, whatever the order in which it came (invariant G6).
func TestOrderOfInsertionIsInvisible(t *testing.T) {
	edges := pairs("AB AC AD BC DE EF FA EB")
	s := newStore(t)
	g1 := s.build("g1", nil, edges...)
	slices.Reverse(edges)
	g2 := s.build("g2", []string{"F", "C"}, edges...)
	r := s.view()
	r1, err1 := g1.RankedIncident(r, []string{"A", "E"}, 4)
	r2, err2 := g2.RankedIncident(r, []string{"E", "A"}, 4)
	if err := errors.Join(err1, err2); err != nil || len(r1) != 4 || !slices.Equal(bare(r1), bare(r2)) {
		t.Errorf("ranked %v, %v, %v", r1, r2, err)
	}
	w1, err1 := g1.KHop(t.Context(), r, "A", 2, 4)
	w2, err2 := g2.KHop(t.Context(), r, "A", 2, 4)
	if err := errors.Join(err1, err2); err != nil || !slices.Equal(w1.Hops, w2.Hops) {
		t.Errorf("hops %v, %v, %v", w1, w2, err)
	}
	for n, err := range g1.Neighbors(r, "nobody") {
		if !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("neighbors of an absent node: %v, %v", n, err)
		}
	}
}

func TestIteratorsStop(t *testing.T) {
	s := newStore(t)
	g := s.build("g", nil, pairs("AB BC CD")...)
	r := s.view()
	for n, err := range g.AllNodes(r) {
		if err != nil || n.Name != "A" {
			t.Errorf("first node %v, %v", n, err)
		}
		break
	}
	for e, err := range g.AllEdges(r) {
		if err != nil || e.Src != "A" || e.Dst != "B" {
			t.Errorf("first edge %v, %v", e, err)
		}
		break
	}
	for n, err := range g.Neighbors(r, "B") {
		if err != nil || n.Name != "A" {
			t.Errorf("first neighbor %v, %v", n, err)
		}
		break
	}
	s.update(func(b *kv.Batch) error { // damage, so that Check has something to yield
		return b.Delete(g.pairKey(kindEdge, 1, 2, ""))
	})
	for p, err := range g.Check(s.view()) {
		if err != nil || p.Rule != "G4" {
			t.Errorf("first problem %v, %v", p, err)
		}
		break
	}
	s.update(func(b *kv.Batch) error { return b.Set(g.pairKey(kindEdge, 1, 2, ""), encodeEdge(Edge{Weight: 1})) })
}
