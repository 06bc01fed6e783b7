package index

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Policy says what Enqueue does with an id that is already stored with another text.
type Policy uint8

const (
	// Insert refuses it.
	Insert Policy = iota
	// Put replaces the document. The old version stays visible until the new one is processed.
	Put
)

// Result of Enqueue for one document.
const (
	// Enqueued: it waits for Process. So does a document that was enqueued before and is not done, or that
	// failed, or for which a reply of the model was cut off or of no use: giving it again means trying again.
	Enqueued = "enqueued"
	// Unchanged: it is stored as it is, nothing is to be done and nothing was written.
	Unchanged = "unchanged"
	// Repeated: a document without an id has the same text as an earlier one of the same call.
	Repeated = "repeated"
)

// Outcome tells what became of one document of an Enqueue call.
type Outcome struct {
	ID     string `json:"id"`
	Result string `json:"result"`
	// Replaces: another version is stored and visible until this one is processed.
	Replaces bool `json:"replaces,omitempty"`
	// Removed counts characters and bytes that cleaning took out of the text.
	Removed int `json:"removed,omitempty"`
}

// Receipt is the answer of Enqueue.
type Receipt struct {
	// Track identifies the call: insert_<YYYYMMDD_HHMMSS>_<8 hex digits>.
	Track     string    `json:"track"`
	Documents []Outcome `json:"documents"` // in the order given
}

// IDs lists the documents that wait for Process, in the order given.
func (r Receipt) IDs() []string {
	var ids []string
	for _, d := range r.Documents {
		if d.Result == Enqueued {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// Limits of what a document may carry. Ids and paths are parts of keys and of lines shown to models.
const (
	MaxIDBytes       = 512
	MaxPathBytes     = 4096
	MaxMetadata      = 256       // entries
	MaxMetadataBytes = 64 << 10  // of all keys and values
	MaxTextBytes     = 256 << 20 // of the cleaned text: half a commit, see kv.MaxBatchBytes
)

// Enqueue stores documents for Process in one commit: all of them or, on an error, none. Errors join one
// *DocumentError for each refused document, whose causes are ErrEmptyDocument, ErrText, *DuplicateError
// or a limit; *ModelError for a store of another embedding model, *OptionError for a policy that is none. It makes no model call. Order in the
// call is the order of the documents in everything that is ordered.
func (p *Pipeline) Enqueue(ctx context.Context, docs []Document, policy Policy) (Receipt, error) {
	if policy > Put {
		return Receipt{}, &OptionError{Field: "Policy", Value: int(policy), Want: "Insert or Put"}
	}
	now := p.cfg.Now()
	track := fmt.Sprintf("insert_%s_%08x", now.UTC().Format("20060102_150405"), p.cfg.Random())
	list, ids, err := p.validate(docs, track, now)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Track: track, Documents: make([]Outcome, len(docs))}
	var replaced []string
	_, err = p.cfg.Updater.Update(ctx, "enqueue", ids, func(b *kv.Batch) error {
		replaced = nil
		if p.cfg.Admit != nil {
			if err := p.cfg.Admit(b); err != nil {
				return err
			}
		}
		if err := p.checkModels(b); err != nil {
			return err
		}
		next, err := p.nextSeq(b)
		if err != nil {
			return err
		}
		first := next
		var errs []error
		for i := range list {
			c := &list[i]
			r.Documents[i] = Outcome{ID: c.id, Removed: c.version.Removed}
			if c.repeated {
				r.Documents[i].Result = Repeated
				continue
			}
			err := p.enqueueOne(b, c, policy, &next, &r.Documents[i], &replaced)
			var dup *DuplicateError
			if errors.As(err, &dup) {
				errs = append(errs, &DocumentError{Index: i, ID: c.id, Field: "id", Err: err})
			} else if err != nil {
				return err
			}
		}
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		if next == first {
			return nil
		}
		return b.Set(record.NextKey(p.cfg.Workspace), codec.AppendKeyUint64(nil, next))
	})
	if err != nil {
		return Receipt{}, tooLarge(err, list)
	}
	p.giveUp(replaced)
	return r, nil
}

// enqueueOne decides about one document by what is stored under its id.
func (p *Pipeline) enqueueOne(b *kv.Batch, c *incoming, policy Policy, next *uint64, out *Outcome, replaced *[]string) error {
	d, err := p.documentOf(b, c.id)
	if err != nil {
		return err
	}
	out.Result = Enqueued
	v := c.version
	v.Rev = uint64(b.LSN()) + 1
	if d == nil {
		d = &record.Document{ID: c.id, Seq: *next}
		*next++
		return p.queue(b, d, &v, c.text)
	}
	out.Replaces = d.Current != nil
	latest := d.Current // what the document is meant to be
	if d.Pending != nil {
		latest = d.Pending
	}
	same := latest.Hash == v.Hash
	if !same && policy == Insert {
		return &DuplicateError{ID: c.id, Status: d.Status.String()}
	}
	if same && policy == Put {
		same = latest.Path == v.Path && latest.Time.Equal(v.Time) && maps.Equal(latest.Metadata, v.Metadata)
	}
	switch {
	case same && d.Status == record.StatusProcessed && !d.Contents.Incomplete():
		out.Result, out.Replaces = Unchanged, false
		return nil
	case same && (d.Status == record.StatusPending || d.Status == record.StatusProcessing):
		return p.retrack(b, d, v.Track)
	}
	*replaced = append(*replaced, c.id)
	return p.queue(b, d, &v, c.text)
}

// queue makes v the version of d that is to be processed.
func (p *Pipeline) queue(b *kv.Batch, d *record.Document, v *record.Version, text string) error {
	if err := p.unindex(b, d, d.Pending, d.Current); err != nil {
		return err
	}
	d.Status, d.Pending, d.Attempts = record.StatusPending, v, record.Attempts{}
	if err := addIndex(b, p.cfg.Workspace, d, v); err != nil {
		return err
	}
	if err := b.SetText(record.TextKey(p.cfg.Workspace, d.ID, true), []byte(text)); err != nil {
		return err
	}
	if err := b.Set(record.QueueKey(p.cfg.Workspace, d.Seq), []byte(d.ID)); err != nil {
		return err
	}
	return putDocument(b, p.cfg.Workspace, d)
}

// retrack puts a document that waits already under a new track.
func (p *Pipeline) retrack(b *kv.Batch, d *record.Document, track string) error {
	if err := p.unindex(b, d, d.Pending, d.Current); err != nil {
		return err
	}
	d.Pending.Track = track
	if err := addIndex(b, p.cfg.Workspace, d, d.Pending); err != nil {
		return err
	}
	return putDocument(b, p.cfg.Workspace, d)
}

func (p *Pipeline) nextSeq(r kv.Reader) (uint64, error) {
	v, err := r.Get(record.NextKey(p.cfg.Workspace))
	if errors.Is(err, kv.ErrNotFound) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	n, _, err := codec.KeyUint64(v)
	return n, err
}

// tooLarge names the sizes when a call did not fit one commit.
func tooLarge(err error, list []incoming) error {
	if !errors.Is(err, kv.ErrTooLarge) {
		return err
	}
	e := &TooLargeError{Limit: kv.MaxBatchBytes}
	for i := range list {
		e.IDs = append(e.IDs, list[i].id)
		e.Bytes += len(list[i].text)
	}
	return e
}
