package index

import (
	"context"
	"errors"
	"slices"

	"github.com/glimdb/db/kv"
)

// maxFreeTries is how often a plan is redone while others may commit. After that it is redone alone, so
// that a document which shares its objects with many others gets through.
const maxFreeTries = 3

// errMoved: objects of a plan changed since they were read.
var errMoved = errors.New("index: objects changed since the plan")

// work is one change on its way to a commit.
type work struct {
	kind string
	ids  []string
	plan *plan
	// fits, if there is one, may refuse the plan once it is derived, before any model is asked.
	fits func() error
	// prepare is called once per try, after the plan was derived and summarised, to get vectors.
	prepare func(ctx context.Context, edits []*edit) error
	// check re-reads what the plan stands on, in the writer turn; stage puts in what is not about objects.
	check func(b *kv.Batch) error
	stage func(b *kv.Batch) error
	// forget drops vectors that are not in edits; nil where there are none.
	forget func()
	// by made the vectors.
	by *embedding
}

// embeddedBy makes the vectors of w those of e: where others made some, all are asked for again. It returns the
// edits that this makes dirty.
func (w *work) embeddedBy(e *embedding, dirty []*edit) []*edit {
	if w.by == e {
		return dirty
	}
	if w.by != nil {
		for _, ed := range w.plan.edits {
			ed.vector = nil
		}
		if w.forget != nil {
			w.forget()
		}
		dirty = w.plan.edits
	}
	w.by = e
	return dirty
}

// commit plans, prepares and commits w. Objects that moved between plan and commit are redone alone.
func (p *Pipeline) commit(ctx context.Context, w *work) error {
	var dirty []*edit // all, the first time
	for try := 0; ; try++ {
		share := int64(1)
		if try >= maxFreeTries {
			share = gateShares
		}
		if share == gateShares {
			if err := p.gate.Acquire(ctx, share); err != nil {
				return err
			}
		}
		moved, err := p.tryCommit(ctx, w, dirty, share)
		if share == gateShares {
			p.gate.Release(share)
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		dirty = moved
	}
}

func (p *Pipeline) tryCommit(ctx context.Context, w *work, dirty []*edit, share int64) (moved []*edit, err error) {
	dirty = w.embeddedBy(p.embedding.Load(), dirty)
	if w.plan.names == nil || len(dirty) > 0 {
		if dirty, err = p.planOn(ctx, w.plan, dirty); err != nil {
			return nil, err
		}
		if w.fits != nil {
			if err := w.fits(); err != nil {
				return nil, err
			}
		}
		if err := p.summarise(ctx, dirty); err != nil {
			return nil, err
		}
	}
	if err := w.prepare(ctx, dirty); err != nil {
		return nil, err
	}
	if share < gateShares {
		if err := p.gate.Acquire(ctx, share); err != nil {
			return nil, err
		}
		defer p.gate.Release(share)
	}
	if w.by != p.embedding.Load() { // which cannot change while the gate is held
		return nil, errMoved
	}
	_, err = p.cfg.Updater.Update(ctx, w.kind, w.ids, func(b *kv.Batch) error {
		stands, err := w.plan.stands(b, p.cfg.Workspace)
		if err != nil {
			return err
		}
		if !stands {
			w.plan.names, moved = nil, nil
			return errMoved
		}
		if err := w.check(b); err != nil {
			return err
		}
		if moved, err = p.movedSince(b, w.plan.edits); err != nil {
			return err
		}
		if w.plan.byHand != nil && len(moved) > 0 { // what it stands on has to be looked at again
			w.plan.names, moved = nil, nil
			return errMoved
		}
		if moved, err = p.follow(ctx, b, w.plan, moved); err != nil {
			return err
		}
		if len(moved) > 0 {
			return errMoved
		}
		if err := p.stagePlan(b, w.plan); err != nil {
			return err
		}
		return w.stage(b)
	})
	return moved, err
}

// planOn derives edits on a new view, all of them when the plan has to be built, and returns them.
func (p *Pipeline) planOn(ctx context.Context, pl *plan, dirty []*edit) (_ []*edit, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if pl.names == nil {
		if err := p.build(view, pl); err != nil {
			return nil, err
		}
		dirty = pl.edits
	}
	return dirty, p.derive(ctx, view, pl, dirty)
}

// maxFollowed bounds how many objects are derived again inside the writer turn, where others wait: with
// their caps they are a few milliseconds.
const maxFollowed = 32

// follow derives moved edits again on the state they are about to change, and returns those that need a
// model for it. Most often that is none: a hub that many documents share has reached its caps, so that
// its text stays and only sums differ.
func (p *Pipeline) follow(ctx context.Context, b *kv.Batch, pl *plan, moved []*edit) ([]*edit, error) {
	if len(moved) == 0 || len(moved) > maxFollowed {
		return moved, nil
	}
	if err := p.derive(ctx, b, pl, moved); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(moved, func(e *edit) bool { return !e.needsModel() }), nil
}

// movedSince lists the edits whose objects another commit changed.
func (p *Pipeline) movedSince(r kv.Reader, edits []*edit) ([]*edit, error) {
	var moved []*edit
	tallies, err := talliesOf(r, p.cfg.Workspace, edits)
	if err != nil {
		return nil, err
	}
	for i, e := range edits {
		if tallies[i].Version != e.version {
			moved = append(moved, e)
		}
	}
	return moved, nil
}
