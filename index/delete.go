package index

import (
	"context"
	"errors"
	"slices"

	"github.com/glimdb/db/internal/filter"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// DeleteResult tells what a Delete call removed.
type DeleteResult struct {
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	// Entities and Relations that nothing speaks of any more; Rederived are those that lost sources and
	// live on.
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	Rederived int `json:"rederived"`
}

// Delete removes documents and everything that only they say, in one commit: what they share with others
// is derived again from the remaining sources, once each. Afterwards the logical state is as if the
// documents had never been there. Documents in any status can be deleted; one that is being processed is
// given up. An id given twice counts once. If any id is unknown nothing is deleted and the error is a
// *NotFoundError. Summaries and vectors of changed texts are asked of the models unless they are cached;
// their errors leave everything as it was.
func (p *Pipeline) Delete(ctx context.Context, ids ...string) (DeleteResult, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return DeleteResult{}, nil
	}
	for {
		res, err := p.tryDelete(ctx, ids, nil)
		if !errors.Is(err, errSuperseded) {
			return res, err
		}
	}
}

// removal is a Delete call on its way.
type removal struct {
	p    *Pipeline
	docs []*record.Document
	gone []*rewording    // of docs
	sel  *filter.Matcher // the documents must still match it; nil: whatever they are
	plan *plan
}

// tryDelete fails with errSuperseded when a document changed between plan and commit, or does not match sel any more.
func (p *Pipeline) tryDelete(ctx context.Context, ids []string, sel *filter.Matcher) (DeleteResult, error) {
	rm, err := p.planRemoval(ctx, ids)
	if err != nil {
		return DeleteResult{}, err
	}
	rm.sel = sel
	w := &work{kind: "delete", ids: ids, plan: rm.plan, check: rm.check, stage: rm.stage}
	w.prepare = func(ctx context.Context, edits []*edit) error {
		_, _, err := p.embedEdits(ctx, edits, nil)
		return err
	}
	err = p.commit(ctx, w)
	if errors.Is(err, kv.ErrTooLarge) {
		e := &TooLargeError{IDs: ids, Limit: kv.MaxBatchBytes}
		for _, d := range rm.docs {
			e.Bytes += bytesOf(d.Current)
		}
		err = e
	}
	if err != nil {
		return DeleteResult{}, err
	}
	p.giveUp(ids)
	p.room.wake()
	return rm.result(), nil
}

func bytesOf(v *record.Version) int {
	if v == nil {
		return 0
	}
	return v.Bytes
}

func (p *Pipeline) planRemoval(ctx context.Context, ids []string) (*removal, error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	if err := p.checkModels(view); err != nil {
		return nil, err
	}
	rm := &removal{p: p}
	var (
		unknown []string
		removed []contribution
		seqs    []uint64
	)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := p.documentOf(view, id)
		if err != nil {
			return nil, err
		}
		if d == nil {
			unknown = append(unknown, id)
			continue
		}
		c, err := contributionOf(view, p.cfg.Workspace, id, d.Seq)
		if err != nil {
			return nil, err
		}
		gone, err := p.wordsOf(view, d)
		if err != nil {
			return nil, err
		}
		rm.docs, rm.gone = append(rm.docs, d), append(rm.gone, gone)
		removed, seqs = append(removed, c), append(seqs, d.Seq)
	}
	if len(unknown) > 0 {
		return nil, &NotFoundError{IDs: unknown}
	}
	rm.plan = newPlan(removed, seqs, nil)
	return rm, nil
}

// check makes sure that the visible versions still are those the plan takes away. A version that was
// enqueued meanwhile goes with its document.
func (rm *removal) check(b *kv.Batch) error {
	for _, d := range rm.docs {
		now, err := rm.p.documentOf(b, d.ID)
		if err != nil {
			return err
		}
		if now == nil || now.Seq != d.Seq || !sameRev(now.Current, d.Current) {
			return errSuperseded
		}
		if rm.sel != nil && !selects(rm.sel, now) {
			return errSuperseded
		}
	}
	return nil
}

// stage removes everything that belongs to the documents alone.
func (rm *removal) stage(b *kv.Batch) error {
	p, ws := rm.p, rm.p.cfg.Workspace
	s, ok, err := p.open(b)
	if err != nil {
		return err
	}
	for i, was := range rm.docs {
		d, err := p.documentOf(b, was.ID)
		if err != nil {
			return err
		}
		if err := p.stagePostings(b, d.ID, rm.gone[i]); err != nil {
			return err
		}
		for _, v := range []*record.Version{d.Current, d.Pending} {
			if err := p.unindex(b, d, v, nil); err != nil {
				return err
			}
		}
		for i := 0; ok && i < d.Contents.Chunks; i++ {
			if err := b.Delete(record.ChunkKey(ws, d.ID, i)); err != nil {
				return err
			}
			if err := s.chunks.Delete(b, record.ChunkID(d.ID, i)); err != nil {
				return err
			}
		}
		keys := [][]byte{record.DocumentKey(ws, d.ID), record.TextKey(ws, d.ID, false), record.TextKey(ws, d.ID, true),
			record.ContribKey(ws, d.ID)}
		if d.Waits() {
			keys = append(keys, d.QueueKey(ws))
		}
		for _, key := range keys {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (rm *removal) result() DeleteResult {
	r := DeleteResult{Documents: len(rm.docs)}
	for _, d := range rm.docs {
		r.Chunks += d.Contents.Chunks
	}
	for _, e := range rm.plan.edits {
		switch {
		case !e.gone:
			r.Rederived++
		case e.object.IsRelation():
			r.Relations++
		default:
			r.Entities++
		}
	}
	return r
}
