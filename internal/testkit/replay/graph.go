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

// GraphML is what a GraphML file holds, attributes by name.
type GraphML struct {
	Nodes []GraphMLNode
	Edges []GraphMLEdge
}

// GraphMLNode is a node of a file.
type GraphMLNode struct {
	ID         string
	Attributes map[string]string
}

// GraphMLEdge is an edge of a file.
type GraphMLEdge struct {
	Source, Target string
	Attributes     map[string]string
}

// ParseGraphML reads a GraphML file; an attribute that it does not declare is an error.
func ParseGraphML(file []byte) (*GraphML, error) {
	type data struct {
		Key   string `xml:"key,attr"`
		Value string `xml:",chardata"`
	}
	var doc struct {
		Keys []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"attr.name,attr"`
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
	if err := xml.Unmarshal(file, &doc); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, k := range doc.Keys {
		names[k.ID] = k.Name
	}
	var undeclared error
	attributes := func(list []data) map[string]string {
		out := map[string]string{}
		for _, d := range list {
			name, ok := names[d.Key]
			if !ok {
				undeclared = fmt.Errorf("undeclared key %q", d.Key)
			}
			out[name] = d.Value
		}
		return out
	}
	g := &GraphML{}
	for _, n := range doc.Nodes {
		g.Nodes = append(g.Nodes, GraphMLNode{n.ID, attributes(n.Data)})
	}
	for _, e := range doc.Edges {
		g.Edges = append(g.Edges, GraphMLEdge{e.Source, e.Target, attributes(e.Data)})
	}
	return g, undeclared
}

// LoadGraph reads the GraphML file of the folder dir.
func LoadGraph(dir string) (*Graph, error) {
	b, err := os.ReadFile(filepath.Join(dir, "graph_chunk_entity_relation.graphml"))
	if err != nil {
		return nil, fmt.Errorf("replay: load graph: %w", err)
	}
	doc, err := ParseGraphML(b)
	if err != nil {
		return nil, fmt.Errorf("replay: load graph: %w", err)
	}
	g := &Graph{Nodes: map[string]Node{}, Edges: map[[2]string]Edge{}}
	for _, n := range doc.Nodes {
		a := n.Attributes
		g.Nodes[n.ID] = Node{Type: a["entity_type"], Fragments: strings.Split(a["description"], separator), Sources: set(a["source_id"], separator)}
	}
	for _, e := range doc.Edges {
		a := e.Attributes
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
