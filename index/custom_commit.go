package index

import (
	"context"
	"errors"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// graphAttempt is one try to store a custom graph. Unlike other documents it never waits.
type graphAttempt struct {
	attempt
	version record.Version
	found   bool // the document exists
}

// tryGraph stores a custom graph; errSuperseded when its document changed meanwhile.
func (p *Pipeline) tryGraph(ctx context.Context, c *custom, policy Policy) (CustomResult, error) {
	a, err := p.attemptGraph(c)
	if err != nil {
		return CustomResult{}, err
	}
	res := CustomResult{ID: c.id, Result: Stored, Replaces: a.doc.Current != nil, Chunks: a.contents.Chunks, Entities: a.contents.Entities,
		Relations: a.contents.Relations, Dropped: record.CountMap(a.contents.Dropped), Warnings: a.contents.Warnings}
	switch {
	case a.found && a.unchanged():
		res.Result, res.Replaces = Unchanged, false
		return res, nil
	case a.found && policy == Insert:
		return CustomResult{}, &DocumentError{ID: c.id, Field: "id", Err: &DuplicateError{ID: c.id, Status: a.doc.Status.String()}}
	}
	ctx = llm.WithMeter(ctx, &a.meter)
	var skip []uint64
	if a.found { // else the number may become another document's
		skip = []uint64{a.doc.Seq}
	}
	a.plan = newPlan([]contribution{a.before}, skip, a.sources)
	w := &work{kind: "graph", ids: []string{c.id}, plan: a.plan, fits: a.fits, prepare: a.prepare, check: a.check, forget: a.forget}
	w.stage = func(b *kv.Batch) error {
		res.LSN = b.LSN() + 1
		return a.stage(b)
	}
	err = p.commit(ctx, w)
	if told := (*TooLargeError)(nil); errors.Is(err, kv.ErrTooLarge) && !errors.As(err, &told) {
		err = a.tooLarge(0)
	}
	if err != nil {
		return CustomResult{}, err
	}
	p.giveUp([]string{c.id})
	p.room.wake()
	p.foldPostings(ctx)
	return res, nil
}

// attemptGraph reads what is stored under the id.
func (p *Pipeline) attemptGraph(c *custom) (_ *graphAttempt, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if err := p.checkModels(view); err != nil {
		return nil, err
	}
	a := &graphAttempt{version: c.version}
	a.p, a.text, a.chunks = p, c.text, slices.Clone(c.chunks)
	d, err := p.documentOf(view, c.id)
	if err != nil {
		return nil, err
	}
	if a.found = d != nil; a.found {
		a.doc = *d
		if a.before, err = contributionOf(view, p.cfg.Workspace, c.id, d.Seq); err != nil {
			return nil, err
		}
		for k, err := range chunksFrom(view, p.cfg.Workspace, c.id, 0) {
			if err != nil {
				return nil, err
			}
			a.old = append(a.old, k)
		}
	} else {
		a.doc = record.Document{ID: c.id, CreatedAt: c.version.EnqueuedAt}
		if a.doc.Seq, err = p.nextSeq(view); err != nil {
			return nil, err
		}
	}
	for i, x := range c.found {
		k := &record.Chunk{Doc: c.id, Path: c.version.Path, Order: record.NoChunk}
		if i < len(a.chunks) {
			k = &a.chunks[i]
		}
		a.sources = append(a.sources, sourcesFrom(a.doc.Seq, k, x)...)
	}
	waits := a.doc.Pending
	a.doc.Pending = &a.version // which the counts are about
	a.count()
	a.doc.Pending = waits
	a.contents.Dropped = record.Counts(c.dropped)
	a.contents.Warnings = append(a.contents.Warnings, c.warnings...)
	a.stats.StartedAt = c.version.EnqueuedAt
	return a, nil
}

// unchanged reports whether the very same graph is stored and visible.
func (a *graphAttempt) unchanged() bool {
	d, v := &a.doc, &a.version
	if d.Status != record.StatusProcessed || d.Current.Hash != v.Hash || d.Current.Path != v.Path || !d.Current.Time.Equal(v.Time) ||
		!d.Current.Metadata.Equal(v.Metadata) {
		return false
	}
	if !slices.EqualFunc(a.old, a.chunks, func(x, y record.Chunk) bool {
		return x.Content == y.Content && x.Extractor == y.Extractor
	}) {
		return false
	}
	var before []record.Source
	for _, list := range a.before {
		before = append(before, list...)
	}
	after := slices.Clone(a.sources)
	slices.SortFunc(before, compareSources)
	slices.SortFunc(after, compareSources)
	return sameSources(before, after)
}

// check makes sure, in the writer turn, that the document is what it was. One that is new takes the next place
// in the order of documents, whatever came since: nothing but its own records knows the number.
func (a *graphAttempt) check(b *kv.Batch) error {
	p := a.p
	if err := p.admit(b); err != nil {
		return err
	}
	if err := p.checkModels(b); err != nil {
		return err
	}
	d, err := p.documentOf(b, a.doc.ID)
	if err != nil {
		return err
	}
	if a.found != (d != nil) || a.found && (d.Seq != a.doc.Seq || !sameRev(d.Pending, a.doc.Pending) || !sameRev(d.Current, a.doc.Current)) {
		return errSuperseded
	}
	if a.found {
		return nil
	}
	next, err := p.nextSeq(b)
	if err == nil && next != a.doc.Seq {
		a.renumber(next)
	}
	return err
}

func (a *graphAttempt) renumber(seq uint64) {
	for i := range a.sources {
		a.sources[i].Seq = seq
	}
	for _, e := range append(slices.Clone(a.plan.edits), &a.plan.dormant) {
		for i := range e.added {
			e.added[i].Seq = seq
		}
		for _, end := range []*record.Mark{&e.tally.RecordsEnd, &e.tally.EndpointsEnd} {
			if end.Seq == a.doc.Seq {
				end.Seq = seq
			}
		}
	}
	a.doc.Seq = seq
}

// stage makes the version wait and be processed in one.
func (a *graphAttempt) stage(b *kv.Batch) error {
	p := a.p
	d := &record.Document{ID: a.doc.ID, Seq: a.doc.Seq, CreatedAt: a.doc.CreatedAt}
	if a.found {
		var err error
		if d, err = p.documentOf(b, a.doc.ID); err != nil {
			return err
		}
	} else if err := b.Set(record.NextKey(p.cfg.Workspace), codec.AppendKeyUint64(nil, a.doc.Seq+1)); err != nil {
		return err
	}
	v := a.version
	v.Rev = uint64(b.LSN()) + 1
	if err := p.queue(b, d, &v, a.text); err != nil {
		return err
	}
	return a.attempt.stage(b)
}
