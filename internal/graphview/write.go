package graphview

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
)

// View is what a page shows.
type View struct {
	// Title stands above the picture and names the browser's tab.
	Title string `json:"title"`
	// AllNodes and AllEdges are how many there are, shown or not: the page tells both.
	AllNodes int `json:"all_nodes"`
	AllEdges int `json:"all_edges"`
	// Notes tell what else there is to know of what is left out, a sentence each.
	Notes []string `json:"notes"`
	// Start is the name of the node whose details the page begins with; empty: none.
	Start string `json:"start,omitempty"`
	Nodes []Node `json:"nodes"` // names are distinct; the best connected first makes the best picture
	// Edges join Nodes by name; one whose end is not among them is refused.
	Edges []Edge `json:"edges"`
}

// Node is a thing with a name.
type Node struct {
	Name string `json:"name"`
	Type string `json:"type"` // chooses the colour
	// Degree chooses the size; it may count edges that are not shown.
	Degree int `json:"degree"`
	Source
}

// Edge joins two nodes, in either direction.
type Edge struct {
	Src      string   `json:"source"`
	Dst      string   `json:"target"`
	Keywords []string `json:"keywords"`
	Weight   float64  `json:"weight"` // finite; chooses the width
	Source
}

// Source tells what is known of a node or an edge, and from where.
type Source struct {
	Texts     []string `json:"texts"` // paragraphs
	Documents []string `json:"documents"`
	Chunks    []string `json:"chunks"`
	// ChunkCount is how many chunks there are, where Chunks lists the first of them only.
	ChunkCount int `json:"chunk_count"`
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed cytoscape/cytoscape.min.js
	libraryJS string
	//go:embed cytoscape/LICENSE
	libraryLicense string
)

// page escapes what stands between the tags; script, style and JSON bring no markup of their own.
var page = template.Must(template.New("page.html").Parse(pageHTML))

// Write places the nodes and writes a self-contained page, about 450 kB and the data. Up to some 1,000 nodes take a
// second, 5,000 a few. The error is that of w, or tells which node or
// edge cannot be shown.
func Write(w io.Writer, v View) error {
	if err := v.check(); err != nil {
		return fmt.Errorf("graphview: %w", err)
	}
	data, err := json.Marshal(struct {
		View
		Places []point `json:"places"` // of the nodes
	}{v, v.places()}) // <, >, &, U+2028 and U+2029 as \u escapes: it cannot end its element
	if err != nil {
		return fmt.Errorf("graphview: %w", err)
	}
	err = page.Execute(w, map[string]any{
		"Title": v.Title, "License": libraryLicense,
		"Policy":  "default-src 'none'; style-src 'unsafe-inline'; script-src " + hash(libraryJS) + " " + hash(pageJS),
		"CSS":     template.CSS(pageCSS),
		"Data":    template.HTML(`<script type="application/json" id="data">` + string(data) + `</script>`),
		"Library": template.HTML("<script>" + libraryJS + "</script>"),
		"Script":  template.HTML("<script>" + pageJS + "</script>"),
	})
	if err != nil {
		return fmt.Errorf("graphview: %w", err)
	}
	return nil
}

// hash is how a content security policy names a script.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (v *View) places() []point {
	at := make(map[string]int, len(v.Nodes))
	for i, n := range v.Nodes {
		at[n.Name] = i
	}
	edges := make([][2]int, len(v.Edges))
	for i, e := range v.Edges {
		edges[i] = [2]int{at[e.Src], at[e.Dst]}
	}
	return layout(len(v.Nodes), edges)
}

func (v *View) check() error {
	names := make(map[string]bool, len(v.Nodes))
	for _, n := range v.Nodes {
		if names[n.Name] {
			return fmt.Errorf("two nodes are named %q", n.Name)
		}
		names[n.Name] = true
	}
	if v.Start != "" && !names[v.Start] {
		return fmt.Errorf("the start %q is no node", v.Start)
	}
	for _, e := range v.Edges {
		if !names[e.Src] || !names[e.Dst] {
			return fmt.Errorf("an end of the edge %q - %q is no node", e.Src, e.Dst)
		}
		if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) {
			return fmt.Errorf("the weight of the edge %q - %q is %v", e.Src, e.Dst, e.Weight)
		}
	}
	return nil
}
