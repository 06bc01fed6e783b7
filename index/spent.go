package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// metered asks the extractor about one chunk and counts what that took: as its models were counted on the way (see
// llm.WithMeter) or, when none was, as the extractor reports it, under its own name.
func (a *attempt) metered(ctx context.Context, in ExtractInput) (Extraction, error) {
	var seen llm.Meter
	x, err := a.p.cfg.Extractor.Extract(llm.WithMeter(ctx, &seen), in)
	if err == nil {
		x = accept(x)
		r := &x.Report
		used := llm.Usage{Calls: r.Calls, CachedCalls: r.CachedCalls, PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens}
		if used != (llm.Usage{}) && len(seen.ByModel()) == 0 {
			a.meter.Add(llm.ModelUsage{Model: a.p.cfg.Extractor.ID(), Purpose: llm.PurposeExtract, Usage: used})
		}
	}
	return x, err
}

// spend adds what the attempt used to the document's sums.
func (a *attempt) spend(d *record.Document) {
	for _, u := range a.meter.ByModel() {
		use := record.ModelUse{Model: clip(u.Model, maxModelBytes), Purpose: string(u.Purpose)}
		i, found := slices.BinarySearchFunc(d.Spent, use, func(x, y record.ModelUse) int {
			return cmp.Or(cmp.Compare(x.Model, y.Model), cmp.Compare(x.Purpose, y.Purpose))
		})
		if !found {
			d.Spent = slices.Insert(d.Spent, i, use)
		}
		sum := &d.Spent[i]
		for _, n := range [...]struct {
			to *int
			n  int
		}{{&sum.Calls, u.Calls}, {&sum.CachedCalls, u.CachedCalls}, {&sum.PromptTokens, u.PromptTokens}, {&sum.CompletionTokens, u.CompletionTokens}} {
			*n.to = min(*n.to+min(n.n, maxReported), maxSpent)
		}
	}
}

const (
	maxModelBytes = 256 // of a model's name in sums
	maxSpent      = 1 << 50
)

// spentOf returns the sums of a document in the form of package llm.
func spentOf(d *record.Document) []llm.ModelUsage {
	var out []llm.ModelUsage
	for _, u := range d.Spent {
		out = append(out, llm.ModelUsage{Model: u.Model, Purpose: llm.Purpose(u.Purpose), Usage: llm.Usage{Calls: u.Calls,
			CachedCalls: u.CachedCalls, PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens}})
	}
	return out
}

// account keeps what an attempt used that was given up for another version; nothing is to be kept of a deleted document.
func (p *Pipeline) account(ctx context.Context, a *attempt) error {
	if len(a.meter.ByModel()) == 0 {
		return nil
	}
	_, err := p.cfg.Updater.Update(ctx, "status", []string{a.doc.ID}, func(b *kv.Batch) error {
		d, err := p.documentOf(b, a.doc.ID)
		if err != nil || d == nil || d.Seq != a.doc.Seq {
			return err
		}
		a.spend(d)
		return putDocument(b, p.cfg.Workspace, d)
	})
	return err
}
