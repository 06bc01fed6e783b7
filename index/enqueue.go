package index

import (
	"context"
	"errors"
	"fmt"

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
	// Track identifies the call: insert_<YYYYMMDD_HHMMSS>_<8 hex digits>. It is the track of its documents but for those
	// that name their own.
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
	MaxIDBytes    = 512
	MaxTrackBytes = 256
	MaxPathBytes  = 4096
	MaxTextBytes  = 256 << 20 // of the cleaned text: half a commit, see kv.MaxBatchBytes
)

// Enqueue stores documents for Process in one commit: all of them or, on an error, none. Errors join one
// *DocumentError for each refused document, whose causes are ErrEmptyDocument, ErrText, *DuplicateError
// or a limit; *ModelError for a store of another embedding model, *OptionError for a policy that is none. It makes no model call. Order in the
// call is the order of the documents in everything that is ordered.
//
// When more documents would wait than Options.MaxPending it returns a *QueueFullError or, with Options.WaitWhenFull,
// waits until others are done or ctx ends; documents that never fit are refused at once.
func (p *Pipeline) Enqueue(ctx context.Context, docs []Document, policy Policy) (Receipt, error) {
	return p.enqueue(ctx, docs, policy, p.cfg.Options.WaitWhenFull)
}

// Offer is Enqueue that never waits for room.
func (p *Pipeline) Offer(ctx context.Context, docs []Document, policy Policy) (Receipt, error) {
	return p.enqueue(ctx, docs, policy, false)
}

func (p *Pipeline) enqueue(ctx context.Context, docs []Document, policy Policy, wait bool) (Receipt, error) {
	if policy > Put {
		return Receipt{}, &OptionError{Field: "Policy", Value: int(policy), Want: "Insert or Put"}
	}
	now := p.cfg.Now()
	track := fmt.Sprintf("insert_%s_%08x", now.UTC().Format("20060102_150405"), p.cfg.Random())
	list, ids, err := p.validate(docs, track, now)
	if err != nil {
		return Receipt{}, err
	}
	for {
		room := p.room.next()
		e := &enqueueing{p: p, policy: policy, outcomes: make([]Outcome, len(list))}
		_, err := p.cfg.Updater.Update(ctx, "enqueue", ids, func(b *kv.Batch) error { return e.stage(b, list) })
		if full, ok := errors.AsType[*QueueFullError](err); ok && wait && full.Adding <= full.Limit {
			select {
			case <-room:
				continue
			case <-ctx.Done():
				return Receipt{}, ctx.Err()
			}
		}
		if err != nil {
			return Receipt{}, tooLarge(err, list)
		}
		p.giveUp(e.replaced)
		p.arrived(e.places)
		return Receipt{Track: track, Documents: e.outcomes}, nil
	}
}

// enqueueing is one Enqueue call in its writer turn.
type enqueueing struct {
	p        *Pipeline
	policy   Policy
	outcomes []Outcome
	next     uint64   // sequence
	replaced []string // ids whose waiting or visible version is outdated
	places   [][]byte // keys of the queue
	adding   int      // documents that did not wait before
}

func (e *enqueueing) stage(b *kv.Batch, list []incoming) error {
	p := e.p
	if err := p.admit(b); err != nil {
		return err
	}
	if err := p.checkModels(b); err != nil {
		return err
	}
	limit := p.cfg.Options.MaxPending
	waiting, err := p.waiting(b, limit)
	if err != nil {
		return err
	}
	first, err := p.nextSeq(b)
	if err != nil {
		return err
	}
	e.next = first
	var errs []error
	for i := range list {
		c := &list[i]
		e.outcomes[i] = Outcome{ID: c.id, Removed: c.version.Removed}
		if c.repeated {
			e.outcomes[i].Result = Repeated
			continue
		}
		err := e.document(b, c, &e.outcomes[i])
		if dup, ok := errors.AsType[*DuplicateError](err); ok {
			errs = append(errs, &DocumentError{Index: i, ID: c.id, Field: "id", Err: dup})
		} else if err != nil {
			return err
		}
	}
	switch {
	case len(errs) > 0:
		return errors.Join(errs...)
	case limit > 0 && e.adding > 0 && waiting+e.adding > limit:
		return &QueueFullError{Waiting: waiting, Adding: e.adding, Limit: limit}
	case e.next == first:
		return nil
	}
	return b.Set(record.NextKey(p.cfg.Workspace), codec.AppendKeyUint64(nil, e.next))
}

// document decides about one document by what is stored under its id.
func (e *enqueueing) document(b *kv.Batch, c *incoming, out *Outcome) error {
	d, err := e.p.documentOf(b, c.id)
	if err != nil {
		return err
	}
	out.Result = Enqueued
	v := c.version
	v.Rev = uint64(b.LSN()) + 1
	if d == nil {
		d = &record.Document{ID: c.id, Seq: e.next, CreatedAt: v.EnqueuedAt}
		e.next++
		return e.queue(b, d, &v, c.text)
	}
	out.Replaces = d.Current != nil
	latest := d.Current // what the document is meant to be
	if d.Pending != nil {
		latest = d.Pending
	}
	same := latest.Hash == v.Hash
	if same && !c.cut {
		v.Chunker, v.Spans = latest.Chunker, latest.Spans
	}
	if !same && e.policy == Insert {
		return &DuplicateError{ID: c.id, Status: d.Status.String()}
	}
	if same && e.policy == Put {
		same = latest.Path == v.Path && latest.Time.Equal(v.Time) && latest.Metadata.Equal(v.Metadata) &&
			latest.Chunker == v.Chunker
	}
	switch {
	case same && d.Status == record.StatusProcessed && !d.Contents.Incomplete():
		out.Result, out.Replaces = Unchanged, false
		return nil
	case same && d.Waits():
		return e.again(b, d, &v)
	}
	e.replaced = append(e.replaced, c.id)
	return e.queue(b, d, &v, c.text)
}

func (e *enqueueing) queue(b *kv.Batch, d *record.Document, v *record.Version, text string) error {
	if !d.Waits() {
		e.adding++
	}
	err := e.p.queue(b, d, v, text)
	e.places = append(e.places, d.QueueKey(e.p.cfg.Workspace))
	return err
}

// again gives a document that waits already the track and the priority of v.
func (e *enqueueing) again(b *kv.Batch, d *record.Document, v *record.Version) error {
	ws := e.p.cfg.Workspace
	if err := e.p.unindex(b, d, d.Pending, d.Current); err != nil {
		return err
	}
	if err := b.Delete(d.QueueKey(ws)); err != nil {
		return err
	}
	d.Pending.Track, d.Pending.Priority = v.Track, v.Priority
	if err := addIndex(b, ws, d, d.Pending); err != nil {
		return err
	}
	if err := b.Set(d.QueueKey(ws), []byte(d.ID)); err != nil {
		return err
	}
	e.places = append(e.places, d.QueueKey(ws))
	return putDocument(b, ws, d)
}

// queue makes v the version of d that is to be processed.
func (p *Pipeline) queue(b *kv.Batch, d *record.Document, v *record.Version, text string) error {
	if err := p.unindex(b, d, d.Pending, d.Current); err != nil {
		return err
	}
	if d.Waits() {
		if err := b.Delete(d.QueueKey(p.cfg.Workspace)); err != nil {
			return err
		}
	}
	d.Status, d.Pending, d.Attempts = record.StatusPending, v, record.Attempts{}
	if err := addIndex(b, p.cfg.Workspace, d, v); err != nil {
		return err
	}
	if err := b.SetText(record.TextKey(p.cfg.Workspace, d.ID, true), []byte(text)); err != nil {
		return err
	}
	if err := b.Set(d.QueueKey(p.cfg.Workspace), []byte(d.ID)); err != nil {
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
