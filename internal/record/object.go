package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db/internal/codec"
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

// Values hands out properties one after the other.
type Values func(fn func(key string, v codec.Value)) error

// valuesOf hands out those of a map.
func valuesOf(p map[string]any) Values {
	return func(fn func(string, codec.Value)) error {
		for _, k := range slices.Sorted(maps.Keys(p)) {
			fn(k, codec.ValueOf(p[k]))
		}
		return nil
	}
}

// EntityOf reads a node's properties back.
func EntityOf(name, typ string, p map[string]any) (Entity, error) {
	return new(EntityReader).Read(name, typ, valuesOf(p))
}

// EntityReader is EntityOf for properties that no map holds, again and again.
type EntityReader struct {
	e    Entity
	get  getter
	take func(key string, v codec.Value)
}

// Read reads one entity.
func (r *EntityReader) Read(name, typ string, values Values) (Entity, error) {
	if r.take == nil {
		r.take = r.property
	}
	r.e, r.get = Entity{Name: name, Type: typ}, getter{what: name}
	err := values(r.take)
	return r.e, cmp.Or(err, r.get.err)
}

func (r *EntityReader) property(key string, v codec.Value) {
	switch key {
	case propDescription:
		r.e.Description = r.get.str(key, v)
	case propSources:
		r.e.Sources = r.get.list(key, v)
	case propSourceCount:
		r.e.SourceCount = int(r.get.num(key, v))
	case propPaths:
		r.e.Paths = r.get.list(key, v)
	case propTokens:
		r.e.Tokens = int(r.get.num(key, v))
	case propCreatedAt:
		r.e.CreatedAt = r.get.num(key, v)
	}
}

// RelationOf reads an edge's properties back.
func RelationOf(src, dst string, weight float64, p map[string]any) (Relation, error) {
	return new(RelationReader).Read(src, dst, weight, valuesOf(p))
}

// RelationReader is RelationOf for properties that no map holds, again and again.
type RelationReader struct {
	r    Relation
	get  getter
	take func(key string, v codec.Value)
}

// Read reads one relation.
func (r *RelationReader) Read(src, dst string, weight float64, values Values) (Relation, error) {
	if r.take == nil {
		r.take = r.property
	}
	r.r, r.get = Relation{Weight: weight}, getter{what: src, other: dst}
	r.r.Src, r.r.Dst = SortPair(src, dst)
	err := values(r.take)
	return r.r, cmp.Or(err, r.get.err)
}

func (r *RelationReader) property(key string, v codec.Value) {
	switch key {
	case propDescription:
		r.r.Description = r.get.str(key, v)
	case propKeywords:
		r.r.Keywords = r.get.list(key, v)
	case propSources:
		r.r.Sources = r.get.list(key, v)
	case propSourceCount:
		r.r.SourceCount = int(r.get.num(key, v))
	case propPaths:
		r.r.Paths = r.get.list(key, v)
	case propTokens:
		r.r.Tokens = int(r.get.num(key, v))
	case propCreatedAt:
		r.r.CreatedAt = r.get.num(key, v)
	}
}

// getter takes typed properties and keeps the first mismatch. An absent property is a zero value, so that nodes a
// user put into the graph by hand can be read.
type getter struct {
	what, other string // the entity, or the ends of a relation
	err         error
}

func (g *getter) mismatch(key string, v codec.Value, want any) {
	if g.err != nil {
		return
	}
	what := g.what
	if g.other != "" {
		what += " - " + g.other
	}
	g.err = fmt.Errorf("record: property %q of %q is a %T, want %T", key, what, v.Any(), want)
}

func (g *getter) str(key string, v codec.Value) string {
	s, ok := v.Text()
	if !ok {
		g.mismatch(key, v, s)
	}
	return s
}

func (g *getter) num(key string, v codec.Value) int64 {
	n, ok := v.Int()
	if !ok {
		g.mismatch(key, v, n)
		return 0
	}
	return n
}

func (g *getter) list(key string, v codec.Value) []string {
	l, ok := v.List()
	if !ok {
		g.mismatch(key, v, l)
	}
	return l
}

// VolatileProp reports whether a property of the knowledge graph is no part of the logical state.
func VolatileProp(name string) bool { return name == propCreatedAt }
