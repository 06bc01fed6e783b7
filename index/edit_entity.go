package index

import (
	"context"
	"errors"
	"slices"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// MaxNames bounds the names of one entity, its own included.
const MaxNames = 256

// NewEntity is an entity that a person states. The description is one more fragment among those of documents,
// the first; the type is one more vote.
type NewEntity struct {
	Name        string `json:"name"`           // stored as NormalizeName has it
	Type        string `json:"type,omitempty"` // empty: UNKNOWN, until a document knows one
	Description string `json:"description"`    // not blank, up to 64 KiB
}

// EntityFields are values to set by hand in place of what documents say. Nil fields stay as they are.
type EntityFields struct {
	Type        *string `json:"type,omitempty"`        // not blank
	Description *string `json:"description,omitempty"` // not blank, up to 64 KiB
}

// Merge asks for several entities to become one.
type Merge struct {
	// Into is the name of the one entity: of any of those merged, of another one, or new.
	Into string `json:"into"`
	// From are the entities that go; their names become aliases. Spellings of one entity count once.
	From []string `json:"from"`
	// Set replaces fields of the result; else what was set by hand on Into, then on the first of From, stays.
	Set EntityFields `json:"set,omitzero"`
}

// CreateEntity states an entity by hand. It lives without any document until it is deleted; documents that
// mention it add to it. A name that was deleted by hand comes back with what documents say of it. Errors are *EditError with
// ErrName, ErrNameTaken or ErrField.
func (p *Pipeline) CreateEntity(ctx context.Context, e NewEntity) (EditResult, error) {
	const op = "create entity"
	typ, err := oneLine(e.Type)
	if err != nil {
		return EditResult{}, refusal(op, "type", err, e.Name)
	}
	description, err := handText(e.Description)
	if err != nil {
		return EditResult{}, refusal(op, "description", err, e.Name)
	}
	if typ == "" {
		typ = UnknownType
	}
	return p.edit(ctx, op, []string{e.Name}, func(c *revision) error {
		name, err := c.claimable(e.Name)
		if err != nil {
			return c.refuse("name", err, e.Name)
		}
		c.state(record.Source{Kind: record.KindEntity, Object: record.EntityObject(name),
			Position: record.Position{Seq: record.HandSeq, Order: record.NoChunk}, Type: typ, Description: description})
		return nil
	})
}

// claimable is free, but a name that was deleted by hand is given back to what documents say of it.
func (c *revision) claimable(name string) (string, error) {
	stored := NormalizeName(name)
	m, err := c.names.decided(record.EntityObject(stored))
	if err != nil {
		return "", err
	}
	if stored == "" || m == nil || !m.Deleted || m.AliasOf != "" {
		return c.free(name)
	}
	return stored, c.undelete(stored)
}

// EditEntity sets the type or the description of an entity by hand, whatever documents say now or later, until ResetEntity. The name may be
// any that the entity goes by. Errors are *EditError with kv.ErrNotFound or ErrField.
func (p *Pipeline) EditEntity(ctx context.Context, name string, f EntityFields) (EditResult, error) {
	const op = "edit entity"
	set, err := f.clean()
	if err != nil {
		return EditResult{}, withNames(op, err, name)
	}
	return p.edit(ctx, op, []string{name}, func(c *revision) error {
		at, err := c.find(name)
		if err != nil {
			return c.refuse("", err, name)
		}
		return c.set(record.EntityObject(at), set)
	})
}

func (f EntityFields) clean() (set record.Fields, err error) {
	if f.Type != nil {
		typ, err := oneLine(*f.Type)
		if err == nil && typ == "" {
			err = badField("it is blank")
		}
		if err != nil {
			return set, &EditError{Field: "type", Err: err}
		}
		set.Type = &typ
	}
	if f.Description != nil {
		text, err := handText(*f.Description)
		if err != nil {
			return set, &EditError{Field: "description", Err: err}
		}
		set.Description = &text
	}
	return set, nil
}

// withNames completes an error of clean.
func withNames(op string, err error, names ...string) error {
	var e *EditError
	if errors.As(err, &e) {
		e.Op, e.Names = op, names
	}
	return err
}

// set puts fields on a target, and takes them off its other names, under which they would come back.
func (c *revision) set(target record.Object, set record.Fields) error {
	if set.Empty() {
		return nil
	}
	if err := c.touch(target); err != nil {
		return err
	}
	return c.eachDecided(target, func(o record.Object, m *record.Manual) {
		m.Set.Without(&set)
	}, func(m *record.Manual) {
		set.Or(&m.Set)
		m.Set = set
	})
}

// eachDecided changes the decisions about every object of a target's group that there are, and those about the
// target itself in any case.
func (c *revision) eachDecided(target record.Object, change func(o record.Object, m *record.Manual), own func(m *record.Manual)) error {
	group, err := c.names.group(target)
	if err != nil {
		return err
	}
	for _, o := range group {
		m, err := c.names.decided(o)
		if err != nil {
			return err
		}
		if m != nil {
			if err := c.decide(o, func(m *record.Manual) { change(o, m) }); err != nil {
				return err
			}
		}
	}
	if own == nil {
		return nil
	}
	return c.decide(target, own)
}

// RenameEntity gives an entity another name. The old one becomes an alias: it is still found, and documents that use
// it, now or later, speak of the renamed entity. A name that another entity has is ErrNameTaken, see MergeEntities;
// an alias of the entity itself is not. Errors are *EditError with kv.ErrNotFound, ErrName or ErrNameTaken.
func (p *Pipeline) RenameEntity(ctx context.Context, from, to string) (EditResult, error) {
	return p.edit(ctx, "rename entity", []string{from, to}, func(c *revision) error {
		at, err := c.find(from)
		if err != nil {
			return c.refuse("", err, from)
		}
		name := NormalizeName(to)
		own, err := c.names.names(at)
		if err != nil {
			return err
		}
		if !slices.Contains(own, name) {
			if name, err = c.free(to); err != nil {
				return c.refuse("new name", err, from, to)
			}
		}
		return c.unite(name, at)
	})
}

// MergeEntities makes several entities one, as if documents had always used one name: records and relations come
// together, relations between them vanish, the names become aliases. RemoveAlias parts them again. Errors are *EditError with
// kv.ErrNotFound, ErrName, ErrNameTaken or ErrField.
func (p *Pipeline) MergeEntities(ctx context.Context, m Merge) (EditResult, error) {
	const op = "merge entities"
	set, err := m.Set.clean()
	if err == nil && len(m.From) == 0 {
		err = &EditError{Field: "from", Err: badField("no entity to merge")}
	}
	if err != nil {
		return EditResult{}, withNames(op, err, m.Into)
	}
	names := append([]string{m.Into}, m.From...)
	return p.edit(ctx, op, names, func(c *revision) error {
		var from []string
		for _, name := range m.From {
			at, err := c.find(name)
			if err != nil {
				return c.refuse("", err, name)
			}
			if !slices.Contains(from, at) {
				from = append(from, at)
			}
		}
		into, err := c.find(m.Into)
		if errors.Is(err, kv.ErrNotFound) || c.called[m.Into] == into && slices.Contains(from, into) {
			into, err = c.respelt(m.Into, into)
		}
		if err != nil {
			return c.refuse("into", err, m.Into)
		}
		if err := c.unite(into, from...); err != nil {
			return err
		}
		return c.set(record.EntityObject(into), set)
	})
}

// unite makes into the name that the entities from go by, beside what goes by it already.
func (c *revision) unite(into string, from ...string) error {
	var aliases []string
	for _, name := range append([]string{into}, from...) {
		at, err := c.names.name(name)
		if err != nil {
			return err
		}
		names, err := c.names.names(at)
		if err != nil {
			return err
		}
		for _, n := range names {
			if n != into && !slices.Contains(aliases, n) {
				aliases = append(aliases, n)
			}
		}
	}
	if 1+len(aliases) > MaxNames {
		return c.refuse("", badField("it would have %d names, limit %d", 1+len(aliases), MaxNames), into)
	}
	self, err := c.names.decided(record.EntityObject(into))
	if err != nil || self != nil && slices.Equal(self.Aliases, aliases) || self == nil && len(aliases) == 0 {
		return err
	}
	for _, name := range append([]string{into}, from...) {
		if err := c.touchAround(name); err != nil {
			return err
		}
	}
	for _, n := range aliases {
		if err := c.decide(record.EntityObject(n), func(m *record.Manual) { m.AliasOf, m.Aliases = into, nil }); err != nil {
			return err
		}
	}
	return c.decide(record.EntityObject(into), func(m *record.Manual) { m.AliasOf, m.Aliases = "", aliases })
}

// AddAlias gives an entity one more name, under which it is found and documents may speak of it. Errors are
// *EditError with kv.ErrNotFound, ErrName or ErrNameTaken; two entities are united by MergeEntities.
func (p *Pipeline) AddAlias(ctx context.Context, name, alias string) (EditResult, error) {
	return p.edit(ctx, "add alias", []string{name, alias}, func(c *revision) error {
		at, err := c.find(name)
		if err != nil {
			return c.refuse("", err, name)
		}
		own, err := c.names.names(at)
		if err != nil || slices.Contains(own, NormalizeName(alias)) {
			return err
		}
		stored, err := c.free(alias)
		if err != nil {
			return c.refuse("alias", err, name, alias)
		}
		return c.unite(at, stored)
	})
}

// RemoveAlias undoes what gave an entity the name: a rename, a merge or an alias. What documents say under it is
// an entity of its own again. Errors are *EditError with kv.ErrNotFound.
func (p *Pipeline) RemoveAlias(ctx context.Context, alias string) (EditResult, error) {
	return p.edit(ctx, "remove alias", []string{alias}, func(c *revision) error {
		stored, of, err := c.findAlias(alias)
		if err != nil {
			return c.refuse("", err, alias)
		}
		if err := c.touchAround(of); err != nil {
			return err
		}
		if err := c.decide(record.EntityObject(stored), func(m *record.Manual) { m.AliasOf = "" }); err != nil {
			return err
		}
		return c.decide(record.EntityObject(of), func(m *record.Manual) {
			m.Aliases = slices.DeleteFunc(m.Aliases, func(n string) bool { return n == stored })
		})
	})
}

// DeleteEntity removes an entity and its relations. What documents say of it counts for nothing from now on, in
// documents to come as well, until ResetEntity or CreateEntity; statements by hand are gone for good. The decision
// is forgotten when no document speaks of it any more. Errors are *EditError with kv.ErrNotFound.
func (p *Pipeline) DeleteEntity(ctx context.Context, name string) (EditResult, error) {
	return p.edit(ctx, "delete entity", []string{name}, func(c *revision) error {
		at, err := c.find(name)
		if err != nil {
			return c.refuse("", err, name)
		}
		if err := c.touchAround(at); err != nil {
			return err
		}
		for _, o := range c.touched() {
			if err := c.drop(o); err != nil {
				return err
			}
		}
		names, err := c.names.names(at)
		for _, n := range names {
			if err == nil {
				err = c.decide(record.EntityObject(n), func(m *record.Manual) { m.Deleted = true })
			}
		}
		return err
	})
}

// touched lists the raw objects that were touched.
func (c *revision) touched() []record.Object {
	out := make([]record.Object, 0, len(c.raws))
	for o := range c.raws {
		out = append(out, o)
	}
	slices.SortFunc(out, record.Object.Compare)
	return out
}

// ResetEntity takes back what was set by hand on an entity, and its deletion: it is again what documents and
// statements say. Its names stay. Errors are *EditError with kv.ErrNotFound.
func (p *Pipeline) ResetEntity(ctx context.Context, name string) (EditResult, error) {
	return p.edit(ctx, "reset entity", []string{name}, func(c *revision) error {
		at, _, err := c.locate(name)
		if err != nil {
			return c.refuse("", err, name)
		}
		if err := c.touch(record.EntityObject(at)); err != nil {
			return err
		}
		if err := c.undelete(at); err != nil {
			return err
		}
		return c.eachDecided(record.EntityObject(at), func(_ record.Object, m *record.Manual) { m.Set = record.Fields{} }, nil)
	})
}

// undelete makes what documents say of an entity and of its relations count again.
func (c *revision) undelete(name string) error {
	names, err := c.names.names(name)
	if err != nil {
		return err
	}
	was := false
	for _, n := range names {
		o := record.EntityObject(n)
		m, err := c.names.decided(o)
		if err != nil {
			return err
		}
		if m == nil || !m.Deleted {
			continue
		}
		was = true
		if err := c.decide(o, func(m *record.Manual) { m.Deleted = false }); err != nil {
			return err
		}
	}
	if !was {
		return nil
	}
	if err := c.touch(record.EntityObject(name)); err != nil {
		return err
	}
	return c.touchSpoken(names)
}

// touchSpoken touches the relations that documents state of some names, which are in no graph yet.
func (c *revision) touchSpoken(names []string) error {
	docs := make(map[uint64]string)
	for _, n := range names {
		for s, err := range recordsOf(c.r, c.names.ws, record.KindEndpoint, record.EntityObject(n)) {
			if err != nil {
				return err
			}
			docs[s.Seq] = s.Doc
		}
	}
	for _, id := range docs {
		objects, err := objectsOf(c.r, c.names.ws, id)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if o.IsRelation() && (slices.Contains(names, o.A) || slices.Contains(names, o.B)) {
				c.raws[o] = true
			}
		}
	}
	return nil
}
