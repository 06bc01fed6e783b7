package index

import (
	"maps"
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// stageDormant replaces the records that count for nothing. They have no tally that a plan could be checked
// against; what makes them count again is an edit, which compares the counter.
func (p *Pipeline) stageDormant(b *kv.Batch, pl *plan) error {
	if len(pl.dormant.removed)+len(pl.dormant.added) == 0 {
		return nil
	}
	if err := p.stageSources(b, &pl.dormant); err != nil {
		return err
	}
	return bump(b, record.DormantKey(p.cfg.Workspace))
}

// stageDecisions stores what people decided, and drops the decisions about what nothing speaks of any more.
func (p *Pipeline) stageDecisions(b *kv.Batch, pl *plan) error {
	touched := make(map[record.Object]bool)
	for _, e := range slices.Concat(pl.edits, []*edit{&pl.dormant}) {
		for i := range e.removed {
			touched[e.removed[i].Object] = true
		}
	}
	if c := pl.byHand; c != nil {
		if err := countEdit(b, p.cfg.Workspace); err != nil {
			return err
		}
		for _, o := range c.decisions() {
			touched[o] = true
			if err := putDecision(b, p.cfg.Workspace, o, c.decided[o]); err != nil {
				return err
			}
		}
		maps.Copy(touched, c.raws)
	} else if pl.names.plain {
		return nil
	}
	return p.bury(b, touched)
}

// putDecision stores m, or nothing when it is empty, and keeps the index of aliases.
func putDecision(b *kv.Batch, ws string, o record.Object, m *record.Manual) error {
	key := record.ManualKey(ws, o)
	if !o.IsRelation() {
		alias := record.AliasKey(ws, graph.Fold(o.A), o.A)
		if m.AliasOf != "" {
			if err := b.Set(alias, []byte(m.AliasOf)); err != nil {
				return err
			}
		} else if err := b.Delete(alias); err != nil {
			return err
		}
	}
	if m.Empty() {
		return b.Delete(key)
	}
	return b.Set(key, m.Encode())
}

// bury drops all decisions about an entity or relation that no record speaks of, under any of its names. It is
// called when records are staged, so that it sees exactly what will be there. A view is never changed by it:
// where there is no record there is none.
func (p *Pipeline) bury(b *kv.Batch, touched map[record.Object]bool) error {
	objects := make([]record.Object, 0, len(touched))
	for o := range touched {
		objects = append(objects, o)
	}
	// Relations first: the names of their ends are still known.
	slices.SortFunc(objects, func(x, y record.Object) int { return y.Compare(x) })
	names, err := newResolver(b, p.cfg.Workspace)
	if err != nil {
		return err
	}
	buried := false
	for _, o := range objects {
		group, err := names.group(o)
		if err != nil {
			return err
		}
		var decided []record.Object
		for _, o := range group {
			m, err := names.decided(o)
			if err != nil {
				return err
			}
			if m != nil {
				decided = append(decided, o)
			}
		}
		if len(decided) == 0 {
			continue
		}
		if spoken, err := spokenOf(b, p.cfg.Workspace, group); err != nil || spoken {
			if err != nil {
				return err
			}
			continue
		}
		for _, o := range decided {
			if err := putDecision(b, p.cfg.Workspace, o, &record.Manual{}); err != nil {
				return err
			}
			names.known[o] = nil
			buried = true
		}
	}
	if !buried {
		return nil
	}
	return countEdit(b, p.cfg.Workspace)
}

// spokenOf reports whether there is a record of any of the objects.
func spokenOf(r kv.Reader, ws string, objects []record.Object) (bool, error) {
	for _, o := range objects {
		for _, k := range kindsOf(o) {
			for _, err := range scan(r, record.SourcePrefix(ws, k, o)) {
				return err == nil, err
			}
		}
	}
	return false, nil
}
