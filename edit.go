package db

import (
	"context"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// The methods of this file change the knowledge graph by hand. Each is one commit, with the vectors of all that looks
// different afterwards; when it fails nothing was written, and the error is an *index.EditError (ErrEdit) with its reason:
// ErrNotFound, ErrNameTaken, ErrName, ErrAmbiguous, ErrSelfRelation or ErrField. Documents may be processed meanwhile.
//
// What people decide is kept beside what documents say, and survives every document that comes, is replaced or goes,
// reopening, and dump and load. It is forgotten when no document and no statement by hand speaks of the entity or relation any more.
//
// An entity is named by any name that it goes by, in any spelling that index.NormalizeName makes one of these, or else in
// one that differs by letter case and width from the names of one entity only; of several it is ErrAmbiguous.
// EditResult.Resolved tells whom a name was taken for. A new name is what it says: "orbit desk" is free beside "Orbit Desk".

// CreateEntity states an entity by hand. It lives without any document until it is deleted; documents that
// mention it add to its description, type votes and sources. A name that was deleted by hand comes back with what documents say.
func (d *DB) CreateEntity(ctx context.Context, e index.NewEntity) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.CreateEntity(ctx, e) })
}

// EditEntity sets the type or the description of an entity, whatever documents say, until ResetEntity.
func (d *DB) EditEntity(ctx context.Context, name string, f index.EntityFields) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.EditEntity(ctx, name, f) })
}

// RenameEntity gives an entity another name. The old one becomes an alias: it is still found, and documents that
// use it, present and future, speak of the renamed entity. A name of another entity is ErrNameTaken: see
// MergeEntities. RemoveAlias of the old name undoes it. It costs an embedding of each relation of the entity.
func (d *DB) RenameEntity(ctx context.Context, from, to string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) {
		return s.pipe.RenameEntity(ctx, from, to)
	})
}

// MergeEntities makes several entities one, as if documents had always used one name for them: descriptions, sources and
// relations come together, relations between them vanish, the names become aliases. RemoveAlias parts them
// again.
func (d *DB) MergeEntities(ctx context.Context, m index.Merge) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.MergeEntities(ctx, m) })
}

// AddAlias gives an entity one more name, at most index.MaxNames.
func (d *DB) AddAlias(ctx context.Context, name, alias string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) {
		return s.pipe.AddAlias(ctx, name, alias)
	})
}

// RemoveAlias takes a name off an entity, and so undoes a rename, a merge or an alias: what documents say under
// that name is an entity of its own again.
func (d *DB) RemoveAlias(ctx context.Context, alias string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.RemoveAlias(ctx, alias) })
}

// DeleteEntity removes an entity and its relations. Documents do not bring it back, neither present ones nor those to
// come, until ResetEntity or CreateEntity; what was stated by hand is gone for good.
func (d *DB) DeleteEntity(ctx context.Context, name string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.DeleteEntity(ctx, name) })
}

// ResetEntity takes back what EditEntity set and DeleteEntity removed: the entity is what documents and statements
// by hand say. Its names stay.
func (d *DB) ResetEntity(ctx context.Context, name string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.ResetEntity(ctx, name) })
}

// CreateRelation states a relation of two known entities by hand. It lives without any document until it is
// deleted, and its ends with it; documents that state it add to it.
func (d *DB) CreateRelation(ctx context.Context, r index.NewRelation) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.CreateRelation(ctx, r) })
}

// EditRelation sets description, keywords or weight of a relation, whatever documents say, until ResetRelation. The
// order of the names does not matter. A weight below the number of chunks that state the relation is ErrField; it
// is raised when more do.
func (d *DB) EditRelation(ctx context.Context, a, b string, f index.RelationFields) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) {
		return s.pipe.EditRelation(ctx, a, b, f)
	})
}

// DeleteRelation removes a relation and leaves its ends. Documents do not bring it back until ResetRelation or
// CreateRelation; what was stated by hand is gone for good.
func (d *DB) DeleteRelation(ctx context.Context, a, b string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.DeleteRelation(ctx, a, b) })
}

// ResetRelation takes back what EditRelation set and DeleteRelation removed.
func (d *DB) ResetRelation(ctx context.Context, a, b string) (index.EditResult, error) {
	return d.editing(ctx, func(ctx context.Context, s *state) (index.EditResult, error) { return s.pipe.ResetRelation(ctx, a, b) })
}

func (d *DB) editing(ctx context.Context, edit func(context.Context, *state) (index.EditResult, error)) (index.EditResult, error) {
	ctx, s, leave, err := d.enter(ctx, writes)
	if err != nil {
		return index.EditResult{}, err
	}
	defer leave()
	if d.opts.ReadOnly {
		return index.EditResult{}, ErrReadOnly // not what a reader finds wrong with the arguments
	}
	if err := s.mayEmbed(); err != nil {
		return index.EditResult{}, err
	}
	r, err := edit(ctx, s)
	return r, because(ctx, err)
}

// Entity tells everything about the entity that goes by a name: its view, aliases, what is set by hand, and on
// request its statements and its vector. The name is taken as in edits. Without one errors.Is finds ErrNotFound, and an
// *index.NoObjectError tells whether it was deleted by hand; with several, ErrAmbiguous and an *index.AmbiguousError.
func (d *DB) Entity(ctx context.Context, name string, o index.InfoOptions) (index.EntityInfo, error) {
	return reading(ctx, d, "Entity", func(_ context.Context, s *state, r kv.Reader) (index.EntityInfo, error) {
		return s.pipe.GetEntity(r, name, o)
	})
}

// Relation is Entity for the relation of two entities, in any order. Two names of one entity are ErrSelfRelation.
func (d *DB) Relation(ctx context.Context, a, b string, o index.InfoOptions) (index.RelationInfo, error) {
	return reading(ctx, d, "Relation", func(_ context.Context, s *state, r kv.Reader) (index.RelationInfo, error) {
		return s.pipe.GetRelation(r, a, b, o)
	})
}

// InsertGraph stores a custom graph as one document, in one commit: entities and relations with the chunks they
// come from, and no extractor is asked. It is listed by Documents, replaced (CustomOptions.Policy) and deleted by its id like any
// other document, and shares entities and relations with others. Errors are *index.DocumentError, joined, as those of Insert, and
// *index.TooLargeError.
func (d *DB) InsertGraph(ctx context.Context, g index.CustomGraph, o index.CustomOptions) (index.CustomResult, error) {
	ctx, s, leave, err := d.enter(ctx, writes)
	if err != nil {
		return index.CustomResult{}, err
	}
	defer leave()
	if d.opts.ReadOnly {
		return index.CustomResult{}, ErrReadOnly
	}
	if err := s.mayEmbed(); err != nil {
		return index.CustomResult{}, err
	}
	r, err := s.pipe.InsertGraph(ctx, g, o)
	return r, because(ctx, err)
}

// Entity is DB.Entity in this transaction.
func (tx *Tx) Entity(name string, o index.InfoOptions) (index.EntityInfo, error) {
	r, err := tx.reader()
	if err != nil {
		return index.EntityInfo{}, err
	}
	return tx.s.pipe.GetEntity(r, name, o)
}

// Relation is DB.Relation in this transaction.
func (tx *Tx) Relation(a, b string, o index.InfoOptions) (index.RelationInfo, error) {
	r, err := tx.reader()
	if err != nil {
		return index.RelationInfo{}, err
	}
	return tx.s.pipe.GetRelation(r, a, b, o)
}

// SearchNames returns up to limit (1 to graph.MaxSearch) entities with a name or an alias that contains text, ignoring case,
// best match first. It reads all names.
func (tx *Tx) SearchNames(text string, limit int) ([]index.NameMatch, error) {
	r, err := tx.reader()
	if err != nil {
		return nil, err
	}
	return index.SearchNames(tx.ctx, r, tx.s.name, text, limit)
}
