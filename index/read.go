package index

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// Info tells everything about a document but its text.
type Info struct {
	ID       string         `json:"id"`
	Status   string         `json:"status"` // pending, processing, processed, failed
	Path     string         `json:"path,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"` // values are string, bool, int64, float64 or []string
	Time     time.Time      `json:"time,omitzero"`      // the document's own
	Bytes    int            `json:"bytes"`              // of the text
	Removed  int            `json:"removed,omitempty"`
	Track    string         `json:"track"`
	Priority int8           `json:"priority,omitempty"`
	// Chunking is how the text is cut, fixed when it was enqueued.
	Chunking chunk.Spec `json:"chunking"`
	// CreatedAt is when the id was first enqueued, UpdatedAt when the visible version became visible.
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// Visible: a version can be found and queried. The counts below are about it.
	Visible bool `json:"visible"`
	// Replacing: another version than the visible one waits or failed. Path to Priority are about that one.
	Replacing bool `json:"replacing,omitempty"`

	Chunks    int `json:"chunks"`
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	// Dropped counts records that were not used, by reason; Repaired damage made good, by kind.
	Dropped  map[string]int `json:"dropped,omitempty"`
	Repaired map[string]int `json:"repaired,omitempty"`
	// Truncated is the number of chunks whose reply was cut off by a token limit.
	Truncated int `json:"truncated,omitempty"`
	// Unusable is the number of chunks whose reply was of no use: empty, filtered, in no known form.
	Unusable int `json:"unusable,omitempty"`
	// Warnings say for a person what of these counts, of the text and of single chunks is worth a look.
	Warnings []string `json:"warnings,omitempty"`

	// Error is the reason of the last failure.
	Error    string `json:"error,omitempty"`
	Attempts int    `json:"attempts"`
	// Usage is that of extraction in the last attempt.
	Usage llm.Usage `json:"usage"`
	// Spent is what models were used for in all attempts on all versions, by model and purpose: extraction, summaries of
	// what the document changed, embeddings. A crash loses the count of the attempt that it ends.
	Spent []llm.ModelUsage `json:"spent,omitempty"`
	// Cost is what Spent came to at given prices, Unpriced the models without one. They are not stored.
	Cost          float64                  `json:"cost,omitempty"`
	Unpriced      []string                 `json:"unpriced,omitempty"`
	ReusedChunks  int                      `json:"reused_chunks,omitempty"`
	EmbeddedTexts int                      `json:"embedded_texts,omitempty"`
	EnqueuedAt    time.Time                `json:"enqueued_at,omitzero"`
	StartedAt     time.Time                `json:"started_at,omitzero"`
	EndedAt       time.Time                `json:"ended_at,omitzero"`
	Stages        map[string]time.Duration `json:"stages,omitempty"` // time spent, by stage
}

func infoOf(d *record.Document) Info {
	v := newest(d)
	c, a := &d.Contents, &d.Attempts
	i := Info{ID: d.ID, Status: d.Status.String(), Visible: d.Current != nil, Replacing: d.Current != nil && d.Pending != nil,
		Chunks: c.Chunks, Entities: c.Entities, Relations: c.Relations, Dropped: record.CountMap(c.Dropped),
		Repaired: record.CountMap(c.Repaired), Truncated: c.Truncated, Unusable: c.Unusable, Warnings: c.Warnings,
		Error: a.Error, Attempts: a.Tries, ReusedChunks: a.ReusedChunks, EmbeddedTexts: a.EmbeddedTexts,
		Usage: llm.Usage{Calls: a.Calls, CachedCalls: a.CachedCalls, PromptTokens: a.PromptTokens,
			CompletionTokens: a.CompletionTokens},
		StartedAt: timeOf(a.StartedAt), EndedAt: timeOf(a.EndedAt), CreatedAt: timeOf(d.CreatedAt), UpdatedAt: timeOf(d.UpdatedAt), Spent: spentOf(d)}
	if v != nil {
		i.Path, i.Metadata, i.Time, i.Bytes, i.Removed = v.Path, v.Metadata, v.Time, v.Bytes, v.Removed
		i.Track, i.Priority, i.EnqueuedAt = v.Track, v.Priority, timeOf(v.EnqueuedAt)
		i.Chunking, _ = chunk.ParseSpec(v.Chunker) // Check reports what cannot be read
	}
	for _, s := range a.Stages {
		if i.Stages == nil {
			i.Stages = make(map[string]time.Duration)
		}
		i.Stages[s.Name] += time.Duration(s.N)
	}
	return i
}

func timeOf(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// GetInfo reads one document's record; *NotFoundError when there is none. It costs one get.
func GetInfo(r kv.Reader, ws, id string) (Info, error) {
	v, err := r.Get(record.DocumentKey(ws, id))
	if errors.Is(err, kv.ErrNotFound) {
		return Info{}, &NotFoundError{IDs: []string{id}}
	}
	if err != nil {
		return Info{}, err
	}
	d, err := record.DecodeDocument(id, v)
	if err != nil {
		return Info{}, fmt.Errorf("%w: document %q: %w", kv.ErrCorrupt, id, err)
	}
	return infoOf(&d), nil
}

// Statuses are the values of Info.Status in the order of a document's life.
func Statuses() []string { return record.Statuses() }

// documents iterates all status records by id.
func documents(r kv.Reader, ws string) iter.Seq2[record.Document, error] {
	return documentsFrom(r, ws, "")
}

func documentsFrom(r kv.Reader, ws, idPrefix string) iter.Seq2[record.Document, error] {
	prefix, from := record.DocumentPrefix(ws), record.DocumentsPrefix(ws, idPrefix)
	return func(yield func(record.Document, error) bool) {
		for kvp, err := range scan(r, from) {
			if err != nil {
				yield(record.Document{}, err)
				return
			}
			id, err := record.ParseDocumentKey(kvp.key[len(prefix):])
			if err == nil {
				var d record.Document
				if d, err = record.DecodeDocument(id, kvp.value); err == nil {
					if !yield(d, nil) {
						return
					}
					continue
				}
			}
			yield(record.Document{}, fmt.Errorf("%w: document: %w", kv.ErrCorrupt, err))
			return
		}
	}
}

func documentsOf(r kv.Reader, ws, track string) iter.Seq2[record.Document, error] {
	return func(yield func(record.Document, error) bool) {
		for kvp, err := range scan(r, record.TrackPrefix(ws, track)) {
			var d record.Document
			if err == nil {
				var v []byte
				id := string(kvp.value)
				if v, err = r.Get(record.DocumentKey(ws, id)); err == nil {
					d, err = record.DecodeDocument(id, v)
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// pair is one key and value of a scan; both are valid until the next step.
type pair struct{ key, value []byte }

// scan iterates the keys under a prefix.
func scan(r kv.Reader, prefix []byte) iter.Seq2[pair, error] {
	return scanRange(r, prefix, codec.PrefixEnd(prefix))
}

// scanRange iterates the keys from lower to before upper.
func scanRange(r kv.Reader, lower, upper []byte) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		c, err := r.Cursor(lower, upper)
		if err != nil {
			yield(pair{}, err)
			return
		}
		defer c.Close()
		for c.Next() {
			if !yield(pair{c.Key(), c.Value()}, nil) {
				return
			}
		}
		if err := c.Err(); err != nil {
			yield(pair{}, err)
		}
	}
}

// StatusCounts counts the documents by status. It costs a scan over all documents.
func StatusCounts(r kv.Reader, ws string) (map[string]int, error) {
	counts := make(map[string]int)
	for d, err := range documents(r, ws) {
		if err != nil {
			return nil, fmt.Errorf("index: status counts: %w", err)
		}
		counts[d.Status.String()]++
	}
	return counts, nil
}

// Text returns the visible text of a document, or the one that waits when none is visible yet.
func Text(r kv.Reader, ws, id string) (string, error) {
	for _, pending := range []bool{false, true} {
		v, err := r.Get(record.TextKey(ws, id, pending))
		if err == nil {
			return string(v), nil
		}
		if !errors.Is(err, kv.ErrNotFound) {
			return "", err
		}
	}
	return "", &NotFoundError{IDs: []string{id}}
}
