package index

import (
	"errors"
	"fmt"
	"time"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// InfoOptions say what EntityInfo and RelationInfo read beside the view.
type InfoOptions struct {
	// Statements is the most source records to list, in order; 0: none, negative: all.
	Statements int
	// Vector asks for the stored vector.
	Vector bool
}

// EntityInfo tells everything about an entity.
type EntityInfo struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases,omitempty"` // other names, in order of being given
	Degree      int      `json:"degree"`            // number of relations
	ObjectInfo
}

// RelationInfo tells everything about a relation; Src <= Dst in code-point order.
type RelationInfo struct {
	Src         string   `json:"src"`
	Dst         string   `json:"dst"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords"`
	Weight      float64  `json:"weight"`
	ObjectInfo
}

// ObjectInfo is what entities and relations have in common.
type ObjectInfo struct {
	// Sources are the chunks behind the view, within its cap; SourceCount is the number of all.
	Sources     []string  `json:"sources"`
	SourceCount int       `json:"source_count"`
	Paths       []string  `json:"paths,omitempty"`
	Tokens      int       `json:"tokens"` // of the line that a model is shown
	CreatedAt   time.Time `json:"created_at"`
	// Stated: a person stated it, so that it lives without documents.
	Stated bool `json:"stated,omitempty"`
	// Set are the fields that are set by hand: "type", "description", "keywords", "weight".
	Set        []string    `json:"set,omitempty"`
	Statements []Statement `json:"statements,omitempty"`
	Vector     []float32   `json:"vector,omitempty"` // as stored: of unit length
}

// Statement is one source record: what one chunk, one document as a whole, or a person says.
type Statement struct {
	// Names as the statement has them: one of an entity, two of a relation in the direction of the text.
	Names    []string `json:"names"`
	Document string   `json:"document,omitempty"` // empty: stated by hand
	Chunk    string   `json:"chunk,omitempty"`    // empty: stated by the document as a whole, or by hand
	Path     string   `json:"path,omitempty"`
	// Endpoint: the statement is about a relation of which the entity is an end.
	Endpoint    bool     `json:"endpoint,omitempty"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	Weight      float64  `json:"weight,omitempty"`
}

// GetEntity tells about the entity that goes by a name: its own or an alias, as given, as NormalizeName has it, or but
// for letter case and width (graph.Fold). Without one the error is a *NoObjectError, with several an *AmbiguousError.
func (p *Pipeline) GetEntity(r kv.Reader, name string, o InfoOptions) (EntityInfo, error) {
	q, err := p.lookup(r)
	if err != nil {
		return EntityInfo{}, err
	}
	at, err := q.find(name)
	if err != nil {
		return EntityInfo{}, err
	}
	g, err := p.openGraph(r)
	if err != nil {
		return EntityInfo{}, err
	}
	n, err := g.Node(r, at)
	if err != nil {
		return EntityInfo{}, err
	}
	e, err := record.EntityOf(n.Name, n.Type, n.Props)
	if err != nil {
		return EntityInfo{}, err
	}
	i := EntityInfo{Name: e.Name, Type: e.Type, Description: e.Description, Degree: n.Degree, ObjectInfo: ObjectInfo{Sources: e.Sources,
		SourceCount: e.SourceCount, Paths: e.Paths, Tokens: e.Tokens, CreatedAt: time.Unix(e.CreatedAt, 0).UTC()}}
	names, err := q.names.names(at)
	if err != nil {
		return EntityInfo{}, err
	}
	if len(names) > 1 {
		i.Aliases = names[1:]
	}
	err = q.complete(&i.ObjectInfo, record.EntityObject(at), o, record.EntityCollection, at)
	return i, err
}

// GetRelation tells about the relation of two entities, in any order, their names as GetEntity takes them. Without one the
// error is a *NoObjectError, or ErrSelfRelation for two names of one entity.
func (p *Pipeline) GetRelation(r kv.Reader, a, b string, o InfoOptions) (RelationInfo, error) {
	q, err := p.lookup(r)
	if err != nil {
		return RelationInfo{}, err
	}
	at, err := q.findPair(a, b)
	if err != nil {
		return RelationInfo{}, err
	}
	g, err := p.openGraph(r)
	if err != nil {
		return RelationInfo{}, err
	}
	edge, err := g.Edge(r, at.A, at.B, "")
	if err != nil {
		return RelationInfo{}, err
	}
	e, err := record.RelationOf(edge.Src, edge.Dst, edge.Weight, edge.Props)
	if err != nil {
		return RelationInfo{}, err
	}
	i := RelationInfo{Src: e.Src, Dst: e.Dst, Description: e.Description, Keywords: e.Keywords, Weight: e.Weight,
		ObjectInfo: ObjectInfo{Sources: e.Sources, SourceCount: e.SourceCount, Paths: e.Paths, Tokens: e.Tokens,
			CreatedAt: time.Unix(e.CreatedAt, 0).UTC()}}
	err = q.complete(&i.ObjectInfo, at, o, record.RelationCollection, record.PairID(at.A, at.B))
	return i, err
}

// lookup is a revision that changes nothing.
func (p *Pipeline) lookup(r kv.Reader) (*revision, error) {
	names, err := newResolver(r, p.cfg.Workspace)
	return &revision{p: p, r: r, names: names, called: make(map[string]string)}, err
}

// complete reads what the view does not hold.
func (c *revision) complete(i *ObjectInfo, target record.Object, o InfoOptions, collection, id string) (err error) {
	set, err := c.names.fields(target)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		is   bool
	}{{"type", set.Type != nil}, {"description", set.Description != nil}, {"keywords", set.Keywords != nil}, {"weight", set.Weight != nil}} {
		if f.is {
			i.Set = append(i.Set, f.name)
		}
	}
	members, err := c.names.members(target)
	if err != nil {
		return err
	}
	h := &history{r: c.r, ws: c.names.ws}
	defer func() { err = errors.Join(err, h.Close()) }()
	for _, k := range kindsOf(target) {
		for _, m := range members {
			hand, err := sourcesOf(c.r, c.names.ws, k, m, record.HandSeq)
			if err != nil {
				return err
			}
			i.Stated = i.Stated || k != record.KindEndpoint && len(hand) > 0
		}
		most := o.Statements - len(i.Statements)
		if o.Statements < 0 {
			most = maxCap * maxCap
		}
		if most == 0 {
			continue
		}
		list, _, err := h.among(k, members, nil, most, false) // that many chunks, of one statement or more
		if err != nil {
			return err
		}
		for j := range list[:min(most, len(list))] {
			i.Statements = append(i.Statements, statementOf(&list[j]))
		}
	}
	if !o.Vector {
		return nil
	}
	coll, err := c.p.cfg.Vectors.Collection(c.r, c.names.ws, collection)
	if err != nil {
		return err
	}
	i.Vector, err = coll.Get(c.r, id)
	if errors.Is(err, kv.ErrNotFound) {
		err = fmt.Errorf("%w: %v has no vector", kv.ErrCorrupt, target)
	}
	return err
}

func statementOf(s *record.Source) Statement {
	t := Statement{Names: []string{s.Object.A}, Document: s.Doc, Path: s.Path, Endpoint: s.Kind == record.KindEndpoint, Type: s.Type,
		Description: s.Description, Keywords: s.Keywords}
	if s.Order != record.NoChunk {
		t.Chunk = s.ChunkID()
	}
	if s.Kind == record.KindRelation {
		t.Weight, t.Names = s.Weight.Float(), []string{s.Object.A, s.Object.B}
		if s.Reversed {
			t.Names[0], t.Names[1] = t.Names[1], t.Names[0]
		}
	}
	return t
}
