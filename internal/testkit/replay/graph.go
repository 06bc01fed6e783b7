package replay

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Graph is the graph that the recorded run ended with.
type Graph struct {
	Nodes map[string]Node
	Edges map[[2]string]Edge // names in code-point order
}

// Node is one entity.
type Node struct {
	Type      string
	Fragments []string // in the order stored
	Sources   []string // chunk ids, sorted
}

// Edge is one relation.
type Edge struct {
	Weight    float64
	Keywords  []string // sorted, unique
	Fragments []string // in the order stored
	Sources   []string // chunk ids, sorted
}

// separator joins several values in one attribute of the recorded graph.
const separator = "<SEP>"

// LoadGraph reads the GraphML file of the folder dir.
func LoadGraph(dir string) (*Graph, error) {
	type data struct {
		Key   string `xml:"key,attr"`
		Value string `xml:",chardata"`
	}
	var doc struct {
		Keys []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"attr.name,attr"`
			For  string `xml:"for,attr"`
		} `xml:"key"`
		Nodes []struct {
			ID   string `xml:"id,attr"`
			Data []data `xml:"data"`
		} `xml:"graph>node"`
		Edges []struct {
			Source string `xml:"source,attr"`
			Target string `xml:"target,attr"`
			Data   []data `xml:"data"`
		} `xml:"graph>edge"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "graph_chunk_entity_relation.graphml"))
	if err != nil {
		return nil, fmt.Errorf("replay: load graph: %w", err)
	}
	if err := xml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("replay: load graph: %w", err)
	}
	names := map[string]string{}
	for _, k := range doc.Keys {
		names[k.ID] = k.Name
	}
	attrs := func(ds []data) map[string]string {
		out := map[string]string{}
		for _, d := range ds {
			out[names[d.Key]] = d.Value
		}
		return out
	}
	g := &Graph{Nodes: map[string]Node{}, Edges: map[[2]string]Edge{}}
	for _, n := range doc.Nodes {
		a := attrs(n.Data)
		g.Nodes[n.ID] = Node{Type: a["entity_type"], Fragments: strings.Split(a["description"], separator), Sources: set(a["source_id"], separator)}
	}
	for _, e := range doc.Edges {
		a := attrs(e.Data)
		w, err := strconv.ParseFloat(a["weight"], 64)
		if err != nil {
			return nil, fmt.Errorf("replay: load graph: edge %s - %s: %w", e.Source, e.Target, err)
		}
		g.Edges[Pair(e.Source, e.Target)] = Edge{Weight: w, Fragments: strings.Split(a["description"], separator),
			Keywords: set(strings.ReplaceAll(a["keywords"], separator, ","), ","), Sources: set(a["source_id"], separator)}
	}
	return g, nil
}

// Pair returns the two names in code-point order.
func Pair(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

// set splits s and returns its distinct parts, trimmed and sorted.
func set(s, sep string) []string {
	var out []string
	for part := range strings.SplitSeq(s, sep) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
