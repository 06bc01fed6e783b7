package record

import (
	"fmt"
	"slices"
)

// Entity is the merged view of an entity as its graph node stores it. It is derived from source records.
type Entity struct {
	Name        string
	Type        string
	Description string
	// Sources are chunk ids in order of provenance, capped; SourceCount is the uncapped number.
	Sources     []string
	SourceCount int
	Paths       []string
	// Tokens counts the JSON line {"entity","type","description"} shown to a model.
	Tokens    int
	CreatedAt int64 // Unix seconds of the commit that first stored it; not part of the logical dump
}

// Relation is the merged view of a relation as its graph edge stores it; Src <= Dst in code-point order.
type Relation struct {
	Src, Dst    string
	Keywords    []string // sorted, unique
	Description string
	Weight      float64
	Sources     []string
	SourceCount int
	Paths       []string
	// Tokens counts the JSON line {"entity1","entity2","description"}.
	Tokens    int
	CreatedAt int64
}

// Equal reports whether two views are the same; a list without elements equals a missing one.
func (e *Entity) Equal(f *Entity) bool {
	return e.Name == f.Name && e.Type == f.Type && e.Description == f.Description && slices.Equal(e.Sources, f.Sources) &&
		e.SourceCount == f.SourceCount && slices.Equal(e.Paths, f.Paths) && e.Tokens == f.Tokens && e.CreatedAt == f.CreatedAt
}

// Equal reports whether two views are the same; a list without elements equals a missing one.
func (r *Relation) Equal(s *Relation) bool {
	return r.Src == s.Src && r.Dst == s.Dst && slices.Equal(r.Keywords, s.Keywords) && r.Description == s.Description &&
		r.Weight == s.Weight && slices.Equal(r.Sources, s.Sources) && r.SourceCount == s.SourceCount &&
		slices.Equal(r.Paths, s.Paths) && r.Tokens == s.Tokens && r.CreatedAt == s.CreatedAt
}

// Property names of nodes and edges of the knowledge graph.
const (
	propDescription = "description"
	propSources     = "sources"
	propSourceCount = "source_count"
	propPaths       = "paths"
	propTokens      = "tokens"
	propCreatedAt   = "created_at"
	propKeywords    = "keywords"
)

// Props returns the node's properties (its type is the node's type).
func (e *Entity) Props() map[string]any {
	return map[string]any{propDescription: e.Description, propSources: e.Sources, propSourceCount: int64(e.SourceCount),
		propPaths: e.Paths, propTokens: int64(e.Tokens), propCreatedAt: e.CreatedAt}
}

// Props returns the edge's properties (its weight is the edge's weight).
func (r *Relation) Props() map[string]any {
	return map[string]any{propDescription: r.Description, propKeywords: r.Keywords, propSources: r.Sources,
		propSourceCount: int64(r.SourceCount), propPaths: r.Paths, propTokens: int64(r.Tokens), propCreatedAt: r.CreatedAt}
}

// EntityOf reads a node's properties back.
func EntityOf(name, typ string, p map[string]any) (Entity, error) {
	g := getter{p: p, what: name}
	e := Entity{Name: name, Type: typ, Description: g.str(propDescription), Sources: g.list(propSources),
		SourceCount: int(g.num(propSourceCount)), Paths: g.list(propPaths), Tokens: int(g.num(propTokens)), CreatedAt: g.num(propCreatedAt)}
	return e, g.err
}

// RelationOf reads an edge's properties back.
func RelationOf(src, dst string, weight float64, p map[string]any) (Relation, error) {
	g := getter{p: p, what: src + " - " + dst}
	src, dst = SortPair(src, dst)
	r := Relation{Src: src, Dst: dst, Weight: weight, Description: g.str(propDescription), Keywords: g.list(propKeywords),
		Sources: g.list(propSources), SourceCount: int(g.num(propSourceCount)), Paths: g.list(propPaths),
		Tokens: int(g.num(propTokens)), CreatedAt: g.num(propCreatedAt)}
	return r, g.err
}

// getter reads typed properties and keeps the first mismatch. An absent property is a zero value, so
// that nodes a user put into the graph by hand can be read.
type getter struct {
	p    map[string]any
	what string
	err  error
}

func property[T any](g *getter, name string) T {
	var zero T
	v, ok := g.p[name]
	if !ok || v == nil {
		return zero
	}
	t, ok := v.(T)
	if !ok && g.err == nil {
		g.err = fmt.Errorf("record: property %q of %q is a %T, want %T", name, g.what, v, zero)
	}
	return t
}

func (g *getter) str(name string) string    { return property[string](g, name) }
func (g *getter) num(name string) int64     { return property[int64](g, name) }
func (g *getter) list(name string) []string { return property[[]string](g, name) }

// VolatileProp reports whether a property of the knowledge graph is no part of the logical state.
func VolatileProp(name string) bool { return name == propCreatedAt }
