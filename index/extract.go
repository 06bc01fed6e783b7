package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
)

// giveUpAfter is the number of failed chunks after which no further chunk of a document is begun: by
// then the model is out of reach, and every call costs its time limit.
const giveUpAfter = 8

// extract fills the chunks' source records: those of equal chunks of the version before are taken over,
// the others are asked of the extractor. A failing chunk fails the document, but the others are asked all
// the same, so that their replies are kept for the next attempt.
func (a *attempt) extract(ctx context.Context) error {
	sources := make([][]record.Source, len(a.chunks))
	missing := a.reuse(sources)
	errs := make([]error, len(a.chunks))
	failed := 0 // guarded by a.mu
	g, _ := newGroup(ctx, a.p.cfg.Options.ChunkWorkers, "extractor "+a.p.cfg.Extractor.ID()+" or progress callback")
	for _, i := range missing {
		g.Go(func() (err error) {
			defer llm.CatchPanic("progress callback", &err)
			a.mu.Lock()
			stop := failed >= giveUpAfter || a.bytes > a.p.commitBytes
			a.mu.Unlock()
			if stop || ctx.Err() != nil {
				return nil
			}
			list, err := a.extractOne(ctx, &a.chunks[i])
			sources[i], errs[i] = list, err
			bytes := 0
			if a.doc.Current == nil { // else some records may stay as they are
				bytes = a.p.recordBytes(list)
			}
			a.mu.Lock()
			if err != nil {
				failed++
			} else {
				a.done++
			}
			a.bytes += bytes
			a.mu.Unlock()
			if err == nil {
				a.event(a.progress(StageExtract))
			}
			return nil
		})
	}
	if err := errors.Join(ctx.Err(), g.Wait()); err != nil { // the extractor's are in errs, by chunk
		return err
	}
	if a.bytes > a.p.commitBytes {
		return a.tooLarge(a.bytes)
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
	known := make(map[chunkText]*record.Chunk, len(a.old))
	for i := range a.old {
		if c := &a.old[i]; !c.Truncated && !c.Unusable && c.Extractor == a.p.cfg.Extractor.ID() {
			known[textOf(c)] = c
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
		was := known[textOf(c)]
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

func (a *attempt) extractOne(ctx context.Context, c *record.Chunk) (_ []record.Source, err error) {
	defer llm.CatchPanic("extractor "+a.p.cfg.Extractor.ID(), &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, err := a.metered(ctx, ExtractInput{ChunkID: c.ID(), Path: c.Path, Context: c.Context, Text: c.Content})
	if err != nil {
		return nil, err
	}
	c.Truncated, c.Unusable, c.Warnings = x.Report.Truncated, x.Report.Unusable, x.Report.Warnings
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
		if k.Unusable {
			c.Unusable++
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
		if c.Unusable > 0 {
			text += ", reply of no use"
		}
		c.Warnings = append(c.Warnings, text)
	} else {
		if c.Truncated > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("reply cut off for %d of %d chunks", c.Truncated, c.Chunks))
		}
		if c.Unusable > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("reply of no use for %d of %d chunks", c.Unusable, c.Chunks))
		}
	}
	if s := (ExtractReport{Dropped: dropped, Repaired: repaired}).Summary(); s != "" {
		c.Warnings = append(c.Warnings, "records: "+s)
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
