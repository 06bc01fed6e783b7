package index

import (
	"context"
	"errors"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// prepare gets the vectors of the edits and, the first time, of the chunks. A chunk whose text was
// stored before keeps its vector.
func (a *attempt) prepare(ctx context.Context, edits []*edit) error {
	var (
		texts []string
		at    []int
	)
	if a.vectors == nil {
		var err error
		if at, err = a.storedVectors(); err != nil {
			return err
		}
		for _, i := range at {
			texts = append(texts, a.p.embedText(&a.chunks[i]))
		}
		a.reword()
	}
	vectors, n, err := a.p.embedEdits(ctx, edits, texts)
	if err != nil {
		return err
	}
	for j, i := range at {
		a.vectors[i] = vectors[j]
	}
	a.stats.EmbeddedTexts += n
	return nil
}

// forget makes prepare get the vectors of chunks anew.
func (a *attempt) forget() { a.vectors = nil }

// storedVectors fills the vectors of chunks whose text is stored at another place, and returns the
// numbers of the chunks that have to be embedded.
func (a *attempt) storedVectors() (missing []int, err error) {
	a.vectors = make([][]float32, len(a.chunks))
	known := make(map[chunkText]int, len(a.old))
	for i := range a.old {
		known[textOf(&a.old[i])] = i
	}
	var from, to []int // chunks that move
	for i := range a.chunks {
		j, ok := known[textOf(&a.chunks[i])]
		switch {
		case !ok:
			missing = append(missing, i)
		case i < len(a.old) && textOf(&a.old[i]) == textOf(&a.chunks[i]): // stays where it is
		default:
			from, to = append(from, j), append(to, i)
		}
	}
	if len(from) == 0 {
		return missing, nil
	}
	view, err := a.p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	s, ok, err := a.p.open(view)
	if err != nil || !ok {
		return nil, errors.Join(err, errSuperseded)
	}
	ids := make([]string, len(from))
	for k, j := range from {
		ids[k] = a.old[j].ID()
	}
	vectors, err := s.chunks.GetMany(view, ids)
	if err != nil {
		return nil, err
	}
	for k, i := range to {
		if a.vectors[i] = vectors[k]; vectors[k] == nil { // deleted since the attempt began
			return nil, errSuperseded
		}
	}
	return missing, nil
}

// check makes sure, in the writer turn, that the document still is the one the attempt began with.
func (a *attempt) check(b *kv.Batch) error {
	d, err := a.p.documentOf(b, a.doc.ID)
	if err != nil {
		return err
	}
	if d == nil || !sameRev(d.Pending, a.doc.Pending) || !sameRev(d.Current, a.doc.Current) {
		return errSuperseded
	}
	return nil
}

// stage puts text, chunks, their vectors and the status into b.
func (a *attempt) stage(b *kv.Batch) error {
	p, ws, id := a.p, a.p.cfg.Workspace, a.doc.ID
	s, err := p.create(b)
	if err != nil {
		return err
	}
	if err := p.stagePostings(b, id, a.words); err != nil {
		return err
	}
	for i := range a.chunks {
		c := &a.chunks[i]
		if err := b.SetText(record.ChunkKey(ws, id, c.Order), c.Encode()); err != nil {
			return err
		}
		if a.vectors[i] != nil {
			if err := s.chunks.Put(b, c.ID(), a.vectors[i]); err != nil {
				return err
			}
		}
	}
	for i := len(a.chunks); i < len(a.old); i++ {
		if err := b.Delete(record.ChunkKey(ws, id, i)); err != nil {
			return err
		}
		if err := s.chunks.Delete(b, record.ChunkID(id, i)); err != nil {
			return err
		}
	}
	if err := b.SetText(record.ContribKey(ws, id), record.EncodeObjects(sortedObjects(a.sources))); err != nil {
		return err
	}
	if err := b.SetText(record.TextKey(ws, id, false), []byte(a.text)); err != nil {
		return err
	}
	if err := b.Delete(record.TextKey(ws, id, true)); err != nil {
		return err
	}
	d, err := p.documentOf(b, id)
	if err != nil {
		return err
	}
	if err := b.Delete(d.QueueKey(ws)); err != nil {
		return err
	}
	if err := p.unindex(b, d, d.Current, d.Pending); err != nil {
		return err
	}
	d.Status, d.Current, d.Pending = record.StatusProcessed, d.Pending, nil
	d.Current.Spans = nil // the chunks have them
	d.Contents, d.Attempts = a.contents, a.stats
	a.spend(d)
	d.UpdatedAt = p.cfg.Now().UnixNano()
	d.Attempts.Tries, d.Attempts.EndedAt = a.doc.Attempts.Tries, d.UpdatedAt
	if err := putDocument(b, p.cfg.Workspace, d); err != nil {
		return err
	}
	if n := b.Len(); n > p.commitBytes {
		return a.tooLarge(n)
	}
	return nil
}

// suspend puts a document whose processing was cancelled back to pending.
func (p *Pipeline) suspend(ctx context.Context, a *attempt) error {
	return p.settle(ctx, a, func(d *record.Document) { d.Status = record.StatusPending })
}

// fail records the reason of a failure; the document leaves the queue, its text stays for a retry.
func (p *Pipeline) fail(ctx context.Context, a *attempt, reason error) error {
	return p.settle(ctx, a, func(d *record.Document) {
		d.Status = record.StatusFailed
		d.Attempts = a.stats
		d.Attempts.Error, d.Attempts.EndedAt = cause(reason), p.cfg.Now().UnixNano()
	})
}

// settle changes the status of a document unless it was replaced or deleted meanwhile.
func (p *Pipeline) settle(ctx context.Context, a *attempt, change func(d *record.Document)) error {
	_, err := p.cfg.Updater.Update(ctx, "status", []string{a.doc.ID}, func(b *kv.Batch) error {
		d, err := p.documentOf(b, a.doc.ID)
		if err != nil || d == nil || !sameRev(d.Pending, a.doc.Pending) {
			return err
		}
		change(d)
		a.spend(d)
		if d.Status == record.StatusFailed {
			if err := b.Delete(d.QueueKey(p.cfg.Workspace)); err != nil {
				return err
			}
		}
		return putDocument(b, p.cfg.Workspace, d)
	})
	return err
}
