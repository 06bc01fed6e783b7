package index

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/replay"
)

// TestReplayedReplies reads the recorded replies of six real runs, four forms of reply in four languages,
// and must find exactly the graph that LightRAG built of them.
func TestReplayedReplies(t *testing.T) {
	for _, tc := range []struct {
		name         string
		format       ReplyFormat
		rule         GleanRule
		nodes, edges int
		// typeMisses counts nodes whose type a vote over all mentions does not explain. In ollama-zh the
		// documents came one after the other and the type stored by the first ones had one vote only.
		typeMisses int
		// summarised counts nodes and edges whose description is not the set of fragments.
		summarised int
	}{
		{"lightrag-carol", FormatTuples, GleanNew, 322, 359, 0, 12},
		{"lightrag-ollama-zh", FormatTuples, GleanNew, 469, 470, 1, 8},
		{"lightrag-wiki24", FormatTuples, GleanNew, 135, 100, 0, 0},
		{"lightrag-covid", FormatLines2025, GleanLonger, 710, 603, 0, 6},
		{"lightrag-xiaomi-zh", FormatLines2025, GleanLonger, 64, 44, 0, 0},
		{"lightrag-tiki-vi", FormatTuplesUpper, GleanAppend, 980, 631, 0, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder, want := loadReplay(t, tc.name)
			got := &replay.Graph{Nodes: map[string]replay.Node{}, Edges: map[[2]string]replay.Edge{}}
			votes := map[string][]string{}
			for _, c := range folder.Chunks {
				o := ParseOptions{Format: tc.format}
				addToGraph(got, votes, c.ID, tc.format == FormatLines2025, mergeGleaned(ParseReply(c.Extract, o), ParseReply(c.Glean, o), tc.rule))
			}
			if len(got.Nodes) != tc.nodes || len(got.Edges) != tc.edges {
				t.Errorf("%d nodes and %d edges, want %d and %d", len(got.Nodes), len(got.Edges), tc.nodes, tc.edges)
			}
			if n := compareGraphs(t, got, want); n != tc.summarised {
				t.Errorf("%d descriptions differ from their fragments, want %d", n, tc.summarised)
			}
			misses := 0
			for name, n := range want.Nodes {
				types := votes[name]
				if len(types) == 0 {
					if !isUnknown(n) {
						t.Errorf("node %q has type %q and no vote", name, n.Type)
					}
					continue
				}
				if !slices.Contains(winners(types), n.Type) {
					t.Logf("node %q: type %q, votes %q", name, n.Type, types)
					misses++
				}
			}
			if misses != tc.typeMisses {
				t.Errorf("%d types differ, want %d", misses, tc.typeMisses)
			}
		})
	}
}

// TestRecordedAnswersOfNanoGraphRAG reads the answers of another program that uses the tuple format.
func TestRecordedAnswersOfNanoGraphRAG(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testkit.Data(t, "nano-graphrag-cache"), "mock_cache.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cache map[string]struct{ Return string }
	if err := json.Unmarshal(b, &cache); err != nil {
		t.Fatal(err)
	}
	names, pairs, answers := map[string]bool{}, map[[2]string]bool{}, 0
	for _, c := range cache {
		x := ParseReply(c.Return, ParseOptions{Format: FormatTuplesUpper})
		if len(x.Entities)+len(x.Relations) > 0 {
			answers++
		}
		for _, e := range x.Entities {
			names[e.Name] = true
		}
		for _, r := range x.Relations {
			pairs[replay.Pair(r.Src, r.Dst)] = true
		}
	}
	if answers != 84 || len(names) != 427 || len(pairs) != 392 {
		t.Errorf("%d answers with %d names and %d pairs, want 84, 427 and 392", answers, len(names), len(pairs))
	}
}

func loadReplay(t *testing.T, name string) (*replay.Folder, *replay.Graph) {
	t.Helper()
	dir := testkit.Data(t, name)
	folder, err := replay.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := replay.LoadGraph(dir)
	if err != nil {
		t.Fatal(err)
	}
	return folder, graph
}

// addToGraph adds one chunk's records, as the merge does: mentions count, ends become nodes. With
// endSources the chunk of a relation is a source of its ends too.
func addToGraph(g *replay.Graph, votes map[string][]string, chunk string, endSources bool, x Extraction) {
	for _, e := range x.Entities {
		n := g.Nodes[e.Name]
		if len(votes[e.Name]) == 0 {
			n.Fragments = nil // a placeholder until now
			if !endSources {
				n.Sources = nil
			}
		}
		n.Sources = insert(n.Sources, chunk)
		n.Fragments = insert(n.Fragments, e.Description)
		g.Nodes[e.Name] = n
		votes[e.Name] = append(votes[e.Name], e.Type)
	}
	for _, r := range x.Relations {
		for _, end := range []string{r.Src, r.Dst} {
			n := g.Nodes[end]
			if endSources || len(votes[end]) == 0 {
				n.Sources = insert(n.Sources, chunk)
			}
			if len(votes[end]) == 0 {
				n.Fragments = insert(n.Fragments, r.Description)
			}
			g.Nodes[end] = n
		}
		e := g.Edges[replay.Pair(r.Src, r.Dst)]
		e.Weight += r.Weight
		e.Sources = insert(e.Sources, chunk)
		e.Fragments = insert(e.Fragments, r.Description)
		for _, k := range r.Keywords {
			e.Keywords = insert(e.Keywords, k)
		}
		g.Edges[replay.Pair(r.Src, r.Dst)] = e
	}
}

// compareGraphs compares names, weights, keywords and sources, and returns how many descriptions are not
// the fragments found.
func compareGraphs(t *testing.T, got, want *replay.Graph) (summarised int) {
	t.Helper()
	for name, w := range want.Nodes {
		g, ok := got.Nodes[name]
		if !ok {
			t.Errorf("node %q is missing", name)
			continue
		}
		if !isUnknown(w) && !slices.Equal(g.Sources, w.Sources) {
			t.Errorf("node %q: sources %q, want %q", name, g.Sources, w.Sources)
		}
		if !isUnknown(w) && !slices.Equal(g.Fragments, sorted(w.Fragments)) {
			summarised++
		}
	}
	for name := range got.Nodes {
		if _, ok := want.Nodes[name]; !ok {
			t.Errorf("node %q is not in the recorded graph", name)
		}
	}
	for pair, w := range want.Edges {
		g, ok := got.Edges[pair]
		if !ok {
			t.Errorf("edge %q is missing", pair)
			continue
		}
		if g.Weight != w.Weight || !slices.Equal(g.Keywords, w.Keywords) || !slices.Equal(g.Sources, w.Sources) {
			t.Errorf("edge %q:\n got %v %q %q\nwant %v %q %q", pair, g.Weight, g.Keywords, g.Sources, w.Weight, w.Keywords, w.Sources)
		}
		if !slices.Equal(g.Fragments, sorted(w.Fragments)) {
			summarised++
		}
	}
	for pair := range got.Edges {
		if _, ok := want.Edges[pair]; !ok {
			t.Errorf("edge %q is not in the recorded graph", pair)
		}
	}
	return summarised
}

// isUnknown tells whether a node is only the end of relations.
func isUnknown(n replay.Node) bool { return strings.Trim(n.Type, `"`) == "UNKNOWN" }

// sorted returns the set of s; recorded lists of documents added later hold repeats, and one description a
// space at its end.
func sorted(s []string) []string {
	var out []string
	for _, v := range s {
		out = insert(out, strings.TrimSpace(v))
	}
	return out
}

func winners(votes []string) []string {
	n := map[string]int{}
	for _, v := range votes {
		n[v]++
	}
	most := slices.Max(slices.Collect(maps.Values(n)))
	return slices.DeleteFunc(slices.Collect(maps.Keys(n)), func(v string) bool { return n[v] < most })
}

// insert keeps a sorted set.
func insert(set []string, s string) []string {
	i, found := slices.BinarySearch(set, s)
	if found {
		return set
	}
	return slices.Insert(set, i, s)
}
