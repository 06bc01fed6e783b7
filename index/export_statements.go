package index

import (
	"fmt"
	"iter"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// SourcedStatement is a statement with what it counts for.
type SourcedStatement struct {
	Statement
	// Kind is "entity", "relation", or "endpoint": of an entity that a relation names.
	Kind string `json:"kind"`
	// Object is the entity or the pair that the statement counts for, by the names that they go by now; nil when it
	// counts for nothing, because people deleted or merged what it is about.
	Object []string `json:"object,omitempty"`
}

// maxKnown bounds the decisions that Statements keeps in memory.
const maxKnown = 4096

// Statements yields every source record of the workspace in a fixed order: those about entities, about endpoints,
// about relations, each by the name in the text, then in order of the text. What it keeps in memory does not
// grow with the store.
func Statements(r kv.Reader, ws string) iter.Seq2[SourcedStatement, error] {
	return func(yield func(SourcedStatement, error) bool) {
		names, err := newResolver(r, ws)
		if err != nil {
			yield(SourcedStatement{}, fmt.Errorf("index: statements: %w", err))
			return
		}
		for s, err := range sources(r, ws) {
			var t SourcedStatement
			if err == nil {
				if len(names.known) > maxKnown {
					clear(names.known)
				}
				t, err = sourced(names, &s)
			}
			if err != nil {
				yield(SourcedStatement{}, fmt.Errorf("index: statements: %w", err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func sourced(names *resolver, s *record.Source) (SourcedStatement, error) {
	t := SourcedStatement{Statement: statementOf(s), Kind: kindNames[s.Kind]}
	target, active, err := names.target(s.Object)
	if active {
		t.Object = exportObject(target)
	}
	return t, err
}

// sources yields all source records by kind, object and position.
func sources(r kv.Reader, ws string) iter.Seq2[record.Source, error] {
	prefix := space.In(ws, space.Source)
	return func(yield func(record.Source, error) bool) {
		for _, k := range []record.Kind{record.KindEntity, record.KindEndpoint, record.KindRelation} {
			for kvp, err := range scan(r, append(prefix[:len(prefix):len(prefix)], byte(k))) {
				var s record.Source
				if err == nil {
					s, err = decodeSource(k, kvp, len(prefix))
				}
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

func decodeSource(k record.Kind, kvp pair, skip int) (record.Source, error) {
	_, o, pos, err := record.ParseSourceKey(kvp.key[skip:])
	if err != nil {
		return record.Source{}, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	s, err := record.DecodeSource(k, o, pos, kvp.value)
	if err != nil {
		return record.Source{}, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	return s, nil
}
