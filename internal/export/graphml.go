package export

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// Attribute is a property of nodes or edges; Type is one of GraphML's: string, long, double, boolean.
type Attribute struct{ Name, Type string }

// GraphML writes an undirected graph as Gephi, yEd and networkx read it: nodes first, then edges. Lists are
// JSON arrays. An id that XML cannot hold gets a digest besides, so that it stays unlike any other.
type GraphML struct {
	Notes

	w            io.Writer
	nodes, edges []Attribute
	err          error // the first, which sticks
}

// NewGraphML begins a graph whose nodes and edges have these attributes.
func NewGraphML(w io.Writer, nodes, edges []Attribute) *GraphML {
	g := &GraphML{w: w, nodes: nodes, edges: edges}
	g.raw(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	g.declare("node", nodes, 0)
	g.declare("edge", edges, len(nodes))
	g.raw("  <graph edgedefault=\"undirected\">\n")
	return g
}

// Node writes a node with the values of its attributes; others are ignored. Every id may be written once.
func (g *GraphML) Node(id string, values map[string]any) error {
	g.raw(`    <node id="`)
	g.id(id)
	g.raw("\">\n")
	g.data(g.nodes, 0, values)
	g.raw("    </node>\n")
	return g.err
}

// Edge writes an edge between two nodes that were written.
func (g *GraphML) Edge(src, dst string, values map[string]any) error {
	g.raw(`    <edge source="`)
	g.id(src)
	g.raw(`" target="`)
	g.id(dst)
	g.raw("\">\n")
	g.data(g.edges, len(g.nodes), values)
	g.raw("    </edge>\n")
	return g.err
}

// Close ends the graph.
func (g *GraphML) Close() error {
	g.raw("  </graph>\n</graphml>\n")
	return g.err
}

func (g *GraphML) declare(kind string, attributes []Attribute, first int) {
	for i, a := range attributes {
		g.raw(`  <key id="d` + strconv.Itoa(first+i) + `" for="` + kind + `" attr.name="`)
		g.text(a.Name)
		g.raw(`" attr.type="` + a.Type + "\"/>\n")
	}
}

func (g *GraphML) data(attributes []Attribute, first int, values map[string]any) {
	for i, a := range attributes {
		v := values[a.Name]
		if v == nil {
			continue
		}
		g.raw(`      <data key="d` + strconv.Itoa(first+i) + `">`)
		g.text(text(v))
		g.raw("</data>\n")
	}
}

func (g *GraphML) raw(s string) {
	if g.err == nil {
		_, g.err = io.WriteString(g.w, s)
	}
}

func (g *GraphML) text(s string) {
	s = g.clean(s, inXML)
	if g.err == nil {
		g.err = xml.EscapeText(g.w, []byte(s))
	}
}

// digested ids are those that look like one with a digest.
var digested = regexp.MustCompile(`#[0-9a-f]{16}$`)

func (g *GraphML) id(id string) {
	before := g.Replaced
	g.text(id)
	if g.Replaced > before || digested.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		g.raw(fmt.Sprintf("#%x", sum[:8]))
	}
}

// inXML: the characters of XML 1.0, less those that readers make others of or advise against.
func inXML(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r < 0x7f, r > 0x9f && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
		return true
	}
	return false
}
