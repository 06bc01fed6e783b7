package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// Stage names what is being done with a document.
type Stage string

// The stages of a document, in order. The last event of an attempt has one of the last three.
const (
	StageChunk   Stage = "chunk"   // the text was cut
	StageExtract Stage = "extract" // another chunk was extracted
	StageMerge   Stage = "merge"   // objects are derived, summarised and embedded, then committed
	StageDone    Stage = "done"
	StageFailed  Stage = "failed"
	StageGivenUp Stage = "given_up" // replaced, deleted or cancelled meanwhile
)

// Progress is one event of a Process call.
type Progress struct {
	Document string
	Path     string
	Stage    Stage
	// Chunks of this document: extracted so far (reused ones included) and in all.
	ChunksDone, Chunks int
	// Documents of the call: ended so far, this one included, and found so far.
	DocumentsDone, Documents int
	// Entities and Relations of the document, with StageDone.
	Entities, Relations int
	Err                 error // with StageFailed
}

// ProcessOptions are the options of one Process call.
type ProcessOptions struct {
	// IDs limits the call to these documents; nil: all that wait, those enqueued meanwhile included.
	// Documents that do not wait (any more) are skipped.
	IDs []string
	// Follow keeps the call going when nothing waits, until its context ends: a worker in the background. Unused with
	// IDs.
	Follow bool
	// Workers overrides Options.Workers; 0 does not, range 1 to 64.
	Workers int
	// Progress is called for each event, from several goroutines and without any lock held. It should
	// return quickly: the document waits for it.
	Progress func(Progress)
}

// Summary is the result of a Process call.
type Summary struct {
	Processed int               `json:"processed"`
	Failed    int               `json:"failed"`
	Errors    map[string]string `json:"errors,omitempty"` // of failed documents, by id
}

// suspendWait bounds how long a cancelled call waits for the writer turn to put its document back, so that
// it returns within a second although someone else holds the turn.
const suspendWait = 500 * time.Millisecond

// Process works on the documents that wait, those interrupted by a crash included, by falling priority and in order
// of enqueue, several at a time, until none is left. A document that fails gets its status and reason and is no error
// of the call. Errors are the context's, once every started call has returned, and storage errors; then
// the documents not done wait for the next call, and what models answered is in the reply cache.
//
// Calls may run at the same time; a document that another call works on is waited for.
func (p *Pipeline) Process(ctx context.Context, o ProcessOptions) (Summary, error) {
	if o.Workers < 0 || o.Workers > maxWorkers {
		return Summary{}, &OptionError{Field: "Workers", Value: o.Workers, Want: fmt.Sprintf("0 to %d", maxWorkers)}
	}
	workers := cmp.Or(o.Workers, p.cfg.Options.Workers)
	sched, err := newSchedule(p, o, workers)
	if err != nil {
		return Summary{}, err
	}
	p.watch(sched)
	defer p.unwatch(sched)
	run := &run{p: p, o: o, sched: sched}
	g, gctx := newGroup(ctx, workers, "chunker, tokenizer, embedder or progress callback")
	for {
		var id string
		if id, err = sched.next(gctx); id == "" {
			break
		}
		g.Go(func() error {
			defer sched.ended(id)
			return run.document(gctx, id)
		})
	}
	err = errors.Join(g.Wait(), err)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return run.result(), err
}

// run is one Process call.
type run struct {
	p     *Pipeline
	o     ProcessOptions
	sched *schedule

	mu   sync.Mutex
	sum  Summary
	done int // documents
}

func (r *run) result() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum
}

// event reports progress.
func (r *run) event(ev Progress) {
	r.mu.Lock()
	switch ev.Stage {
	case StageDone:
		r.done++
		r.sum.Processed++
	case StageFailed:
		r.done++
		r.sum.Failed++
		if r.sum.Errors == nil {
			r.sum.Errors = make(map[string]string)
		}
		r.sum.Errors[ev.Document] = cause(ev.Err)
	}
	ev.DocumentsDone, ev.Documents = r.done, r.sched.found()
	r.mu.Unlock()
	if r.o.Progress != nil {
		r.o.Progress(ev)
	}
}

// document brings one document to an end: processed, failed, or found not to wait any more.
func (r *run) document(ctx context.Context, id string) error {
	for {
		dctx, c, busy := r.p.take(ctx, id)
		if busy != nil {
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		again, err := r.claimed(dctx, id, c)
		if err != nil || !again {
			return err
		}
	}
}

// claimed is attempt, after which the claim ends whatever happens.
func (r *run) claimed(ctx context.Context, id string, c *claim) (again bool, err error) {
	defer r.p.release(id, c)
	defer llm.CatchPanic("progress callback", &err)
	return r.attempt(ctx, id)
}

// attempt works once on a claimed document. again means that it changed meanwhile.
func (r *run) attempt(ctx context.Context, id string) (again bool, err error) {
	superseded := func(err error) bool {
		return errors.Is(err, errSuperseded) || errors.Is(context.Cause(ctx), errSuperseded)
	}
	a, err := r.p.begin(ctx, id)
	switch {
	case err != nil && superseded(err):
		return true, nil
	case err != nil:
		return false, err
	}
	if a == nil { // nothing to do
		r.mu.Lock()
		r.done++
		r.mu.Unlock()
		return false, nil
	}
	a.event = r.event
	err = a.guarded(ctx)
	switch {
	case err == nil:
		r.p.room.wake()
		ev := a.progress(StageDone)
		ev.Entities, ev.Relations = a.contents.Entities, a.contents.Relations
		r.event(ev)
		return false, nil
	case superseded(err):
		r.event(a.progress(StageGivenUp))
		r.afterwards(ctx, a, r.p.account)
		return true, nil
	case ctx.Err() != nil:
		r.event(a.progress(StageGivenUp))
		// The status goes back to pending. Should that fail, the document stays "processing", which is picked up again
		// just the same.
		r.afterwards(ctx, a, r.p.suspend)
		return false, ctx.Err()
	case isStorage(err):
		return false, fmt.Errorf("index: process %q: %w", id, err)
	}
	var broken *llm.PanicError
	if errors.As(err, &broken) {
		r.p.cfg.Logger.Error("index: "+broken.What+" panicked", "stack", string(broken.Stack))
	}
	switch serr := r.p.fail(ctx, a, err); {
	case serr != nil && superseded(serr):
		r.event(a.progress(StageGivenUp))
		return true, nil
	case serr != nil:
		return false, fmt.Errorf("index: process %q: %w", id, errors.Join(err, serr))
	}
	r.p.room.wake()
	ev := a.progress(StageFailed)
	ev.Err = err
	r.event(ev)
	return false, nil
}

// afterwards makes one small commit about an attempt whose context has ended.
func (r *run) afterwards(ctx context.Context, a *attempt, commit func(context.Context, *attempt) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), suspendWait)
	defer cancel()
	if err := commit(ctx, a); err != nil {
		r.p.cfg.Logger.Warn("index: status of a document that was given up", "err", err)
	}
}

// isStorage tells failures of the store, which concern every document, from those of one document. What an
// extractor or a model fails with is the document's, even if it speaks of a store of its own.
func isStorage(err error) bool {
	var chunk *ChunkError
	var call *CallError
	if errors.As(err, &chunk) || errors.As(err, &call) {
		return false
	}
	for _, target := range []error{kv.ErrReadOnly, kv.ErrClosed, kv.ErrCorrupt, kv.ErrDiskFull} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
