package index

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	// failed, or for which the model's reply had been cut off: giving it again means trying again.
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

// incoming is a validated document.
type incoming struct {
	id, text string
	version  record.Version
	repeated bool
}

// Enqueue stores documents for Process in one commit: all of them or, on an error, none. Errors join one
// *DocumentError for each refused document, whose causes are ErrEmptyDocument, ErrText, *DuplicateError
// or a limit; *ModelError for a store of another embedding model. It makes no model call. Order in the
// call is the order of the documents in everything that is ordered.
func (p *Pipeline) Enqueue(ctx context.Context, docs []Document, policy Policy) (Receipt, error) {
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
		same = latest.Path == v.Path && latest.Time == v.Time && maps.Equal(latest.Metadata, v.Metadata)
	}
	switch {
	case same && d.Status == record.StatusProcessed && d.Contents.Truncated == 0:
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
	if err := p.index(b, d, v); err != nil {
		return err
	}
	if err := b.SetText(record.TextKey(p.cfg.Workspace, d.ID, true), []byte(text)); err != nil {
		return err
	}
	if err := b.Set(record.QueueKey(p.cfg.Workspace, d.Seq), []byte(d.ID)); err != nil {
		return err
	}
	return p.putDocument(b, d)
}

// retrack puts a document that waits already under a new track.
func (p *Pipeline) retrack(b *kv.Batch, d *record.Document, track string) error {
	if err := p.unindex(b, d, d.Pending, d.Current); err != nil {
		return err
	}
	d.Pending.Track = track
	if err := p.index(b, d, d.Pending); err != nil {
		return err
	}
	return p.putDocument(b, d)
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

// validate cleans and checks every document of a call.
func (p *Pipeline) validate(docs []Document, track string, now time.Time) (list []incoming, ids []string, err error) {
	var errs []error
	seen := make(map[string]bool, len(docs))
	list = make([]incoming, len(docs))
	for i, d := range docs {
		refuse := func(field string, err error) {
			errs = append(errs, &DocumentError{Index: i, ID: d.ID, Field: field, Err: err})
		}
		text, report, err := CleanText(d.Text, InvalidDrop)
		switch {
		case err != nil:
			refuse("text", err)
		case !hasContent(text):
			refuse("text", ErrEmptyDocument)
		case len(text) > MaxTextBytes:
			refuse("text", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(text), MaxTextBytes))
		}
		if field, err := checkFields(d); err != nil {
			refuse(field, err)
		}
		id := d.ID
		if id == "" {
			sum := md5.Sum([]byte(text))
			id = "doc-" + hex.EncodeToString(sum[:])
		}
		c := incoming{id: id, text: text, version: record.Version{Path: d.Path, Metadata: maps.Clone(d.Metadata), Bytes: len(text),
			Removed: report.Invalid + report.Controls, Track: track, EnqueuedAt: now.UnixNano()}}
		if len(c.version.Metadata) == 0 {
			c.version.Metadata = nil
		}
		sum := sha256.Sum256([]byte(text))
		c.version.Hash = hex.EncodeToString(sum[:])
		if !d.Time.IsZero() {
			c.version.Time = d.Time.UnixNano()
		}
		if seen[id] {
			if c.repeated = d.ID == ""; !c.repeated {
				refuse("id", &DuplicateError{ID: id})
			}
		} else {
			ids = append(ids, id)
		}
		seen[id] = true
		list[i] = c
	}
	return list, ids, errors.Join(errs...)
}

// hasContent reports whether a text has any character that is not white space, mark or format.
func hasContent(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Mn)
	}) >= 0
}

// checkFields checks what is not the text.
func checkFields(d Document) (field string, err error) {
	switch {
	case len(d.ID) > MaxIDBytes:
		return "id", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(d.ID), MaxIDBytes)
	case !utf8.ValidString(d.ID):
		return "id", errors.New("not UTF-8")
	case strings.ContainsFunc(d.ID, unicode.IsControl):
		return "id", errors.New("contains a control character")
	case d.ID != strings.TrimSpace(d.ID):
		return "id", errors.New("begins or ends with white space")
	case len(d.Path) > MaxPathBytes:
		return "path", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(d.Path), MaxPathBytes)
	case !utf8.ValidString(d.Path):
		return "path", errors.New("not UTF-8")
	case len(d.Metadata) > MaxMetadata:
		return "metadata", fmt.Errorf("%w: %d entries, limit %d", kv.ErrTooLarge, len(d.Metadata), MaxMetadata)
	}
	size := 0
	for k, v := range d.Metadata {
		if size += len(k) + len(v); !utf8.ValidString(k) || !utf8.ValidString(v) {
			return "metadata", fmt.Errorf("entry %q is not UTF-8", strings.ToValidUTF8(k, "?"))
		}
	}
	if size > MaxMetadataBytes {
		return "metadata", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, size, MaxMetadataBytes)
	}
	return "", nil
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
