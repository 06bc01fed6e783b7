package db_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit/replay"
)

// exportedTo exports one part, or several.
func exportedTo(t *testing.T, d *db.DB, f db.ExportFormat, parts ...db.ExportPart) (string, db.ExportResult) {
	t.Helper()
	var b bytes.Buffer
	res, err := d.Export(ctx, &b, db.ExportOptions{Format: f, Parts: parts})
	if err != nil {
		t.Fatalf("%s of %v: %v", f, parts, err)
	}
	return b.String(), res
}

// lines decodes JSON Lines.
func jsonLines(t *testing.T, s string) (out []map[string]any) {
	t.Helper()
	for dec := json.NewDecoder(strings.NewReader(s)); ; {
		var m map[string]any
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
}

// graphML is a parsed export: nodes and edges with their attributes by name.
type graphML struct {
	nodes map[string]map[string]string
	edges map[string][]map[string]string // by "source|target"
}

func parseGraphML(t *testing.T, s string) graphML {
	t.Helper()
	doc, err := replay.ParseGraphML([]byte(s))
	if err != nil {
		t.Fatalf("%v in\n%s", err, s)
	}
	g := graphML{make(map[string]map[string]string), make(map[string][]map[string]string)}
	for _, n := range doc.Nodes {
		if g.nodes[n.ID] != nil {
			t.Errorf("node %q twice", n.ID)
		}
		g.nodes[n.ID] = n.Attributes
	}
	for _, e := range doc.Edges {
		if g.nodes[e.Source] == nil || g.nodes[e.Target] == nil {
			t.Errorf("edge %q - %q without its ends", e.Source, e.Target)
		}
		key := e.Source + "|" + e.Target
		g.edges[key] = append(g.edges[key], e.Attributes)
	}
	return g
}

func exportStore(t *testing.T) *db.DB {
	t.Helper()
	d := openTest(t, stubbed())
	insert(t, d,
		doc("bridge", "E Mira Voss (repairs the bridge)\nR Mira Voss - Lantern Bridge (works on)\n\nE Mira Voss (sings)\nR Lantern Bridge - Mira Voss (carries)"),
		doc("odd", `E =SUM(A1) ("a, quoted" | piped)`+"\nE chunk:bridge-chunk-000 (looks like a chunk)\nR =SUM(A1) - A&B <i> (x)"))
	if _, err := d.CreateEntity(ctx, index.NewEntity{Name: "By Hand", Type: "t", Description: "stated"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.RenameEntity(ctx, "Mira Voss", "Mira V."); err != nil {
		t.Fatal(err)
	}
	return d
}

// exportsAreValid wants every format to hold the entities of these names.
func exportsAreValid(t *testing.T, d *db.DB, names []string) {
	t.Helper()
	lines, _ := exportedTo(t, d, db.ExportJSONL, db.ExportEntities)
	var got []string
	for _, m := range jsonLines(t, lines) {
		got = append(got, m["name"].(string))
	}
	if !slices.Equal(got, names) {
		t.Errorf("JSON Lines hold %q, want %q", got, names)
	}
	table, _ := exportedTo(t, d, db.ExportCSV, db.ExportEntities)
	if rows, err := csv.NewReader(strings.NewReader(table)).ReadAll(); err != nil || len(rows) != len(names)+1 {
		t.Errorf("CSV of %d rows, %v", len(rows), err)
	}
	out, _ := exportedTo(t, d, db.ExportGraphML)
	if g := parseGraphML(t, out); len(g.nodes) != len(names) {
		t.Errorf("GraphML holds %d nodes, want %d", len(g.nodes), len(names))
	}
}

// JSON Lines hold all there is of entities, relations and sources, each once, in order.
func TestExportJSONLines(t *testing.T) {
	d := exportStore(t)
	all, res := exportedTo(t, d, db.ExportJSONL, db.ExportParts()...)
	counts := make(map[string]int)
	seen := make(map[string]bool)
	var order []string
	for _, m := range jsonLines(t, all) {
		kind := m["kind"].(string)
		counts[kind]++
		key := fmt.Sprint(kind, m["name"], m["src"], m["dst"], m["about"], m["names"], m["chunk"], m["description"])
		if seen[key] {
			t.Errorf("%s twice", key)
		}
		seen[key] = true
		if len(order) == 0 || order[len(order)-1] != kind {
			order = append(order, kind)
		}
		switch {
		case kind == "entity" && m["name"] == "Mira V.":
			if m["type"] != "thing" || m["degree"] != 1.0 || m["source_count"] != 2.0 || fmt.Sprint(m["sources"]) != "[bridge-chunk-000 bridge-chunk-001]" ||
				fmt.Sprint(m["paths"]) != "[bridge.txt]" || m["created_at"] != "2024-05-01T12:00:00Z" || !strings.Contains(m["description"].(string), "sings") {
				t.Errorf("entity %v", m)
			}
		case kind == "relation" && m["dst"] == "Mira V.":
			if m["src"] != "Lantern Bridge" || m["weight"] != 2.0 || fmt.Sprint(m["keywords"]) != "[with]" || m["source_count"] != 2.0 {
				t.Errorf("relation %v", m)
			}
		case kind == "source" && m["description"] == "works on" && m["about"] == "relation":
			if fmt.Sprint(m["names"]) != "[Mira Voss Lantern Bridge]" || fmt.Sprint(m["object"]) != "[Lantern Bridge Mira V.]" || m["document"] != "bridge" ||
				m["chunk"] != "bridge-chunk-000" || m["weight"] != 1.0 {
				t.Errorf("source %v", m)
			}
		case kind == "source" && m["description"] == "stated":
			if m["document"] != "" || m["chunk"] != "" || m["weight"] != nil {
				t.Errorf("stated by hand: %v", m)
			}
		}
	}
	s, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if counts["entity"] != s.Entities || counts["relation"] != s.Relations || counts["source"] != 14 || !slices.Equal(order, []string{"entity", "relation", "source"}) {
		t.Errorf("%v in order %v, want %d entities, %d relations", counts, order, s.Entities, s.Relations)
	}
	if res.Entities != s.Entities || res.Relations != s.Relations || res.Sources != 14 || res.LSN != s.LSN || res.Replaced+res.Guarded != 0 {
		t.Errorf("result %+v", res)
	}
	if graph, _ := exportedTo(t, d, ""); !strings.HasPrefix(all, graph) || strings.Contains(graph, `"kind":"source"`) {
		t.Error("without parts it is not the entities and relations")
	}
}

// The tables hold what JSON Lines hold.
func TestExportTables(t *testing.T) {
	d := exportStore(t)
	for _, part := range db.ExportParts() {
		lines, _ := exportedTo(t, d, db.ExportJSONL, part)
		want := jsonLines(t, lines)
		table, res := exportedTo(t, d, db.ExportCSV, part)
		rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil || len(rows) != len(want)+1 {
			t.Fatalf("%s: %d rows for %d, %v", part, len(rows), len(want), err)
		}
		for i, row := range rows[1:] {
			for j, name := range rows[0] {
				cell := strings.TrimPrefix(row[j], "'")
				switch v := want[i][name].(type) {
				case nil:
					if cell != "" {
						t.Errorf("%s of %v is %q", name, want[i], cell)
					}
				case []any:
					var list []any
					if err := json.Unmarshal([]byte(cell), &list); err != nil || fmt.Sprint(list) != fmt.Sprint(v) {
						t.Errorf("%s of %v is %q", name, want[i], cell)
					}
				default:
					if cell != fmt.Sprint(v) {
						t.Errorf("%s of %v is %q", name, want[i], cell)
					}
				}
			}
		}
		if guarded := strings.Count(table, "'=SUM"); (part == db.ExportEntities) != (guarded > 0) && part == db.ExportEntities || res.Guarded != guarded {
			t.Errorf("%s: %d cells begin with an apostrophe, %d told", part, guarded, res.Guarded)
		}
		page, _ := exportedTo(t, d, db.ExportMarkdown, part)
		if n := strings.Count(page, "\n|"); n != len(want)+2 {
			t.Errorf("%s: %d lines of a table for %d rows", part, n, len(want))
		}
	}
	var raw bytes.Buffer
	res, err := d.Export(ctx, &raw, db.ExportOptions{Format: db.ExportCSV, Parts: []db.ExportPart{db.ExportEntities}, RawCells: true})
	if err != nil || res.Guarded != 0 || !strings.Contains(raw.String(), "\n=SUM(A1),") {
		t.Errorf("raw cells: %+v, %v\n%s", res, err, raw.String())
	}
}

// GraphML is one graph: entities and relations, and with sources where they come from.
func TestExportGraphML(t *testing.T) {
	d := exportStore(t)
	out, _ := exportedTo(t, d, db.ExportGraphML)
	g := parseGraphML(t, out)
	if n := g.nodes["Mira V."]; n["type"] != "thing" || n["degree"] != "1" || n["sources"] != `["bridge-chunk-000","bridge-chunk-001"]` || n["kind"] != "" {
		t.Errorf("node %v", n)
	}
	if e := g.edges["Lantern Bridge|Mira V."]; len(e) != 1 || e[0]["weight"] != "2" || e[0]["keywords"] != `["with"]` {
		t.Errorf("edges %v", e)
	}
	if len(g.edges) != 2 || len(g.nodes) != 6 {
		t.Errorf("%d nodes, %d edges: %v", len(g.nodes), len(g.edges), g)
	}
	out, _ = exportedTo(t, d, db.ExportGraphML, db.ExportRelations)
	if g := parseGraphML(t, out); len(g.edges) != 2 || len(g.nodes) != 6 || len(g.nodes["Mira V."]) != 0 {
		t.Errorf("relations alone: %v", g)
	}
	out, _ = exportedTo(t, d, db.ExportGraphML, db.ExportParts()...)
	g = parseGraphML(t, out)
	if g.nodes["chunk:bridge-chunk-000"]["kind"] != "chunk" || g.nodes["document:odd"]["kind"] != "document" || g.nodes["entity:chunk:bridge-chunk-000"]["kind"] != "entity" {
		t.Errorf("nodes %v", g.nodes)
	}
	if e := g.edges["chunk:bridge-chunk-001|Mira V."]; len(e) != 2 || e[0]["source_about"] != "entity" || e[0]["source_description"] != "sings" || e[1]["source_about"] != "endpoint" {
		t.Errorf("statements of a chunk about an entity: %v", e)
	}
	if e := g.edges["Lantern Bridge|Mira V."]; len(e) != 3 || e[0]["kind"] != "relation" || e[1]["kind"] != "source" || e[1]["weight"] != "" || e[1]["source_weight"] != "1" || e[1]["source_chunk"] != "bridge-chunk-000" {
		t.Errorf("a relation and its statements: %v", e)
	}
	if e := g.edges["document:bridge|chunk:bridge-chunk-001"]; len(e) != 1 || e[0]["kind"] != "contains" {
		t.Errorf("a document and its chunk: %v", e)
	}
}

// An export is of one view, whatever is written meanwhile; it ends with its context, its reader and the options
// that it cannot follow.
func TestExportIsOneView(t *testing.T) {
	d := exportStore(t)
	want, _ := exportedTo(t, d, db.ExportJSONL, db.ExportParts()...)
	var b bytes.Buffer
	first := true
	_, err := d.Export(ctx, writerFunc(func(p []byte) (int, error) {
		if first { // it writes while it reads
			first = false
			insert(t, d, doc("more", "E Mira Voss (hums)\nE Zed (last)"))
			if _, err := d.Delete(ctx, "odd"); err != nil {
				t.Error(err)
			}
		}
		return b.Write(p)
	}), db.ExportOptions{Parts: db.ExportParts()})
	if err != nil || b.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
	}
	full := errors.New("full")
	short, cancel := context.WithCancel(ctx)
	for _, f := range db.ExportFormats() {
		o := db.ExportOptions{Format: f, Parts: []db.ExportPart{db.ExportEntities}}
		if _, err := d.Export(ctx, writerFunc(func([]byte) (int, error) { return 0, full }), o); !errors.Is(err, full) {
			t.Errorf("%s into a full disk: %v", f, err)
		}
	}
	cancel()
	if _, err := d.Export(short, io.Discard, db.ExportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for field, o := range map[string]db.ExportOptions{"Format": {Format: "xlsx"}, "Parts": {Parts: []db.ExportPart{"vectors"}}} {
		var bad *db.OptionError
		if _, err := d.Export(ctx, io.Discard, o); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var bad *db.OptionError
	if _, err := d.Export(ctx, io.Discard, db.ExportOptions{Format: db.ExportCSV}); !errors.As(err, &bad) || bad.Field != "Parts" {
		t.Errorf("two tables in CSV: %v", err)
	}
}

// A database without documents gives a valid export of nothing.
func TestExportOfNothing(t *testing.T) {
	d := openTest(t, stubbed())
	for _, f := range db.ExportFormats() {
		for _, part := range db.ExportParts() {
			out, res := exportedTo(t, d, f, part)
			if res.Entities+res.Relations+res.Sources != 0 {
				t.Errorf("%s of %s: %+v", f, part, res)
			}
			switch f {
			case db.ExportGraphML:
				parseGraphML(t, out)
			case db.ExportCSV:
				if rows, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || len(rows) != 1 {
					t.Errorf("%q, %v", out, err)
				}
			case db.ExportMarkdown:
				if !strings.Contains(out, "None.") {
					t.Errorf("%q", out)
				}
			default:
				if out != "" {
					t.Errorf("%q", out)
				}
			}
		}
	}
}
