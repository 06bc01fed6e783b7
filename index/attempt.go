package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"golang.org/x/sync/errgroup"
)

// giveUpAfter is the number of failed chunks after which no further chunk of a document is begun: by
// then the model is out of reach, and every call costs its time limit.
const giveUpAfter = 8

// attempt is one try to process one version of a document.
type attempt struct {
	p     *Pipeline
	doc   record.Document // as it was when the attempt began
	text  string
	event func(Progress)

	chunks   []record.Chunk
	sources  []record.Source
	contents record.Contents
	vectors  [][]float32 // by chunk; nil where the stored vector stays

	before contribution   // of the visible version
	old    []record.Chunk // of the visible version

	mu    sync.Mutex
	done  int // chunks
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
		if err != nil || d == nil || (d.Status != record.StatusPending && d.Status != record.StatusProcessing) {
			return err
		}
		waits = true
		if err := p.checkModels(b); err != nil {
			return err
		}
		d.Status = record.StatusProcessing
		d.Attempts = record.Attempts{Tries: d.Attempts.Tries + 1, StartedAt: p.cfg.Now().UnixNano()}
		a.doc = *d
		return p.putDocument(b, d)
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
	for c, err := range Chunks(view, p.cfg.Workspace, id) {
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
	pl := newPlan([]contribution{a.before}, []uint64{a.doc.Seq}, a.sources)
	w := &work{kind: "index", ids: []string{a.doc.ID}, plan: pl, prepare: a.prepare, check: a.check}
	w.stage = func(b *kv.Batch) error {
		a.timed("merge", start)
		return a.stage(b)
	}
	err := a.p.commit(ctx, w)
	if errors.Is(err, kv.ErrTooLarge) {
		err = &TooLargeError{IDs: []string{a.doc.ID}, Bytes: len(a.text), Limit: kv.MaxBatchBytes}
	}
	return err
}

// cut makes the chunks of the text.
func (a *attempt) cut(ctx context.Context) error {
	spans, err := a.p.cfg.Options.Chunker.Split(ctx, a.text)
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
			Content: s.Text(a.text), Extractor: a.p.cfg.Extractor.ID()}
		if c.Tokens == 0 {
			c.Tokens = tok.Count(c.Content)
		}
		c.LineTokens = tok.Count(record.ChunkLine(record.ReferencePlaceholder, c.Content))
		chunks[i] = c
	}
	a.mu.Lock()
	a.chunks = chunks
	a.mu.Unlock()
	return nil
}

// extract fills the chunks' source records: those of equal chunks of the version before are taken over,
// the others are asked of the extractor. A failing chunk fails the document, but the others are asked all
// the same, so that their replies are kept for the next attempt.
func (a *attempt) extract(ctx context.Context) error {
	sources := make([][]record.Source, len(a.chunks))
	missing := a.reuse(sources)
	errs := make([]error, len(a.chunks))
	var (
		g      errgroup.Group
		failed int // guarded by a.mu
	)
	g.SetLimit(a.p.cfg.Options.ChunkWorkers)
	for _, i := range missing {
		g.Go(func() error {
			a.mu.Lock()
			stop := failed >= giveUpAfter
			a.mu.Unlock()
			if stop || ctx.Err() != nil {
				return nil
			}
			list, err := a.extractOne(ctx, &a.chunks[i])
			sources[i], errs[i] = list, err
			a.mu.Lock()
			if err != nil {
				failed++
			} else {
				a.done++
			}
			a.mu.Unlock()
			if err == nil {
				a.event(a.progress(StageExtract))
			}
			return nil
		})
	}
	_ = g.Wait() // errors are in errs, by chunk
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return &ChunkError{Number: i + 1, Of: len(a.chunks), ID: a.chunks[i].ID(), Failed: failed, Err: err}
		}
	}
	a.sources = slices.Concat(sources...)
	a.count()
	return nil
}

// reuse takes over what is known of equal chunks and returns the numbers of the others.
func (a *attempt) reuse(sources [][]record.Source) (missing []int) {
	known := make(map[string]*record.Chunk, len(a.old))
	for i := range a.old {
		if c := &a.old[i]; !c.Truncated && c.Extractor == a.p.cfg.Extractor.ID() {
			known[c.Content] = c
		}
	}
	byOrder := make(map[int][]record.Source)
	for _, list := range a.before {
		for _, s := range list {
			byOrder[s.Order] = append(byOrder[s.Order], s)
		}
	}
	for i := range a.chunks {
		c := &a.chunks[i]
		was := known[c.Content]
		if was == nil {
			missing = append(missing, i)
			continue
		}
		c.Dropped, c.Repaired, c.Warnings = was.Dropped, was.Repaired, was.Warnings
		sources[i] = moved(byOrder[was.Order], a.doc.Seq, c)
		a.done++
		a.stats.ReusedChunks++
	}
	return missing
}

func (a *attempt) extractOne(ctx context.Context, c *record.Chunk) ([]record.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, err := a.p.cfg.Extractor.Extract(ctx, ExtractInput{ChunkID: c.ID(), Path: c.Path, Text: c.Content})
	if err != nil {
		return nil, err
	}
	x = accept(x)
	c.Truncated, c.Warnings = x.Report.Truncated, x.Report.Warnings
	c.Dropped, c.Repaired = record.Counts(x.Report.Dropped), record.Counts(x.Report.Repaired)
	a.mu.Lock()
	a.stats.Calls += x.Report.Calls
	a.stats.CachedCalls += x.Report.CachedCalls
	a.stats.PromptTokens += x.Report.PromptTokens
	a.stats.CompletionTokens += x.Report.CompletionTokens
	a.mu.Unlock()
	return sourcesFrom(a.doc.Seq, c, x), nil
}

// maxWarnings bounds the remarks kept with a document; each chunk keeps its own.
const maxWarnings = 20

// count works out what the document's status tells.
func (a *attempt) count() {
	c := record.Contents{Chunks: len(a.chunks)}
	for _, o := range sortedObjects(a.sources) {
		if o.IsRelation() {
			c.Relations++
		} else {
			c.Entities++
		}
	}
	dropped, repaired := make(map[string]int), make(map[string]int)
	var warnings []string
	for i := range a.chunks {
		k := &a.chunks[i]
		for _, n := range k.Dropped {
			dropped[n.Name] += n.N
		}
		for _, n := range k.Repaired {
			repaired[n.Name] += n.N
		}
		if k.Truncated {
			c.Truncated++
		}
		for _, w := range k.Warnings {
			warnings = append(warnings, fmt.Sprintf("chunk %d: %s", i+1, w))
		}
	}
	c.Dropped, c.Repaired = record.Counts(dropped), record.Counts(repaired)
	if c.Entities == 0 {
		text := fmt.Sprintf("0 entities of %d chunks", c.Chunks)
		if c.Chunks == 1 {
			text = "0 entities of 1 chunk"
		}
		if c.Truncated > 0 {
			text += ", reply cut off"
		}
		c.Warnings = append(c.Warnings, text)
	} else if c.Truncated > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("reply cut off for %d of %d chunks", c.Truncated, c.Chunks))
	}
	if n := a.doc.Pending.Removed; n > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d control characters or invalid bytes removed from the text", n))
	}
	if left := len(warnings) - maxWarnings; left > 0 {
		warnings = append(warnings[:maxWarnings], fmt.Sprintf("%d more warnings are kept with the chunks", left))
	}
	c.Warnings = append(c.Warnings, warnings...)
	a.contents = c
}

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
			texts = append(texts, a.p.fit(a.chunks[i].Content))
		}
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

// storedVectors fills the vectors of chunks whose text is stored at another place, and returns the
// numbers of the chunks that have to be embedded.
func (a *attempt) storedVectors() (missing []int, err error) {
	a.vectors = make([][]float32, len(a.chunks))
	known := make(map[string]int, len(a.old))
	for i := range a.old {
		known[a.old[i].Content] = i
	}
	var from, to []int // chunks that move
	for i := range a.chunks {
		j, ok := known[a.chunks[i].Content]
		switch {
		case !ok:
			missing = append(missing, i)
		case i < len(a.old) && a.old[i].Content == a.chunks[i].Content: // stays where it is
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
	if err := b.Delete(record.QueueKey(ws, a.doc.Seq)); err != nil {
		return err
	}
	d, err := p.documentOf(b, id)
	if err != nil {
		return err
	}
	if err := p.unindex(b, d, d.Current, d.Pending); err != nil {
		return err
	}
	d.Status, d.Current, d.Pending = record.StatusProcessed, d.Pending, nil
	d.Contents, d.Attempts = a.contents, a.stats
	d.Attempts.Tries, d.Attempts.EndedAt = a.doc.Attempts.Tries, p.cfg.Now().UnixNano()
	return p.putDocument(b, d)
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
		if d.Status == record.StatusFailed {
			if err := b.Delete(record.QueueKey(p.cfg.Workspace, d.Seq)); err != nil {
				return err
			}
		}
		return p.putDocument(b, d)
	})
	return err
}
