package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Derived properties are what an analysis says of nodes. They stand beside a graph, not in it: Node does not read
// them and PutNode does not write them, so that what was written stays as it was, and a node takes its own with it
// when it is deleted. Each has a stamp that tells what it was made from.

// maxDerivedName bounds the name of a derived property, which every node's record repeats.
const maxDerivedName = 128

// SaveDerived stages a derived property: values by name of node, and its stamp. It replaces the property of that name
// wholly; nodes without a value have none, and values of names that are no nodes are left out and counted. Values
// must be of the kinds that Props has. They come in any order; of two for one name the later one counts. stamp is called
// once it is known how many nodes got a value, and how many names are no nodes.
//
// It costs a get for each value and a pass over all derived properties of the graph. Errors: *InvalidError, that of
// ctx, or the batch's (kv.ErrTooLarge for graphs of many millions of nodes).
func (g *Graph) SaveDerived(ctx context.Context, b *kv.Batch, property string,
	stamp func(saved, absent int) (Props, error), values iter.Seq2[string, any]) (saved, absent int, err error) {
	saved, absent, err = g.saveDerived(ctx, b, property, stamp, values)
	if err != nil {
		return 0, 0, fmt.Errorf("graph: save %s: %w", brief.Quote(property), err)
	}
	return saved, absent, nil
}

func (g *Graph) saveDerived(ctx context.Context, b *kv.Batch, property string,
	stamp func(saved, absent int) (Props, error), values iter.Seq2[string, any]) (saved, absent int, err error) {
	if err := checkDerived(property); err != nil {
		return 0, 0, err
	}
	if _, err := g.begin(b); err != nil {
		return 0, 0, err
	}
	fresh := make(map[nodeID]any)
	for name, v := range values {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		if err := checkProps(Props{property: v}); err != nil {
			return 0, 0, err
		}
		id, err := g.id(b, name)
		if errors.Is(err, kv.ErrNotFound) {
			absent++
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		fresh[id] = v
	}
	saved = len(fresh)
	known, err := stamp(saved, absent)
	if err == nil {
		err = checkProps(known)
	}
	if err == nil {
		err = b.Set(g.stampKey(property), codec.AppendProps(nil, known))
	}
	if err != nil {
		return 0, 0, err
	}
	return saved, absent, g.replaceDerived(ctx, b, property, fresh)
}

// replaceDerived gives nodes their values of a property and takes away those of others; it empties fresh.
func (g *Graph) replaceDerived(ctx context.Context, b *kv.Batch, property string, fresh map[nodeID]any) error {
	c, err := g.cursor(b, kindDerived) // shows the batch as it is now
	if err != nil {
		return err
	}
	defer c.Close()
	put := func(key []byte, p Props) error {
		if len(p) == 0 {
			return b.Delete(key)
		}
		return b.Set(key, codec.AppendProps(nil, p))
	}
	for c.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, p, err := g.derivedOf(c.Key(), c.Value())
		if err != nil {
			return err
		}
		v, has := fresh[id]
		delete(fresh, id)
		if _, had := p[property]; !has && !had {
			continue
		}
		delete(p, property)
		if has {
			p[property] = v
		}
		if err := put(slices.Clone(c.Key()), p); err != nil {
			return err
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(fresh)) {
		if err := put(g.idKey(kindDerived, id), Props{property: fresh[id]}); err != nil {
			return err
		}
	}
	return nil
}

// DropDerived stages the removal of a derived property from all nodes, or returns an error that is kv.ErrNotFound. It
// costs a pass over all derived properties.
func (g *Graph) DropDerived(ctx context.Context, b *kv.Batch, property string) error {
	_, err := b.Get(g.stampKey(property))
	if err == nil {
		err = b.Delete(g.stampKey(property))
	}
	if err == nil {
		err = g.replaceDerived(ctx, b, property, nil)
	}
	if err != nil {
		return fmt.Errorf("graph: drop %s: %w", brief.Quote(property), err)
	}
	return nil
}

// Stamp is what is known of a derived property as a whole.
type Stamp struct {
	Property string
	Props    Props // what SaveDerived got
}

// DerivedStamps returns the stamps of all derived properties in order of name.
func (g *Graph) DerivedStamps(r kv.Reader) ([]Stamp, error) {
	c, err := g.cursor(r, kindStamp)
	if err != nil {
		return nil, fmt.Errorf("graph: derived: %w", err)
	}
	defer c.Close()
	var out []Stamp
	for c.Next() {
		s, err := g.stampOf(c.Key(), c.Value())
		if err != nil {
			return nil, fmt.Errorf("graph: derived: %w", err)
		}
		out = append(out, s)
	}
	return out, c.Err()
}

// Derived returns the derived properties of a node, nil when it has none. The error is kv.ErrNotFound when there is no
// such node. It costs two gets.
func (g *Graph) Derived(r kv.Reader, name string) (Props, error) {
	id, err := g.id(r, name)
	if err != nil {
		return nil, fmt.Errorf("graph: derived: %w", err)
	}
	v, err := r.Get(g.idKey(kindDerived, id))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("graph: derived: %w", err)
	}
	_, p, err := g.derivedOf(g.idKey(kindDerived, id), v)
	return p, err
}

func (g *Graph) stampKey(property string) []byte {
	return append(g.key(kindStamp, len(property)), property...)
}

func (g *Graph) stampOf(key, value []byte) (Stamp, error) {
	r := codec.NewReader(value)
	s := Stamp{Property: string(key[len(g.prefix)+1:]), Props: r.Props()}
	return s, corrupt(r.Done())
}

func (g *Graph) derivedOf(key, value []byte) (nodeID, Props, error) {
	id, err := g.idOf(key)
	if err != nil {
		return 0, nil, err
	}
	r := codec.NewReader(value)
	p := r.Props()
	return id, p, corrupt(r.Done())
}

func checkDerived(property string) error {
	reason := ""
	switch {
	case property == "":
		reason = "empty"
	case len(property) > maxDerivedName:
		reason = fmt.Sprintf("%d bytes, limit %d", len(property), maxDerivedName)
	case !utf8.ValidString(property):
		reason = "not UTF-8"
	default:
		return nil
	}
	return &InvalidError{Field: "property", Key: "name", Reason: reason}
}

// derived checks a keys against p keys, and both against nodes.
func (c *checker) derived() error {
	stamped := map[string]bool{}
	err := c.each(kindStamp, func(key, value []byte) error {
		s, err := c.g.stampOf(key, value)
		if err != nil {
			return c.report("value", "stamp of a derived property: %v", err)
		}
		stamped[s.Property] = true
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(kindDerived, func(key, value []byte) error {
		id, p, err := c.g.derivedOf(key, value)
		if err != nil {
			return c.report("value", "derived properties: %v", err)
		}
		if len(p) == 0 {
			return c.report("value", "an empty record of derived properties of id %d", id)
		}
		for property := range p {
			if !stamped[property] {
				if err := c.report("G9", "id %d has a derived property that has no stamp", id); err != nil {
					return err
				}
			}
		}
		_, ok, err := c.get(c.g.idKey(kindID, id))
		if err == nil && !ok {
			err = c.report("G9", "derived properties of id %d, which is no node", id)
		}
		return err
	})
}
