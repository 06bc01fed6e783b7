package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// curation is what people do to the knowledge graph, as plain maps. Names are those of documents; an entity goes by
// one of them.
type curation struct {
	aliasOf map[string]string   // name an entity goes by, by alias
	aliases map[string][]string // in order
	gone    map[string]bool     // deleted names
	apart   map[[2]string]bool  // deleted relations
	types   map[string]string   // set by hand
	hand    map[string]bool     // entities stated by hand
	links   map[[2]string]float64
}

func newCuration() curation {
	return curation{map[string]string{}, map[string][]string{}, map[string]bool{}, map[[2]string]bool{}, map[string]string{},
		map[string]bool{}, map[[2]string]float64{}}
}

func (c *curation) clone() curation {
	return curation{maps.Clone(c.aliasOf), maps.Clone(c.aliases), maps.Clone(c.gone), maps.Clone(c.apart), maps.Clone(c.types),
		maps.Clone(c.hand), maps.Clone(c.links)}
}

// name is what an entity goes by.
func (c *curation) name(n string) string {
	if to, ok := c.aliasOf[n]; ok {
		return to
	}
	return n
}

func (c *curation) names(n string) []string { return append([]string{n}, c.aliases[n]...) }

// group lists the pairs of names that mean the same two entities.
func (c *curation) group(p [2]string) (out [][2]string) {
	for _, a := range c.names(c.name(p[0])) {
		for _, b := range c.names(c.name(p[1])) {
			if a != b {
				out = append(out, pair(a, b))
			}
		}
	}
	return out
}

// statements is all that documents and people say.
type statements struct {
	described map[string]bool // names that a statement is about
	spoken    map[string]bool // these, and the ends of relations
	weights   map[[2]string]float64
}

func (m *model) statements() statements {
	s := statements{map[string]bool{}, map[string]bool{}, map[[2]string]float64{}}
	entity := func(n string) { s.described[n], s.spoken[n] = true, true }
	relation := func(p [2]string, w float64) {
		s.weights[p] += w
		s.spoken[p[0]], s.spoken[p[1]] = true, true
	}
	for _, text := range m.docs {
		x := parse(text)
		for _, e := range x.Entities {
			entity(e.Name)
		}
		for _, r := range x.Relations {
			relation(pair(r.Src, r.Dst), r.Weight)
		}
	}
	for n := range m.hand {
		entity(n)
	}
	for p, w := range m.links {
		relation(p, w)
	}
	return s
}

// knows reports whether an entity goes by the name.
func (m *model) knows(name string) bool {
	s := m.statements()
	return slices.ContainsFunc(m.names(name), func(n string) bool { return s.spoken[n] && !m.gone[n] && m.name(n) == name })
}

// related is the graph's relations with their weights.
func (m *model) related() map[[2]string]float64 {
	out := map[[2]string]float64{}
	for p, w := range m.statements().weights {
		if to := pair(m.name(p[0]), m.name(p[1])); to[0] != to[1] && !m.gone[p[0]] && !m.gone[p[1]] && !m.apart[p] {
			out[to] += w
		}
	}
	return out
}

// knowledge derives entities and relations.
func (m *model) knowledge() []string {
	s, out, degree, types := m.statements(), []string(nil), map[string]int{}, map[string]string{}
	for p, w := range m.related() {
		out = append(out, edgeLine("knowledge", p[0], p[1], w))
		degree[p[0]]++
		degree[p[1]]++
	}
	for n := range s.spoken {
		if at := m.name(n); !m.gone[n] {
			if s.described[n] || types[at] == "" {
				types[at] = map[bool]string{true: "thing", false: index.UnknownType}[s.described[n]]
			}
		}
	}
	for n, typ := range types {
		for _, name := range slices.Backward(m.names(n)) {
			if set, ok := m.types[name]; ok {
				typ = set
			}
		}
		out = append(out, nodeLine("knowledge", n, typ, degree[n]))
	}
	return out
}

// forget drops what was decided about what nothing speaks of.
func (m *model) forget() {
	s := m.statements()
	maps.DeleteFunc(m.apart, func(p [2]string, _ bool) bool {
		return !slices.ContainsFunc(m.group(p), func(p [2]string) bool { _, ok := s.weights[p]; return ok })
	})
	all := map[string]bool{}
	for n := range m.aliases {
		all[n] = true
	}
	for _, set := range []map[string]bool{m.gone} {
		for n := range set {
			all[m.name(n)] = true
		}
	}
	for n := range m.types {
		all[m.name(n)] = true
	}
	for n := range all {
		names := m.names(n)
		if slices.ContainsFunc(names, func(n string) bool { return s.spoken[n] }) {
			continue
		}
		for _, n := range names {
			delete(m.aliasOf, n)
			delete(m.aliases, n)
			delete(m.gone, n)
			delete(m.types, n)
		}
	}
}

// free reports whether nothing has the name.
func (m *model) free(name string) bool {
	_, alias := m.aliasOf[name]
	return !alias && !m.gone[name] && !m.knows(name)
}

// unite makes into the name of the entities from.
func (m *model) unite(into string, from ...string) {
	var names []string
	for _, n := range append([]string{into}, from...) {
		for _, n := range m.names(m.name(n)) {
			if n != into && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, n := range names {
		m.aliasOf[n] = into
		delete(m.aliases, n)
	}
	delete(m.aliasOf, into)
	if m.aliases[into] = names; len(names) == 0 {
		delete(m.aliases, into)
	}
}

// edit does an edit on the model and reports whether it is accepted.
func (m *model) edit(op Op) bool {
	at, other := m.name(op.Name), m.name(op.Other)
	known, otherKnown := m.knows(at), m.knows(other)
	_, linked := m.related()[pair(at, other)]
	switch op.Kind {
	case EntityCreate:
		if _, alias := m.aliasOf[op.Name]; alias || known {
			return false
		}
		for _, n := range m.names(op.Name) {
			delete(m.gone, n)
		}
		m.hand[op.Name] = true
	case EntityType:
		if !known {
			return false
		}
		for _, n := range m.names(at) {
			delete(m.types, n)
		}
		m.types[at] = op.Text
	case EntityRename:
		if !known || other != at && !m.free(op.Other) {
			return false
		}
		m.unite(op.Other, at)
	case EntityMerge:
		if !otherKnown || !known && !m.free(op.Name) {
			return false
		}
		m.unite(map[bool]string{true: at, false: op.Name}[known], other)
	case AliasRemove:
		if _, ok := m.aliasOf[op.Name]; !ok {
			return false
		}
		delete(m.aliasOf, op.Name)
		if m.aliases[at] = slices.DeleteFunc(slices.Clone(m.aliases[at]), func(n string) bool { return n == op.Name }); len(m.aliases[at]) == 0 {
			delete(m.aliases, at)
		}
	case EntityDelete:
		if !known {
			return false
		}
		for _, n := range m.names(at) {
			m.gone[n] = true
			delete(m.hand, n)
			maps.DeleteFunc(m.links, func(p [2]string, _ float64) bool { return p[0] == n || p[1] == n })
		}
	case EntityReset:
		if !known && !m.gone[op.Name] {
			return false
		}
		for _, n := range m.names(at) {
			delete(m.gone, n)
			delete(m.types, n)
		}
	case RelationCreate:
		if !known || !otherKnown || at == other || linked {
			return false
		}
		for _, p := range m.group(pair(at, other)) {
			delete(m.apart, p)
		}
		m.links[pair(at, other)] = float64(op.N)
	case RelationDelete:
		if !known || !otherKnown || !linked {
			return false
		}
		for _, p := range m.group(pair(at, other)) {
			m.apart[p] = true
			delete(m.links, p)
		}
	}
	m.forget()
	return true
}

// edit does an edit on the database and on the model.
func (r *runner) edit(ctx context.Context, op Op) (err error) {
	switch op.Kind {
	case EntityCreate:
		_, err = r.d.CreateEntity(ctx, index.NewEntity{Name: op.Name, Type: "thing", Description: op.Text})
	case EntityType:
		_, err = r.d.EditEntity(ctx, op.Name, index.EntityFields{Type: &op.Text})
	case EntityRename:
		_, err = r.d.RenameEntity(ctx, op.Name, op.Other)
	case EntityMerge:
		_, err = r.d.MergeEntities(ctx, index.Merge{Into: op.Name, From: []string{op.Other}})
	case AliasRemove:
		_, err = r.d.RemoveAlias(ctx, op.Name)
	case EntityDelete:
		_, err = r.d.DeleteEntity(ctx, op.Name)
	case EntityReset:
		_, err = r.d.ResetEntity(ctx, op.Name)
	case RelationCreate:
		_, err = r.d.CreateRelation(ctx, index.NewRelation{Src: op.Name, Dst: op.Other, Description: op.Text, Weight: float64(op.N)})
	case RelationDelete:
		_, err = r.d.DeleteRelation(ctx, op.Name, op.Other)
	}
	switch accepted := r.m.edit(op); {
	case accepted:
		return err
	case errors.Is(err, db.ErrEdit):
		return nil
	}
	return fmt.Errorf("an edit that cannot be: %w", orMissing(err))
}
