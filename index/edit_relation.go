package index

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// NewRelation is a relation between two known entities that a person states.
type NewRelation struct {
	Src         string   `json:"src"`
	Dst         string   `json:"dst"`
	Description string   `json:"description"` // not blank, up to 64 KiB
	Keywords    []string `json:"keywords,omitempty"`
	Weight      float64  `json:"weight,omitempty"` // 0: 1; above 0, to a million
}

// RelationFields are values to set by hand in place of what documents say. Nil fields stay as they are.
type RelationFields struct {
	Description *string  `json:"description,omitempty"` // not blank, up to 64 KiB
	Keywords    []string `json:"keywords,omitzero"`     // in place of all; empty and not nil: none
	// Weight is at least the number of chunks that state the relation, and is raised when more do.
	Weight *float64 `json:"weight,omitempty"`
}

// CreateRelation states a relation by hand. It lives without any document until it is deleted, and keeps its
// ends; documents that state it add to it. One that was deleted by hand comes back with what documents say of it.
// Errors are *EditError with kv.ErrNotFound (an end), ErrNameTaken, ErrSelfRelation or ErrField.
func (p *Pipeline) CreateRelation(ctx context.Context, n NewRelation) (EditResult, error) {
	const op = "create relation"
	if n.Weight == 0 {
		n.Weight = 1
	}
	set, err := RelationFields{Description: &n.Description, Keywords: n.Keywords, Weight: &n.Weight}.clean()
	if err != nil {
		return EditResult{}, withNames(op, err, n.Src, n.Dst)
	}
	return p.edit(ctx, op, []string{n.Src, n.Dst}, func(c *revision) error {
		var ends [2]string
		for i, name := range [...]string{n.Src, n.Dst} {
			var err error
			if ends[i], err = c.find(name); err != nil {
				return c.refuse([...]string{"src", "dst"}[i], err, n.Src, n.Dst)
			}
		}
		if ends[0] == ends[1] {
			return c.refuse("", ErrSelfRelation, n.Src, n.Dst)
		}
		o := record.RelationObject(ends[0], ends[1])
		if found, err := c.exists(o); err != nil {
			return err
		} else if found {
			return c.refuse("", taken("the relation exists"), n.Src, n.Dst)
		}
		if err := c.restore(o); err != nil {
			return err
		}
		at, err := c.vacant(o)
		if err != nil {
			return err
		}
		s := record.Source{Kind: record.KindRelation, Object: o, Position: at, Description: *set.Description,
			Keywords: set.Keywords, Weight: *set.Weight, Reversed: ends[0] > ends[1]}
		c.state(s)
		for _, end := range endpointsOf(&s) {
			c.state(end)
		}
		return nil
	})
}

// vacant returns the position of a relation stated by hand. Its number follows from the names, so that the order in
// which people state things leaves no trace; the next free one is taken where two pairs of an entity share theirs.
func (c *revision) vacant(o record.Object) (record.Position, error) {
	h := fnv.New32a()
	h.Write(codec.AppendString(codec.AppendString(nil, o.A), o.B))
	at := record.Position{Seq: record.HandSeq, Order: record.NoChunk, Record: int(h.Sum32() >> 1)}
	for ; ; at.Record++ {
		free := true
		for _, name := range []string{o.A, o.B} {
			end := record.Source{Kind: record.KindEndpoint, Object: record.EntityObject(name), Position: at}
			_, err := c.r.Get(end.Key(c.names.ws))
			if err != nil && !errors.Is(err, kv.ErrNotFound) {
				return at, err
			}
			free = free && err != nil
		}
		if free {
			return at, nil
		}
	}
}

// EditRelation sets fields of a relation by hand, whatever documents say now or later, until ResetRelation. The
// order of the names does not matter. Errors are *EditError with kv.ErrNotFound or ErrField.
func (p *Pipeline) EditRelation(ctx context.Context, a, b string, f RelationFields) (EditResult, error) {
	const op = "edit relation"
	set, err := f.clean()
	if err != nil {
		return EditResult{}, withNames(op, err, a, b)
	}
	return p.edit(ctx, op, []string{a, b}, func(c *revision) error {
		o, err := c.findPair(a, b)
		if err != nil {
			return c.refuse("", err, a, b)
		}
		t, err := tallyOf(c.r, c.names.ws, o)
		if err != nil {
			return err
		}
		if set.Weight != nil && set.Weight.Float() < float64(t.Chunks) {
			return c.refuse("weight", badField("%g is less than the %d chunks that state it", set.Weight.Float(), t.Chunks), a, b)
		}
		return c.set(o, set)
	})
}

func (f RelationFields) clean() (set record.Fields, err error) {
	if f.Description != nil {
		text, err := handText(*f.Description)
		if err != nil {
			return set, &EditError{Field: "description", Err: err}
		}
		set.Description = &text
	}
	if f.Keywords != nil {
		set.Keywords = []string{}
		for _, k := range f.Keywords {
			if len(k) > maxKeywordBytes {
				return set, &EditError{Field: "keywords", Err: badField("%d bytes, limit %d", len(k), maxKeywordBytes)}
			}
			if k = collapse(sanitizeHand(k)); k != "" {
				set.Keywords = append(set.Keywords, k)
			}
		}
		slices.Sort(set.Keywords)
		if set.Keywords = slices.Compact(set.Keywords); len(set.Keywords) > maxKeywords {
			return set, &EditError{Field: "keywords", Err: badField("%d of them, limit %d", len(set.Keywords), maxKeywords)}
		}
	}
	if f.Weight != nil {
		w, ok := record.WeightOf(*f.Weight)
		if !ok {
			return set, &EditError{Field: "weight", Err: badField("%v, want a number above 0, to %g", *f.Weight, record.MaxWeight)}
		}
		set.Weight = &w
	}
	return set, nil
}

// findPair returns the relation of two entities, each by any of its names.
func (c *revision) findPair(a, b string) (record.Object, error) {
	o, err := c.pair(a, b)
	if err != nil {
		return o, err
	}
	found, err := c.exists(o)
	if err != nil || found {
		return o, err
	}
	m, err := c.names.decided(o)
	if err != nil {
		return o, err
	}
	return o, &NoObjectError{Names: []string{a, b}, Deleted: m != nil && m.Deleted}
}

func (c *revision) pair(a, b string) (o record.Object, err error) {
	if a, err = c.find(a); err != nil {
		return o, err
	}
	if b, err = c.find(b); err != nil {
		return o, err
	}
	if a == b {
		return o, ErrSelfRelation
	}
	return record.RelationObject(a, b), nil
}

// DeleteRelation removes a relation; its ends stay. What documents say of it counts for nothing from now on, in
// documents to come as well, until ResetRelation or CreateRelation; a statement by hand is gone for good. Errors are
// *EditError with kv.ErrNotFound.
func (p *Pipeline) DeleteRelation(ctx context.Context, a, b string) (EditResult, error) {
	return p.edit(ctx, "delete relation", []string{a, b}, func(c *revision) error {
		o, err := c.findPair(a, b)
		if err != nil {
			return c.refuse("", err, a, b)
		}
		if err := c.touch(o); err != nil {
			return err
		}
		group, err := c.names.group(o)
		if err != nil {
			return err
		}
		if err := c.drop(group...); err != nil {
			return err
		}
		for _, raw := range group {
			if err := c.decide(raw, func(m *record.Manual) { m.Deleted = true }); err != nil {
				return err
			}
		}
		return nil
	})
}

// ResetRelation takes back what was set by hand on a relation, and its deletion. Errors are *EditError with
// kv.ErrNotFound.
func (p *Pipeline) ResetRelation(ctx context.Context, a, b string) (EditResult, error) {
	return p.edit(ctx, "reset relation", []string{a, b}, func(c *revision) error {
		o, err := c.findPair(a, b)
		var none *NoObjectError
		if errors.As(err, &none) && len(none.Names) == 2 && none.Deleted {
			err = nil
		}
		if err != nil {
			return c.refuse("", err, a, b)
		}
		if err := c.restore(o); err != nil {
			return err
		}
		return c.eachDecided(o, func(_ record.Object, m *record.Manual) { m.Set = record.Fields{} }, nil)
	})
}

// restore makes what documents say of a relation count again.
func (c *revision) restore(o record.Object) error {
	if err := c.touch(o); err != nil {
		return err
	}
	return c.eachDecided(o, func(_ record.Object, m *record.Manual) { m.Deleted = false }, nil)
}

// handText is a description as it is stored: without control characters, as long as extracted ones may be.
func handText(s string) (string, error) {
	s = sanitizeHand(s)
	switch {
	case s == "":
		return "", badField("it is blank")
	case len(s) > maxDescriptionBytes:
		return "", badField("%d bytes, limit %d", len(s), maxDescriptionBytes)
	}
	return s, nil
}

// oneLine is a type as it is stored.
func oneLine(s string) (string, error) {
	if s = collapse(sanitizeHand(s)); len(s) > maxTypeBytes {
		return "", badField("%d bytes, limit %d", len(s), maxTypeBytes)
	}
	return s, nil
}

// sanitizeHand is sanitize for what a person typed, in which "&amp;" means itself.
func sanitizeHand(s string) string {
	s, _ = removeControls(strings.ToValidUTF8(s, ""))
	return strings.TrimSpace(s)
}
