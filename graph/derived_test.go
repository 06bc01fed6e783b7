package graph

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// openBatch is a batch that nothing is committed from.
func openBatch(t *testing.T, s *store) *kv.Batch {
	t.Helper()
	b, err := s.kv.NewBatch(s.lsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func stampOf(p Props) func(int, int) (Props, error) {
	return func(int, int) (Props, error) { return p, nil }
}

func valuesOf(m map[string]any) iter.Seq2[string, any] { return maps.All(m) }

// derivedNow reads the derived properties of all nodes.
func derivedNow(t *testing.T, g *Graph, r kv.Reader) map[string]Props {
	t.Helper()
	all := map[string]Props{}
	for n, err := range g.AllNodes(r) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Derived(r, n.Name)
		if err != nil {
			t.Fatal(err)
		}
		if p != nil {
			all[n.Name] = p
		}
	}
	return all
}

func TestDerived(t *testing.T) {
	s := newStore(t)
	g := s.create("g", Config{})
	s.update(func(b *kv.Batch) error { return putAll(g, b, []string{"A", "B", "C"}, pairs("AB BC")) })
	save := func(property string, values map[string]any, saved, absent int) {
		t.Helper()
		s.update(func(b *kv.Batch) error {
			x, y, err := g.SaveDerived(t.Context(), b, property, stampOf(Props{"of": property}), valuesOf(values))
			if x != saved || y != absent {
				t.Errorf("%s: %d saved, %d absent; want %d, %d", property, x, y, saved, absent)
			}
			return err
		})
	}
	want := func(what string, all map[string]Props, stamps ...string) {
		t.Helper()
		if got := derivedNow(t, g, s.view()); !reflect.DeepEqual(got, all) {
			t.Errorf("%s: derived properties %v, want %v", what, got, all)
		}
		have, err := g.DerivedStamps(s.view())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, st := range have {
			names = append(names, st.Property)
			if st.Props["of"] != st.Property {
				t.Errorf("%s: stamp %v", what, st)
			}
		}
		if strings.Join(names, " ") != strings.Join(stamps, " ") {
			t.Errorf("%s: stamps %v, want %v", what, names, stamps)
		}
	}
	save("rank", map[string]any{"A": 0.5, "B": 0.25, "Z": 1.0}, 2, 1)
	save("group", map[string]any{"B": int64(1), "C": int64(0)}, 2, 0)
	want("two", map[string]Props{"A": {"rank": 0.5}, "B": {"rank": 0.25, "group": int64(1)}, "C": {"group": int64(0)}}, "group", "rank")
	save("rank", map[string]any{"C": 0.75}, 1, 0)
	want("saved again", map[string]Props{"B": {"group": int64(1)}, "C": {"rank": 0.75, "group": int64(0)}}, "group", "rank")

	s.update(func(b *kv.Batch) error { return g.RenameNode(b, "C", "D") })
	s.update(func(b *kv.Batch) error { return g.PutNode(b, Node{Name: "B", Type: "new"}) })
	want("renamed", map[string]Props{"B": {"group": int64(1)}, "D": {"rank": 0.75, "group": int64(0)}}, "group", "rank")
	s.update(func(b *kv.Batch) error { return g.DeleteNode(b, "D") })
	s.update(func(b *kv.Batch) error { return g.PutNode(b, Node{Name: "D"}) })
	want("deleted and new", map[string]Props{"B": {"group": int64(1)}}, "group", "rank")
	s.update(func(b *kv.Batch) error { return g.DropDerived(t.Context(), b, "group") })
	want("dropped", map[string]Props{}, "rank")

	b := openBatch(t, s)
	if err := g.DropDerived(t.Context(), b, "group"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	if _, err := g.Derived(b, "nobody"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("of no node: %v", err)
	}
	for name, try := range map[string]func() error{
		"no name": func() error { _, _, err := g.SaveDerived(t.Context(), b, "", stampOf(nil), valuesOf(nil)); return err },
		"a long one": func() error {
			_, _, err := g.SaveDerived(t.Context(), b, strings.Repeat("x", 129), stampOf(nil), valuesOf(nil))
			return err
		},
		"a value": func() error {
			_, _, err := g.SaveDerived(t.Context(), b, "p", stampOf(nil), valuesOf(map[string]any{"A": 1}))
			return err
		},
		"a stamp": func() error {
			_, _, err := g.SaveDerived(t.Context(), b, "p", stampOf(Props{"x": 1}), valuesOf(nil))
			return err
		},
	} {
		if err := try(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.SaveDerived(ctx, b, "p", stampOf(nil), valuesOf(map[string]any{"A": int64(1)})); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestCheckDerived(t *testing.T) {
	for name, damage := range map[string]func(g *Graph, b *kv.Batch) error{
		"G9: id 9": func(g *Graph, b *kv.Batch) error {
			return b.Set(g.idKey(kindDerived, 9), codec.AppendProps(nil, Props{"rank": 1.0}))
		},
		"G9: a property without a stamp": func(g *Graph, b *kv.Batch) error { return b.Delete(g.stampKey("rank")) },
		"value: no properties":           func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindDerived, 1), []byte{0}) },
		"value: bytes":                   func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindDerived, 1), []byte{7}) },
		"value: of a stamp":              func(g *Graph, b *kv.Batch) error { return b.Set(g.stampKey("x"), []byte{7}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			g := s.create("g", Config{})
			s.update(func(b *kv.Batch) error {
				if err := g.PutNode(b, Node{Name: "A"}); err != nil {
					return err
				}
				_, _, err := g.SaveDerived(t.Context(), b, "rank", stampOf(nil), valuesOf(map[string]any{"A": 1.0}))
				return err
			})
			rule, _, _ := strings.Cut(name, ":")
			b := openBatch(t, s)
			if err := damage(g, b); err != nil {
				t.Fatal(err)
			}
			found := false
			for p, err := range g.Check(b) {
				if err != nil {
					t.Fatal(err)
				}
				if p.Rule != rule {
					t.Errorf("also found %v", p)
				}
				found = found || p.Rule == rule
			}
			if !found {
				t.Error("not found")
			}
		})
	}
}

// TestNewCSR compares what is made in memory with the snapshot of the same graph in a store.
func TestNewCSR(t *testing.T) {
	for _, directed := range []bool{false, true} {
		s := newStore(t)
		g := s.create("g", Config{Directed: directed})
		names := []string{"D", "C", "B", "A"}
		s.update(func(b *kv.Batch) error { return putAll(g, b, names, pairs("BA AC CC DB")) })
		want, err := g.Snapshot(t.Context(), s.view(), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewCSR(directed, names, []Arc{{2, 3, .25}, {3, 1, 1}, {1, 1, 1}, {2, 3, .75}, {0, 2, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("directed %v: made\n%+v\nread\n%+v", directed, got, want)
		}
	}
	for _, bad := range []struct {
		names []string
		arcs  []Arc
	}{{[]string{"A", "A"}, nil}, {[]string{"A"}, []Arc{{0, 1, 1}}}, {[]string{"A"}, []Arc{{0, 0, math.Inf(1)}}}} {
		if _, err := NewCSR(false, bad.names, bad.arcs); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
