package db

import (
	"slices"
	"strings"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/export"
)

// A GraphML export is one graph. Its nodes are the entities; with sources, documents and chunks, too. Its edges are
// the relations; with sources also one from each document to each of its chunks, and one for each statement: of an
// entity from where it is made, of a relation between its entities. What a person stated of an entity, and what
// counts for nothing, is no edge.

// What documents and chunks are called, and an entity whose name looks like one of these.
const (
	documentNode = "document:"
	chunkNode    = "chunk:"
	entityNode   = "entity:"
)

func nodeOf(name string) string {
	for _, prefix := range []string{documentNode, chunkNode, entityNode} {
		if strings.HasPrefix(name, prefix) {
			return entityNode + name
		}
	}
	return name
}

// sourcePrefix begins the names of attributes of statements, kindAttribute tells them from relations.
const sourcePrefix, kindAttribute = "source_", "kind"

func (x *exporter) graphML() error {
	has := func(p ExportPart) bool { return slices.Contains(x.o.Parts, p) }
	var nodes, edges []export.Attribute
	if has(ExportEntities) {
		nodes = tables[ExportEntities].attributes("")
	}
	if has(ExportRelations) {
		edges = tables[ExportRelations].attributes("")
	}
	if has(ExportSources) {
		kind := export.Attribute{Name: kindAttribute, Type: "string"}
		nodes, edges = append(nodes, kind), append(append(edges, kind), tables[ExportSources].attributes(sourcePrefix)...)
	}
	g := export.NewGraphML(x.w, nodes, edges)
	defer func() { x.note(g.Notes) }()
	steps := []func(g *export.GraphML) error{x.entityNodes}
	if has(ExportSources) {
		steps = append(steps, x.originNodes)
	}
	if has(ExportRelations) {
		steps = append(steps, x.relationEdges)
	}
	if has(ExportSources) {
		steps = append(steps, x.containment, x.statementEdges)
	}
	for _, step := range steps {
		if err := step(g); err != nil {
			return err
		}
	}
	return g.Close()
}

// attributes are the columns that do not name the object.
func (t exportTable) attributes(prefix string) []export.Attribute {
	out := slices.Clone(t.columns[t.ends:])
	for i := range out {
		out[i].Name = prefix + out[i].Name
	}
	return out
}

// values are those of attributes, by name.
func (t exportTable) values(prefix, kind string, row []any) map[string]any {
	out := map[string]any{kindAttribute: kind}
	for i, c := range t.columns[t.ends:] {
		out[prefix+c.Name] = row[t.ends+i]
	}
	return out
}

func (x *exporter) entityNodes(g *export.GraphML) error {
	t := tables[ExportEntities]
	return x.each(ExportEntities, func(row []any) error { return g.Node(nodeOf(row[0].(string)), t.values("", t.kind, row)) })
}

func (x *exporter) relationEdges(g *export.GraphML) error {
	t := tables[ExportRelations]
	return x.each(ExportRelations, func(row []any) error {
		return g.Edge(nodeOf(row[0].(string)), nodeOf(row[1].(string)), t.values("", t.kind, row))
	})
}

func (x *exporter) originNodes(g *export.GraphML) error {
	return x.origins(func(doc, chunk string) error {
		if chunk == "" {
			return g.Node(documentNode+doc, map[string]any{kindAttribute: "document"})
		}
		return g.Node(chunkNode+chunk, map[string]any{kindAttribute: "chunk"})
	})
}

func (x *exporter) containment(g *export.GraphML) error {
	return x.origins(func(doc, chunk string) error {
		if chunk == "" {
			return nil
		}
		return g.Edge(documentNode+doc, chunkNode+chunk, map[string]any{kindAttribute: "contains"})
	})
}

// origins calls f with every document, and with each of its chunks.
func (x *exporter) origins(f func(doc, chunk string) error) error {
	for doc, err := range index.Documents(x.r, x.ws, index.Filter{}) {
		if err == nil {
			err = f(doc.ID, "")
		}
		if err != nil {
			return err
		}
		for c, err := range index.Chunks(x.r, x.ws, doc.ID, 0) {
			if err == nil {
				err = x.ctx.Err()
			}
			if err == nil {
				err = f(doc.ID, c.ID)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exporter) statementEdges(g *export.GraphML) error {
	t := tables[ExportSources]
	return x.each(ExportSources, func(row []any) error {
		ends := row[0].([]string) // of the object
		doc, chunk := row[3].(string), row[4].(string)
		switch {
		case len(ends) == 2:
			return g.Edge(nodeOf(ends[0]), nodeOf(ends[1]), t.values(sourcePrefix, t.kind, row))
		case len(ends) == 1 && chunk != "":
			return g.Edge(chunkNode+chunk, nodeOf(ends[0]), t.values(sourcePrefix, t.kind, row))
		case len(ends) == 1 && doc != "":
			return g.Edge(documentNode+doc, nodeOf(ends[0]), t.values(sourcePrefix, t.kind, row))
		}
		return nil
	})
}
