package graph

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/invariants"
	"github.com/glimdb/db/kv"
)

func TestDegreeClassesGrow(t *testing.T) {
	last := degreeClass(0)
	for d := uint32(1); d < 1<<20; d++ {
		c := degreeClass(d)
		if c != last && c != last+1 || d <= exactDegrees && c == last {
			t.Fatalf("class of %d is %d, of %d it is %d", d, c, d-1, last)
		}
		last = c
	}
	if c := degreeClass(math.MaxUint32); c <= last || c == math.MaxUint8 {
		t.Errorf("class of the largest degree is %d", c)
	}
}

func TestOrderedBits(t *testing.T) {
	list := []float64{-math.MaxFloat64, -2, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, 1.5, math.MaxFloat64}
	for i, x := range list {
		if got := fromOrderedBits(orderedBits(x)); got != x {
			t.Errorf("%v comes back as %v", x, got)
		}
		for _, y := range list[i+1:] {
			if orderedBits(x) >= orderedBits(y) {
				t.Errorf("%v does not sort before %v", x, y)
			}
		}
	}
	if orderedBits(math.Copysign(0, -1)) != orderedBits(0) {
		t.Error("the zeros differ")
	}
}

// TestShelves changes a graph whose degrees span many classes, hubs joined with hubs among them, and
// compares the ranking of every hub with the sorted list. checkClean compares the shelves themselves.
func TestShelves(t *testing.T) {
	nodes, rounds := 130, 12
	if invariants.Enabled { // checked builds take ten times as long
		nodes, rounds = 110, 4
	}
	for _, directed := range []bool{false, true} {
		t.Run(fmt.Sprintf("directed=%v", directed), func(t *testing.T) {
			const seed = 3
			rng := rand.New(rand.NewPCG(seed, 6))
			s := newStore(t)
			g := s.create("g", Config{Directed: directed})
			g.hub = 25
			m := newModel(directed)
			label := func(i int) string { return fmt.Sprintf("n%03d", i) }
			popular := func() string { return label(int(float64(nodes) * math.Pow(rng.Float64(), 3))) }
			put := func(b *kv.Batch) error {
				e := Edge{Src: popular(), Dst: label(rng.IntN(nodes)), Type: []string{"", "", "x"}[rng.IntN(3)], Weight: float64(rng.IntN(4) - 1)}
				for _, name := range []string{e.Src, e.Dst} {
					if !m.has(name) {
						m.nodes[name] = Node{Name: name}
						if err := g.PutNode(b, Node{Name: name}); err != nil {
							return err
						}
					}
				}
				k := m.key(e.Src, e.Dst, e.Type)
				e.Src, e.Dst = k.src, k.dst
				m.edges[k] = e
				return g.PutEdge(b, e)
			}
			hubs := 0
			for round := range rounds {
				s.update(func(b *kv.Batch) error {
					for range 1 + rng.IntN(2*nodes) {
						if err := put(b); err != nil {
							return err
						}
					}
					for range rng.IntN(30) {
						step := rng.IntN(3)
						if len(m.edges) == 0 {
							step = 2
						}
						switch step {
						case 0: // an edge goes
							e := m.sortedEdges()[rng.IntN(len(m.edges))]
							delete(m.edges, m.key(e.Src, e.Dst, e.Type))
							if err := g.DeleteEdge(b, e.Src, e.Dst, e.Type); err != nil {
								return err
							}
						case 1: // a name changes, twice in a batch at times
							from, to := popular(), fmt.Sprintf("r%03d", rng.IntN(1000))
							if !m.has(from) || m.has(to) {
								continue
							}
							if err := g.RenameNode(b, from, to); err != nil {
								return err
							}
							m.rename(from, to)
						case 2:
							if err := put(b); err != nil {
								return err
							}
						}
					}
					if name := popular(); round%3 == 0 && m.has(name) { // a hub goes, mostly
						if err := g.DeleteNode(b, name); err != nil {
							return err
						}
						m.remove(name)
					}
					if round%2 == 0 {
						return nil
					}
					_, err := g.RankedIncident(b, nil, 1) // the shelves follow inside the batch, too
					return cmp.Or(err, compareHubs(g, b, m, &hubs), put(b))
				})
				if err := compareHubs(g, s.view(), m, &hubs); err != nil {
					t.Fatalf("seed %d, round %d: %v", seed, round, err)
				}
				checkClean(t, g, s.view())
			}
			if hubs < rounds {
				t.Errorf("only %d hubs were compared", hubs)
			}
		})
	}
}

// compareHubs compares the rankings of all hubs, alone and together.
func compareHubs(g *Graph, r kv.Reader, m *model, hubs *int) error {
	var names []string
	for name, d := range m.degrees() {
		if d >= g.hub {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	*hubs += len(names)
	sets := [][]string{names}
	for _, name := range names {
		sets = append(sets, []string{name})
	}
	for _, set := range sets {
		want := m.ranked(set, 0)
		for _, limit := range []int{1, 7, 20, 60} {
			got, err := g.RankedIncident(r, set, limit)
			if err != nil {
				return err
			}
			if w := want[:min(limit, len(want))]; !slices.Equal(bare(got), w) {
				return fmt.Errorf("hubs %v, limit %d:\n got %+v\nwant %+v", set, limit, bare(got), w)
			}
		}
	}
	return nil
}

// TestHubCostsItsCap: the keys read to rank the first edges of a hub do not grow with its degree.
func TestHubCostsItsCap(t *testing.T) {
	const limit = 50
	read := func(degree int) int {
		s := newStore(t)
		var edges [][2]string
		for i := range degree {
			edges = append(edges, [2]string{"hub", fmt.Sprintf("n%05d", i)})
			if i > 0 && i%10 == 0 { // some neighbours have more edges than others
				edges = append(edges, [2]string{fmt.Sprintf("n%05d", i), fmt.Sprintf("n%05d", i-1)})
			}
		}
		g := s.build("g", nil, edges...)
		r := &countingReader{Reader: s.view()}
		if _, err := g.RankedIncident(r, []string{"hub"}, limit); err != nil {
			t.Fatal(err)
		}
		return r.steps
	}
	if few, many := read(hubDegree), read(10*hubDegree); many > few || few > limit+20 {
		t.Errorf("%d steps at degree %d, %d at degree %d, for the first %d edges", few, hubDegree, many, 10*hubDegree, limit)
	}
}

// countingReader counts gets and moves of cursors.
type countingReader struct {
	kv.Reader
	steps int
}

func (r *countingReader) Get(key []byte) ([]byte, error) {
	r.steps++
	return r.Reader.Get(key)
}

func (r *countingReader) GetMany(keys [][]byte) ([][]byte, error) {
	r.steps += len(keys)
	return r.Reader.GetMany(keys)
}

func (r *countingReader) ScanMany(prefixes [][]byte, limit int) ([][]kv.Pair, error) {
	lists, err := r.Reader.ScanMany(prefixes, limit)
	for _, list := range lists {
		r.steps += 1 + len(list)
	}
	return lists, err
}

func (r *countingReader) Cursor(lower, upper []byte) (kv.Cursor, error) {
	c, err := r.Reader.Cursor(lower, upper)
	return &countingCursor{Cursor: c, r: r}, err
}

type countingCursor struct {
	kv.Cursor
	r *countingReader
}

func (c *countingCursor) First() bool          { c.r.steps++; return c.Cursor.First() }
func (c *countingCursor) Next() bool           { c.r.steps++; return c.Cursor.Next() }
func (c *countingCursor) SeekGE(k []byte) bool { c.r.steps++; return c.Cursor.SeekGE(k) }
