package index

import (
	"context"
	"errors"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Retry puts documents back into the queue, in one commit: failed ones, and processed ones for which a
// reply of the model was cut off or of no use (their present version stays visible meanwhile). Without ids it
// means all of both kinds, at the cost of a scan over the documents. Others are left as they are. It returns the ids
// that now wait; an unknown id is a *NotFoundError and nothing changes. Process does the work.
func (p *Pipeline) Retry(ctx context.Context, ids ...string) ([]string, error) {
	named := len(ids) > 0
	if !named {
		var err error
		if ids, err = p.lacking(); err != nil || len(ids) == 0 {
			return nil, err
		}
	}
	var (
		waiting []string
		places  [][]byte
	)
	_, err := p.cfg.Updater.Update(ctx, "retry", ids, func(b *kv.Batch) error {
		waiting, places = nil, nil
		var unknown []string
		for _, id := range ids {
			d, err := p.documentOf(b, id)
			if err != nil {
				return err
			}
			switch {
			case d == nil && !named: // deleted meanwhile
				continue
			case d == nil:
				unknown = append(unknown, id)
				continue
			case d.Status == record.StatusFailed:
				if err := p.requeue(b, d); err != nil {
					return err
				}
			case d.Status == record.StatusProcessed && d.Contents.Incomplete():
				v := *d.Current
				v.Rev = uint64(b.LSN()) + 1
				text, err := b.Get(record.TextKey(p.cfg.Workspace, id, false))
				if err != nil {
					return err
				}
				if err := p.queue(b, d, &v, string(text)); err != nil {
					return err
				}
			default:
				continue
			}
			waiting, places = append(waiting, id), append(places, d.QueueKey(p.cfg.Workspace))
		}
		if len(unknown) > 0 {
			return &NotFoundError{IDs: unknown}
		}
		return nil
	})
	if err == nil {
		p.arrived(places)
	}
	return waiting, err
}

// requeue makes a failed document wait again; its text is where it was.
func (p *Pipeline) requeue(b *kv.Batch, d *record.Document) error {
	if d.Pending == nil {
		return errors.Join(kv.ErrCorrupt, errors.New("index: failed document without a version to process"))
	}
	d.Status, d.Attempts.Error = record.StatusPending, ""
	if err := b.Set(d.QueueKey(p.cfg.Workspace), []byte(d.ID)); err != nil {
		return err
	}
	return putDocument(b, p.cfg.Workspace, d)
}

// lacking lists the documents that failed or are incomplete.
func (p *Pipeline) lacking() ([]string, error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	var ids []string
	for d, err := range documents(view, p.cfg.Workspace) {
		if err != nil {
			return nil, err
		}
		if d.Status == record.StatusFailed || d.Status == record.StatusProcessed && d.Contents.Incomplete() {
			ids = append(ids, d.ID)
		}
	}
	return ids, nil
}
