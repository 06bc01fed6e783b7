package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// attempt is one try to process one version of a document.
type attempt struct {
	p     *Pipeline
	doc   record.Document // as it was when the attempt began
	text  string
	event func(Progress)

	chunks   []record.Chunk
	sources  []record.Source
	contents record.Contents
	plan     *plan
	vectors  [][]float32 // by chunk; nil where the stored vector stays
	words    *rewording  // of chunks, for postings; nil until they were read

	meter llm.Meter // of all models

	before contribution   // of the visible version
	old    []record.Chunk // of the visible version

	mu    sync.Mutex
	done  int // chunks
	bytes int // of new records, see recordBytes
	stats record.Attempts
}

func (a *attempt) progress(s Stage) Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Progress{Document: a.doc.ID, Path: a.doc.Pending.Path, Stage: s, ChunksDone: a.done, Chunks: len(a.chunks)}
}

// begin marks a document as being processed and reads what the attempt needs; nil when it does not wait.
func (p *Pipeline) begin(ctx context.Context, id string) (*attempt, error) {
	a := &attempt{p: p}
	waits := false
	_, err := p.cfg.Updater.Update(ctx, "process", []string{id}, func(b *kv.Batch) error {
		waits = false
		d, err := p.documentOf(b, id)
		if err != nil || d == nil || !d.Waits() {
			return err
		}
		waits = true
		if err := p.checkModels(b); err != nil {
			return err
		}
		d.Status = record.StatusProcessing
		d.Attempts = record.Attempts{Tries: d.Attempts.Tries + 1, StartedAt: p.cfg.Now().UnixNano()}
		a.doc = *d
		return putDocument(b, p.cfg.Workspace, d)
	})
	if err != nil || !waits {
		return nil, err
	}
	a.stats = a.doc.Attempts
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	text, err := view.Get(record.TextKey(p.cfg.Workspace, id, true))
	switch {
	case errors.Is(err, kv.ErrNotFound): // deleted between the two reads
		return nil, nil
	case err != nil:
		return nil, err
	}
	a.text = string(text)
	if a.doc.Current == nil {
		return a, nil
	}
	if a.before, err = contributionOf(view, p.cfg.Workspace, id, a.doc.Seq); err != nil {
		return nil, err
	}
	for c, err := range chunksFrom(view, p.cfg.Workspace, id, 0) {
		if err != nil {
			return nil, err
		}
		a.old = append(a.old, c)
	}
	return a, nil
}

// timed adds the time since start to a stage.
func (a *attempt) timed(name string, start time.Time) {
	a.stats.Stages = append(a.stats.Stages, record.Count64{Name: name, N: int64(a.p.cfg.Now().Sub(start))})
}

// guarded is work in which a panic of the caller's code (chunker, tokenizer) fails the document alone.
func (a *attempt) guarded(ctx context.Context) (err error) {
	defer llm.CatchPanic("chunker, tokenizer or progress callback", &err)
	return a.work(llm.WithMeter(ctx, &a.meter))
}

func (a *attempt) work(ctx context.Context) error {
	start := a.p.cfg.Now()
	if err := a.cut(ctx); err != nil {
		return fmt.Errorf("cut into chunks: %w", err)
	}
	a.timed("chunk", start)
	a.event(a.progress(StageChunk))

	start = a.p.cfg.Now()
	if err := a.extract(ctx); err != nil {
		return err
	}
	a.timed("extract", start)
	a.event(a.progress(StageMerge))

	start = a.p.cfg.Now()
	a.plan = newPlan([]contribution{a.before}, []uint64{a.doc.Seq}, a.sources)
	w := &work{kind: "index", ids: []string{a.doc.ID}, plan: a.plan, fits: a.fits, prepare: a.prepare, check: a.check, forget: a.forget}
	w.stage = func(b *kv.Batch) error {
		a.timed("merge", start)
		return a.stage(b)
	}
	err := a.p.commit(ctx, w)
	var told *TooLargeError
	if errors.Is(err, kv.ErrTooLarge) && !errors.As(err, &told) {
		err = a.tooLarge(0)
	}
	if err == nil {
		a.p.foldPostings(ctx)
	}
	return err
}

// cut makes the chunks of the text.
func (a *attempt) cut(ctx context.Context) error {
	chunker, err := a.p.chunkerOf(a.doc.Pending, a.old)
	if err != nil {
		return err
	}
	spans, err := chunker.Split(ctx, a.text)
	if err != nil {
		return err
	}
	if err := chunk.Check(a.text, spans); err != nil {
		return err
	}
	tok := a.p.cfg.Tokenizer
	chunks := make([]record.Chunk, len(spans))
	for i, s := range spans {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := record.Chunk{Doc: a.doc.ID, Order: i, Start: s.Start, End: s.End, Tokens: s.Tokens, Path: a.doc.Pending.Path,
			Content: s.Text(a.text), Context: s.Context, Extractor: a.p.cfg.Extractor.ID()}
		if c.Tokens == 0 {
			c.Tokens = tok.Count(c.Content)
		}
		c.CountLine(tok.Count)
		chunks[i] = c
	}
	a.mu.Lock()
	a.chunks = chunks
	a.mu.Unlock()
	return nil
}
