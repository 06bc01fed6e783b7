package main

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) graphExport() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use: "export", Short: "Write the whole graph as GraphML or JSON", Args: args(cobra.NoArgs),
		Example: `  glim graph export --format graphml > graph.graphml
  glim graph export --format json --output graph.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := map[string]func(io.Writer, exported) error{"graphml": writeGraphML, "json": writeGraphJSON}[format]
			if !ok {
				return usage(fmt.Errorf("unknown format %q: use graphml or json", format))
			}
			return a.inGraph(cmd, func(g *db.Graph) error {
				return toFile(a.out, file, func(w io.Writer) error { return write(w, exported{g.Nodes, g.Edges}) })
			})
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "graphml", "graphml or json")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` instead of standard output")
	return cmd
}

// toFile writes through a buffer to stdout, or to a file that takes its name only when it is whole.
func toFile(stdout io.Writer, name string, f func(io.Writer) error) error {
	if name == "" {
		return buffered(stdout, f)
	}
	partial := name + ".partial"
	h, err := os.Create(partial)
	if err != nil {
		return err
	}
	err = errors.Join(buffered(h, f), h.Close())
	if err == nil {
		return os.Rename(partial, name)
	}
	return errors.Join(err, os.Remove(partial))
}

func buffered(w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
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

// writeGraphML streams GraphML as Gephi, yEd and networkx read it. Characters that XML forbids are
// replaced by U+FFFD; lists are joined by "|".
func writeGraphML(w io.Writer, g exported) error {
	x := &xmlWriter{w: w}
	x.raw(xml.Header)
	x.raw(`<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	keys := make(map[string]string) // "node:description" -> d0
	for _, part := range []struct {
		kind  string
		props iter.Seq2[graph.Props, error]
	}{{"node", propsOf(g.nodes(), nodeProps)}, {"edge", propsOf(g.edges(), edgeProps)}} {
		types := make(map[string]string)
		for p, err := range part.props {
			if err != nil {
				return err
			}
			for name, v := range p {
				types[name] = xmlType(v)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(types)) {
			id := "d" + strconv.Itoa(len(keys))
			keys[part.kind+":"+name] = id
			x.raw(`  <key id="` + id + `" for="` + part.kind + `" attr.name="`)
			x.text(name)
			x.raw(`" attr.type="` + types[name] + `"/>` + "\n")
		}
	}
	x.raw(`  <graph edgedefault="undirected">` + "\n")
	for n, err := range g.nodes() {
		if err != nil {
			return err
		}
		x.raw(`    <node id="`)
		x.text(n.Name)
		x.raw(`">` + "\n")
		x.data(keys, "node", nodeProps(n))
		x.raw("    </node>\n")
	}
	for e, err := range g.edges() {
		if err != nil {
			return err
		}
		x.raw(`    <edge source="`)
		x.text(e.Src)
		x.raw(`" target="`)
		x.text(e.Dst)
		x.raw(`">` + "\n")
		x.data(keys, "edge", edgeProps(e))
		x.raw("    </edge>\n")
	}
	x.raw("  </graph>\n</graphml>\n")
	return x.err
}

func propsOf[T any](seq iter.Seq2[T, error], f func(T) graph.Props) iter.Seq2[graph.Props, error] {
	return func(yield func(graph.Props, error) bool) {
		for v, err := range seq {
			if !yield(f(v), err) || err != nil {
				return
			}
		}
	}
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

// text escapes s. encoding/xml replaces characters that XML forbids, but lets U+FFFE through as UTF-8;
// invalid UTF-8 is replaced here, so that two parsers cannot disagree.
func (x *xmlWriter) text(s string) {
	if x.err != nil {
		return
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	x.err = xml.EscapeText(x.w, []byte(s))
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
