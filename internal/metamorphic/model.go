package metamorphic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// model is the database as plain maps.
type model struct {
	kv    map[string]string
	vecs  map[string][]float32
	nodes map[string]string // type by name
	edges map[[2]string]float64
	docs  map[string]string // text by id
	curation
}

func newModel() *model {
	return &model{map[string]string{}, map[string][]float32{}, map[string]string{}, map[[2]string]float64{}, map[string]string{}, newCuration()}
}

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// putEdge reports whether both ends exist.
func (m *model) putEdge(a, b string, w float64) bool {
	_, okA := m.nodes[a]
	_, okB := m.nodes[b]
	if okA && okB {
		m.edges[pair(a, b)] = w
	}
	return okA && okB
}

func (m *model) deleteNode(name string) {
	delete(m.nodes, name)
	maps.DeleteFunc(m.edges, func(p [2]string, _ float64) bool { return p[0] == name || p[1] == name })
}

// rename moves a node and its edges to a free name.
func (m *model) rename(from, to string) {
	moved := func(name string) string {
		if name == from {
			return to
		}
		return name
	}
	m.nodes[to] = m.nodes[from]
	edges := make(map[[2]string]float64, len(m.edges))
	for p, w := range m.edges {
		edges[pair(moved(p[0]), moved(p[1]))] = w
	}
	m.edges = edges
	if from != to {
		delete(m.nodes, from)
	}
}

// lines renders the state as reader does for a database, document knowledge only on request: it is that
// of documents which are one chunk each.
func (m *model) lines(knowledge bool) []string {
	var out []string
	for k, v := range m.kv {
		out = append(out, kvLine(k, v))
	}
	for id, v := range m.vecs {
		out = append(out, vectorLine(id, v))
	}
	degree := map[string]int{}
	for p, w := range m.edges {
		out = append(out, edgeLine("plain", p[0], p[1], w))
		for _, end := range p { // a loop has two ends
			degree[end]++
		}
	}
	for n, typ := range m.nodes {
		out = append(out, nodeLine("plain", n, typ, degree[n]))
	}
	if knowledge {
		out = append(out, m.knowledge()...)
	}
	slices.Sort(out)
	return out
}

// nearest is brute force: ids by distance, ties by id.
func (m *model) nearest(q []float32, k int) []string {
	ids := slices.Sorted(maps.Keys(m.vecs))
	slices.SortStableFunc(ids, func(a, b string) int {
		return int(distance(q, m.vecs[a]) - distance(q, m.vecs[b]))
	})
	return ids[:min(k, len(ids))]
}

// distance is the square of the Euclidean distance: exact, for all values are small integers.
func distance(a, b []float32) (d float32) {
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}

func kvLine(k, v string) string                { return fmt.Sprintf("kv %q %q", k, v) }
func vectorLine(id string, v []float32) string { return fmt.Sprintf("vector %q %v", id, v) }
func nodeLine(g, name, typ string, degree int) string {
	return fmt.Sprintf("node %s %q %q degree %d", g, name, typ, degree)
}
func edgeLine(g, a, b string, w float64) string {
	p := pair(a, b)
	return fmt.Sprintf("edge %s %q %q %g", g, p[0], p[1], w)
}

// differ describes the first difference of two sorted lists of lines; empty when there is none.
func differ(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	for i := range max(len(got), len(want)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return fmt.Sprintf("line %d of %d and %d:\n got %.300s\nwant %.300s", i+1, len(got), len(want), a, b)
		}
	}
	return strings.Join(got, "\n")
}
