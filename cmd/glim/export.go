package main

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) graphExport() *cobra.Command {
	var format string
	var to target
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the whole graph as GraphML or JSON",
		Long:  "Export writes all entities and relations with their properties: GraphML as Gephi, yEd and networkx read it, or JSON,\nwhich is also what --json asks for.",
		Example: `  glim graph export --format graphml > graph.graphml
  glim graph export --format json --output graph.json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch asked := cmd.Flags().Changed("format"); {
			case a.json && !asked:
				format = "json"
			case a.json && format == "graphml" && to.file == "":
				return usage("--json and --format graphml exclude each other")
			}
			write, ok := map[string]func(io.Writer, exported) error{"graphml": writeGraphML, "json": writeGraphJSON}[format]
			if !ok {
				return usage("--format %s: want graphml or json", format)
			}
			return a.inGraph(cmd, func(g *db.Graph) error {
				return a.write(to, func(w io.Writer) error { return write(w, exported{g.Nodes, g.Edges}) })
			})
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "graphml", "graphml or json")
	to.flags(cmd.Flags())
	return cmd
}

// exported is what an export reads: each may be ranged over more than once, on one view.
type exported struct {
	nodes func() iter.Seq2[*graph.Node, error]
	edges func() iter.Seq2[*graph.Edge, error]
}

func nodeJSON(n *graph.Node) map[string]any {
	return map[string]any{"name": n.Name, "type": n.Type, "degree": n.Degree, "properties": n.Props}
}

func edgeJSON(e *graph.Edge) map[string]any {
	return map[string]any{"source": e.Src, "target": e.Dst, "weight": e.Weight, "properties": e.Props}
}

func nodesJSON(ns []*graph.Node) []map[string]any {
	out := make([]map[string]any, 0, len(ns))
	for _, n := range ns {
		out = append(out, nodeJSON(n))
	}
	return out
}

func edgesJSON(es []*graph.Edge) []map[string]any {
	out := make([]map[string]any, 0, len(es))
	for _, e := range es {
		out = append(out, edgeJSON(e))
	}
	return out
}

// writeGraphJSON streams {"nodes": [...], "edges": [...]}, one object a line.
func writeGraphJSON(w io.Writer, g exported) error {
	if _, err := io.WriteString(w, "{\"nodes\": [\n"); err != nil {
		return err
	}
	if err := jsonLines(w, g.nodes(), nodeJSON); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "], \"edges\": [\n"); err != nil {
		return err
	}
	if err := jsonLines(w, g.edges(), edgeJSON); err != nil {
		return err
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}

func jsonLines[T any](w io.Writer, seq iter.Seq2[T, error], f func(T) map[string]any) error {
	first := true
	for v, err := range seq {
		if err != nil {
			return err
		}
		raw, err := json.Marshal(f(v))
		if err != nil {
			return err
		}
		sep := ",\n"
		if first {
			sep, first = "", false
		}
		if _, err := fmt.Fprintf(w, "%s%s", sep, raw); err != nil {
			return err
		}
	}
	return nil
}

// writeGraphML streams GraphML as Gephi, yEd and networkx read it: a node's id is its name. Characters that
// XML forbids are replaced by U+FFFD; lists are joined by "|".
func writeGraphML(w io.Writer, g exported) error {
	x := &xmlWriter{w: w}
	x.raw(xml.Header)
	x.raw(`<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	keys := make(map[string]string) // "node:description" -> d0
	nodeTypes, err := typesOf(g.nodes(), nodeProps)
	if err != nil {
		return err
	}
	x.declare(keys, "node", nodeTypes)
	edgeTypes, err := typesOf(g.edges(), edgeProps)
	if err != nil {
		return err
	}
	x.declare(keys, "edge", edgeTypes)
	x.raw(`  <graph edgedefault="undirected">` + "\n")
	for n, err := range g.nodes() {
		if err != nil {
			return err
		}
		x.raw(`    <node id="`)
		x.id(n.Name)
		x.raw(`">` + "\n")
		x.data(keys, "node", nodeProps(n))
		x.raw("    </node>\n")
	}
	for e, err := range g.edges() {
		if err != nil {
			return err
		}
		x.raw(`    <edge source="`)
		x.id(e.Src)
		x.raw(`" target="`)
		x.id(e.Dst)
		x.raw(`">` + "\n")
		x.data(keys, "edge", edgeProps(e))
		x.raw("    </edge>\n")
	}
	x.raw("  </graph>\n</graphml>\n")
	return x.err
}

// typesOf is the GraphML type of every property.
func typesOf[T any](seq iter.Seq2[T, error], props func(T) graph.Props) (map[string]string, error) {
	types := make(map[string]string)
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		for name, v := range props(v) {
			t := xmlType(v)
			if was, ok := types[name]; ok && was != t {
				t = "string" // one property, several types: a graph made by hand
			}
			types[name] = t
		}
	}
	return types, nil
}

func nodeProps(n *graph.Node) graph.Props {
	p := maps.Clone(n.Props)
	if p == nil {
		p = make(graph.Props)
	}
	p["entity_type"] = n.Type
	return p
}

func edgeProps(e *graph.Edge) graph.Props {
	p := maps.Clone(e.Props)
	if p == nil {
		p = make(graph.Props)
	}
	p["weight"] = e.Weight
	return p
}

func xmlType(v any) string {
	switch v.(type) {
	case int64:
		return "long"
	case float64:
		return "double"
	case bool:
		return "boolean"
	}
	return "string"
}

// xmlWriter writes XML pieces; the first error sticks.
type xmlWriter struct {
	w   io.Writer
	err error
}

func (x *xmlWriter) raw(s string) {
	if x.err == nil {
		_, x.err = io.WriteString(x.w, s)
	}
}

// declare writes the keys of one kind and notes their ids in keys.
func (x *xmlWriter) declare(keys map[string]string, kind string, types map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(types)) {
		id := "d" + strconv.Itoa(len(keys))
		keys[kind+":"+name] = id
		x.raw(`  <key id="` + id + `" for="` + kind + `" attr.name="`)
		x.text(name)
		x.raw(`" attr.type="` + types[name] + `"/>` + "\n")
	}
}

// text escapes s.
func (x *xmlWriter) text(s string) {
	if x.err == nil {
		x.err = xml.EscapeText(x.w, []byte(strings.Map(inXML, s)))
	}
}

// id writes a name so that different names stay different: one that XML cannot hold gets a digest, since
// what distinguishes it may be what is replaced.
func (x *xmlWriter) id(name string) {
	x.text(name)
	if strings.Map(inXML, name) != name {
		sum := sha256.Sum256([]byte(name))
		x.text(fmt.Sprintf("#%x", sum[:8]))
	}
}

// inXML replaces what is no character of XML 1.0; ranging over a string has replaced invalid UTF-8 before.
func inXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
		return r
	}
	return '\uFFFD'
}

func (x *xmlWriter) data(keys map[string]string, kind string, p graph.Props) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		x.raw(`      <data key="` + keys[kind+":"+name] + `">`)
		switch v := p[name].(type) {
		case []string:
			x.text(strings.Join(v, "|"))
		default:
			x.text(fmt.Sprint(v))
		}
		x.raw("</data>\n")
	}
}
