package index

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// resolver tells which entity or relation source records count for, by what people decided (record.Decisions).
//
// It reads each decision once, through the reader it is pointed at, and belongs to one goroutine.
type resolver struct {
	r              kv.Reader
	ws             string
	edits, dormant uint64 // see record.EditsKey and record.DormantKey
	plain          bool   // nothing was ever decided: all objects are what they are called
	known          map[record.Object]*record.Manual
}

// newResolver reads the counters that tell later whether decisions have changed since.
func newResolver(r kv.Reader, ws string) (*resolver, error) {
	n := &resolver{r: r, ws: ws, known: make(map[record.Object]*record.Manual)}
	var err error
	if n.edits, err = counter(r, record.EditsKey(ws)); err != nil {
		return nil, err
	}
	n.plain = n.edits == 0
	n.dormant, err = counter(r, record.DormantKey(ws))
	return n, err
}

func counter(r kv.Reader, key []byte) (uint64, error) {
	v, err := r.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, rest, err := codec.KeyUint64(v)
	if err == nil && len(rest) > 0 {
		err = codec.ErrCorrupt
	}
	if err != nil {
		err = fmt.Errorf("%w: counter of edits: %w", kv.ErrCorrupt, err)
	}
	return n, err
}

// countEdit tells plans under way that decisions change.
func countEdit(b *kv.Batch, ws string) error {
	return errors.Join(bump(b, record.EditsKey(ws)), bump(b, record.DormantKey(ws)))
}

func bump(b *kv.Batch, key []byte) error {
	return b.Set(key, codec.AppendKeyUint64(nil, uint64(b.LSN())+1))
}

// decided returns what was decided about an object; nil for nothing. The result must not be changed.
func (n *resolver) decided(o record.Object) (*record.Manual, error) {
	if m, ok := n.known[o]; ok || n.plain {
		return m, nil
	}
	v, err := n.r.Get(record.ManualKey(n.ws, o))
	if errors.Is(err, kv.ErrNotFound) {
		n.known[o] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := record.DecodeManual(v)
	if err != nil {
		return nil, fmt.Errorf("%w: decisions about %v: %w", kv.ErrCorrupt, o, err)
	}
	n.known[o] = &m
	return &m, nil
}

// name is record.Decisions.Name.
func (n *resolver) name(name string) (string, error) { return record.Decisions(n.decided).Name(name) }

// names returns all names of the entity that goes by name, that one first.
func (n *resolver) names(name string) ([]string, error) {
	m, err := n.decided(record.EntityObject(name))
	if err != nil || m == nil {
		return []string{name}, err
	}
	return append([]string{name}, m.Aliases...), nil
}

// target is record.Decisions.Target.
func (n *resolver) target(o record.Object) (target record.Object, active bool, err error) {
	if n.plain {
		return o, true, nil
	}
	return record.Decisions(n.decided).Target(o)
}

// goesBy is record.Decisions.GoesBy.
func (n *resolver) goesBy(o record.Object) (_ record.Object, ok bool, err error) {
	return record.Decisions(n.decided).GoesBy(o)
}

// counts is record.Decisions.Counts.
func (n *resolver) counts(o record.Object) (bool, error) {
	return record.Decisions(n.decided).Counts(o)
}

// group returns every object whose records would count for the same target if nothing were deleted, o's own name
// first when entities go by it: the names of one entity, or all pairs of names of two (of one, when both ends of o
// are it).
func (n *resolver) group(o record.Object) ([]record.Object, error) {
	if n.plain {
		return []record.Object{o}, nil
	}
	t, _, err := n.goesBy(o)
	if err != nil {
		return nil, err
	}
	as, err := n.names(t.A)
	if err != nil || !o.IsRelation() {
		out := make([]record.Object, len(as))
		for i, a := range as {
			out[i] = record.EntityObject(a)
		}
		return out, err
	}
	bs, err := n.names(t.B)
	if err != nil {
		return nil, err
	}
	var out []record.Object
	for i, a := range as {
		if t.A == t.B {
			bs = as[i+1:]
		}
		for _, b := range bs {
			out = append(out, record.RelationObject(a, b))
		}
	}
	return out, nil
}

// members returns the objects whose records count for a target; none when entities do not go by its names.
func (n *resolver) members(target record.Object) ([]record.Object, error) {
	if n.plain {
		return []record.Object{target}, nil
	}
	if t, ok, err := n.goesBy(target); err != nil || !ok || t != target {
		return nil, err
	}
	group, err := n.group(target)
	if err != nil {
		return nil, err
	}
	var out []record.Object
	for _, o := range group {
		ok, err := n.counts(o)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, o)
		}
	}
	return out, nil
}

// fields returns what is set by hand on a target: under its own name first, then under its others.
func (n *resolver) fields(target record.Object) (f record.Fields, err error) {
	members, err := n.members(target)
	if err != nil || n.plain {
		return f, err
	}
	for _, o := range members {
		m, err := n.decided(o)
		if err != nil {
			return f, err
		}
		if m != nil {
			f.Or(&m.Set)
		}
	}
	return f, nil
}
