package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"golang.org/x/sync/semaphore"
)

// gateShares is the capacity of the commit gate: an ordinary commit takes one share for the time of its
// commit, a plan that was overtaken too often takes all of them for one whole try.
const gateShares = 1 << 20

// Pipeline turns documents into chunks, vectors and graph. Safe for concurrent use. It keeps no state of
// its own beside the documents that are being worked on.
type Pipeline struct {
	cfg   Config
	rules uint32 // of cfg.Options, see record.Tally
	gate  *semaphore.Weighted
	words *analysis.Analyzer // of full-text search
	// commitBytes is Options.CommitBytes, removalBytes see there; both are less in tests.
	commitBytes, removalBytes int

	room broadcast // documents left the queue

	embedding  atomic.Pointer[embedding]
	reembedder sync.Mutex // of the Reembed call that runs
	tending    sync.Mutex // of the goroutine that tends postings

	mu        sync.Mutex
	claims    map[string]*claim  // by document id
	schedules map[*schedule]bool // of running Process calls
}

// claim marks a document that a Process call works on.
type claim struct {
	done   chan struct{}           // closed when the claim ends
	cancel context.CancelCauseFunc // gives the work up
}

// New returns a pipeline over c. It reads and writes nothing.
func New(c Config) (*Pipeline, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	words, err := analysis.New(c.Options.TextLanguage)
	if err != nil { // withDefaults has checked it
		return nil, err
	}
	p := &Pipeline{cfg: c, words: words, rules: c.Options.rules(), commitBytes: c.Options.CommitBytes, removalBytes: removalBytes, gate: semaphore.NewWeighted(gateShares),
		claims: make(map[string]*claim), schedules: make(map[*schedule]bool)}
	p.embedding.Store(&embedding{Embedder: c.Embedder})
	return p, nil
}

// embedding is the embedder in use. Each change makes a new one, so that work under way can tell.
type embedding struct {
	llm.Embedder
	before *embedding // the one that it took the place of
}

func (p *Pipeline) embedder() llm.Embedder { return p.embedding.Load().Embedder }

// take claims a document. When another call works on it, busy is closed once that ends.
func (p *Pipeline) take(ctx context.Context, id string) (_ context.Context, c *claim, busy <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.claims[id]; other != nil {
		return nil, nil, other.done
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c = &claim{done: make(chan struct{}), cancel: cancel}
	p.claims[id] = c
	return ctx, c, nil
}

func (p *Pipeline) release(id string, c *claim) {
	p.mu.Lock()
	delete(p.claims, id)
	p.mu.Unlock()
	c.cancel(nil)
	close(c.done)
}

// giveUp makes whoever works on an outdated version of the documents stop.
func (p *Pipeline) giveUp(ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if c := p.claims[id]; c != nil {
			c.cancel(errSuperseded)
		}
	}
}

// documentOf reads a status record; nil when there is none.
func (p *Pipeline) documentOf(r kv.Reader, id string) (*record.Document, error) {
	return documentOf(r, p.cfg.Workspace, id)
}

func documentOf(r kv.Reader, ws, id string) (*record.Document, error) {
	v, err := r.Get(record.DocumentKey(ws, id))
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	d, err := record.DecodeDocument(id, v)
	if err != nil {
		return nil, fmt.Errorf("%w: document %q: %w", kv.ErrCorrupt, id, err)
	}
	return &d, nil
}

func putDocument(b *kv.Batch, ws string, d *record.Document) error {
	return b.Set(record.DocumentKey(ws, d.ID), d.Encode())
}

// addIndex stages the entries of a version in the hash and track indexes.
func addIndex(b *kv.Batch, ws string, d *record.Document, v *record.Version) error {
	if err := b.Set(record.HashKey(ws, v.Hash, d.ID), nil); err != nil {
		return err
	}
	return b.Set(record.TrackKey(ws, v.Track, d.Seq), []byte(d.ID))
}

// unindex removes the entries of v, except those that keep, the version that stays, still needs.
func (p *Pipeline) unindex(b *kv.Batch, d *record.Document, v, keep *record.Version) error {
	if v == nil {
		return nil
	}
	if keep == nil || keep.Hash != v.Hash {
		if err := b.Delete(record.HashKey(p.cfg.Workspace, v.Hash, d.ID)); err != nil {
			return err
		}
	}
	if keep == nil || keep.Track != v.Track {
		return b.Delete(record.TrackKey(p.cfg.Workspace, v.Track, d.Seq))
	}
	return nil
}

// sameRev reports whether two versions are one.
func sameRev(a, b *record.Version) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Rev == b.Rev)
}
