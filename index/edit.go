package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// EditResult tells what an edit of the graph did. All of it is one commit.
type EditResult struct {
	LSN kv.LSN `json:"lsn"` // of the commit; 0 when nothing had to change
	// Entities and Relations are the names, and pairs of names, that came, went or look different now, sorted.
	Entities  []string    `json:"entities,omitempty"`
	Relations [][2]string `json:"relations,omitempty"`
	// Resolved tells whom a name that was given was taken for, where it is not the entity's own: an alias, or another
	// spelling. Sorted by Given.
	Resolved []ResolvedName `json:"resolved,omitempty"`
}

// ResolvedName is a name as it was given, and the name of the entity that it means.
type ResolvedName struct {
	Given string `json:"given"`
	Name  string `json:"name"`
}

// revision is an edit by hand on its way: what people decide and state, and which objects that touches. It is
// worked out on a view, and again when documents or other edits moved what it stands on.
type revision struct {
	p  *Pipeline
	op string
	do func(c *revision) error

	// Of the present build.
	r       kv.Reader
	names   *resolver
	decided map[record.Object]*record.Manual
	targets map[record.Object]bool    // entities and relations, before and after
	raws    map[record.Object]bool    // whose records may count for something else afterwards
	around  map[string][]string       // neighbours of the entities whose relations are touched
	stated  []record.Source           // statements by hand that come
	dropped map[string]*record.Source // those that go, by key
	called  map[string]string         // the names of EditResult.Resolved
	noop    bool
}

// edit makes one change of the graph in one commit. Names are for messages and for the change feed.
func (p *Pipeline) edit(ctx context.Context, op string, names []string, do func(c *revision) error) (res EditResult, err error) {
	c := &revision{p: p, op: op, do: do}
	w := &work{kind: "edit", ids: names, plan: &plan{byHand: c, skip: map[uint64]bool{record.HandSeq: true}}}
	w.prepare = func(ctx context.Context, edits []*edit) error {
		if c.noop {
			return errNoop
		}
		_, _, err := p.embedEdits(ctx, edits, nil)
		return err
	}
	w.check = func(b *kv.Batch) error {
		if err := p.admit(b); err != nil {
			return err
		}
		return c.check(b, w.plan)
	}
	w.stage = func(b *kv.Batch) error {
		res = EditResult{LSN: b.LSN() + 1, Resolved: c.resolved()}
		for _, e := range w.plan.edits {
			switch {
			case e.gone && e.entity == nil && e.relation == nil || !e.gone && !e.changed():
			case e.object.IsRelation():
				res.Relations = append(res.Relations, [2]string{e.object.A, e.object.B})
			default:
				res.Entities = append(res.Entities, e.object.A)
			}
		}
		return nil
	}
	err = p.commit(ctx, w)
	switch {
	case errors.Is(err, errNoop):
		return EditResult{Resolved: c.resolved()}, nil
	case errors.Is(err, kv.ErrTooLarge):
		err = &EditError{Op: op, Names: names, Err: err}
	}
	if err != nil {
		return EditResult{}, err
	}
	return res, nil
}

var errNoop = errors.New("index: nothing to change")

func (c *revision) resolved() (all []ResolvedName) {
	for _, given := range slices.Sorted(maps.Keys(c.called)) {
		all = append(all, ResolvedName{given, c.called[given]})
	}
	return all
}

// build works the edit out on r.
func (c *revision) build(r kv.Reader, pl *plan) error {
	if err := c.p.checkModels(r); err != nil {
		return err
	}
	*c = revision{p: c.p, op: c.op, do: c.do, r: r, names: pl.names, decided: make(map[record.Object]*record.Manual),
		targets: make(map[record.Object]bool), raws: make(map[record.Object]bool), around: make(map[string][]string),
		dropped: make(map[string]*record.Source), called: make(map[string]string)}
	pl.names.plain = false
	if err := c.do(c); err != nil {
		return err
	}
	c.noop = len(c.decided)+len(c.stated)+len(c.dropped) == 0
	for o := range c.raws {
		t, active, err := pl.names.target(o)
		if err != nil {
			return err
		}
		if active {
			c.targets[t] = true
		}
	}
	for o := range c.targets {
		e, err := c.edit(o)
		if err != nil {
			return err
		}
		pl.edits = append(pl.edits, e)
	}
	for _, s := range c.dropped {
		if _, active, err := pl.names.target(s.Object); err != nil {
			return err
		} else if !active {
			pl.dormant.removed = append(pl.dormant.removed, *s)
		}
	}
	return nil
}

// edit lists the statements by hand about one target: those that stand and those that will.
func (c *revision) edit(o record.Object) (*edit, error) {
	e := &edit{object: o}
	members, err := c.names.members(o)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		for _, k := range kindsOf(m) {
			list, err := sourcesOf(c.r, c.names.ws, k, m, record.HandSeq)
			if err != nil {
				return nil, err
			}
			e.removed = append(e.removed, list...)
		}
		for _, s := range c.stated {
			if s.Object == m {
				e.added = append(e.added, s)
			}
		}
	}
	for _, s := range e.removed {
		if c.dropped[string(s.Key(c.names.ws))] == nil {
			e.added = append(e.added, s)
		}
	}
	slices.SortFunc(e.removed, compareSources)
	slices.SortFunc(e.added, compareSources)
	return e, nil
}

// check makes sure, in the writer turn, that the entities around those that are touched are still the same.
func (c *revision) check(b *kv.Batch, pl *plan) error {
	for name, was := range c.around {
		now, err := c.p.neighbors(b, name)
		if err != nil {
			return err
		}
		if !slices.Equal(was, now) {
			pl.names = nil
			return errMoved
		}
	}
	return nil
}

// neighbors lists the names of the entities that name has a relation with, sorted; none for an unknown one.
func (p *Pipeline) neighbors(r kv.Reader, name string) ([]string, error) {
	g, err := p.openGraph(r)
	if err != nil || g == nil {
		return nil, err
	}
	var out []string
	for n, err := range g.Neighbors(r, name) {
		if err != nil {
			return nil, absentIsNil(err)
		}
		out = append(out, n.Name)
	}
	return out, nil
}

// decisions lists what is decided about, sorted.
func (c *revision) decisions() []record.Object {
	out := make([]record.Object, 0, len(c.decided))
	for o := range c.decided {
		out = append(out, o)
	}
	slices.SortFunc(out, record.Object.Compare)
	return out
}

// decide changes what is decided about an object.
func (c *revision) decide(o record.Object, change func(m *record.Manual)) error {
	m, err := c.names.decided(o)
	if err != nil {
		return err
	}
	next := record.Manual{}
	if m != nil {
		next = *m
		next.Aliases = slices.Clone(m.Aliases)
	}
	change(&next)
	c.names.known[o], c.decided[o] = &next, &next
	return nil
}

// touch notes that an entity or relation, and all that counts for it, may look different afterwards.
func (c *revision) touch(o record.Object) error {
	c.targets[o] = true
	group, err := c.names.group(o)
	for _, raw := range group {
		c.raws[raw] = true
	}
	return err
}

// touchAround touches an entity and its relations.
func (c *revision) touchAround(name string) error {
	if err := c.touch(record.EntityObject(name)); err != nil {
		return err
	}
	within, err := c.names.group(record.RelationObject(name, name)) // between names of its own: they count for nothing now
	if err != nil {
		return err
	}
	for _, raw := range within {
		c.raws[raw] = true
	}
	if c.around[name], err = c.p.neighbors(c.r, name); err != nil {
		return err
	}
	for _, other := range c.around[name] {
		if err := c.touch(record.RelationObject(name, other)); err != nil {
			return err
		}
	}
	return c.touchDecided(name)
}

// touchDecided touches what was decided about relations of an entity, which need not be in the graph. It reads all
// decisions about relations.
func (c *revision) touchDecided(name string) error {
	prefix := record.ManualPrefix(c.names.ws, true)
	for kvp, err := range scan(c.r, prefix) {
		if err != nil {
			return err
		}
		o, err := record.ParseManualKey(kvp.key[len(prefix):], true)
		if err != nil {
			return fmt.Errorf("%w: decision: %w", kv.ErrCorrupt, err)
		}
		for _, end := range [...]string{o.A, o.B} {
			at, err := c.names.name(end)
			if err != nil {
				return err
			}
			if at == name {
				c.raws[o] = true
			}
		}
	}
	return nil
}

// exists reports whether something speaks of a target.
func (c *revision) exists(target record.Object) (bool, error) {
	t, err := tallyOf(c.r, c.names.ws, target)
	return t.Version != 0, err
}

// drop takes back the statements by hand about raw objects, with the endpoint statements of relations.
func (c *revision) drop(raws ...record.Object) error {
	for _, o := range raws {
		for _, k := range kindsOf(o) {
			if k == record.KindEndpoint {
				continue // goes with its relation
			}
			list, err := sourcesOf(c.r, c.names.ws, k, o, record.HandSeq)
			if err != nil {
				return err
			}
			for i := range list {
				c.remove(list[i])
				if k == record.KindRelation {
					for _, end := range endpointsOf(&list[i]) {
						c.remove(end)
					}
				}
			}
		}
	}
	return nil
}

func (c *revision) remove(s record.Source) {
	c.dropped[string(s.Key(c.names.ws))] = &s
	c.raws[s.Object] = true
}

func (c *revision) state(s record.Source) {
	c.stated = append(c.stated, s)
	c.raws[s.Object] = true
}

// endpointsOf are the endpoint records of a relation record.
func endpointsOf(s *record.Source) []record.Source {
	var out []record.Source
	for _, name := range []string{s.Object.A, s.Object.B} {
		e := *s
		e.Kind, e.Object = record.KindEndpoint, record.EntityObject(name)
		e.Keywords, e.Weight, e.Reversed = nil, 0, false
		out = append(out, e)
	}
	return out
}

// refuse names the argument that is wrong, and the object.
func (c *revision) refuse(field string, err error, names ...string) error {
	return refusal(c.op, field, err, names...)
}

// refusal makes an *EditError of the reasons of one; other errors are the store's and stay what they are.
func refusal(op, field string, err error, names ...string) error {
	for _, reason := range []error{ErrNameTaken, ErrName, ErrAmbiguous, ErrSelfRelation, ErrField, kv.ErrNotFound} {
		if errors.Is(err, reason) {
			return &EditError{Op: op, Names: names, Field: field, Err: err}
		}
	}
	return err
}
