package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// EntityPart derives the entity called name as a store would that held nothing but the documents of from: their
// records, merged by the same rules. A description that is too long for a plain join is the extractive summary: no
// model is called. What people state or set by hand belongs to no document and is left out; the names that they decided
// on hold. from must be in order. Cost: a seek for each origin and a step for each record, until the caps are full.
func (p *Pipeline) EntityPart(ctx context.Context, r kv.Reader, name string, from []record.Origin) (e record.Entity, part record.Part, err error) {
	m, part, err := p.mergePart(r, record.EntityObject(name), from)
	if err != nil {
		return e, part, err
	}
	e = m.entity(name)
	e.Description, err = p.describePart(ctx, record.EntityObject(name), m.fragments)
	e.Tokens = p.cfg.Tokenizer.Count(record.EntityLine(name, e.Type, e.Description))
	return e, part, err
}

// RelationPart is EntityPart for the relation of a pair.
func (p *Pipeline) RelationPart(ctx context.Context, r kv.Reader, pair record.Object, from []record.Origin) (rel record.Relation, part record.Part, err error) {
	m, part, err := p.mergePart(r, pair, from)
	if err != nil {
		return rel, part, err
	}
	rel = m.relation(pair)
	rel.Description, err = p.describePart(ctx, pair, m.fragments)
	rel.Tokens = p.cfg.Tokenizer.Count(record.RelationLine(rel.Src, rel.Dst, rel.Description))
	return rel, part, err
}

// IsWhole reports whether part is all that is behind the stored view of o, which then says nothing else.
func (p *Pipeline) IsWhole(r kv.Reader, o record.Object, part record.Part) (bool, error) {
	t, err := tallyOf(r, p.cfg.Workspace, o)
	if err != nil || part.Cut || t.Records != part.Records || t.Endpoints != part.Endpoints {
		return false, err
	}
	names, err := newResolver(r, p.cfg.Workspace)
	if err != nil {
		return false, err
	}
	set, err := names.fields(o)
	return err == nil && set.Empty(), err
}

// mergePart merges the records of some documents about o.
func (p *Pipeline) mergePart(r kv.Reader, o record.Object, from []record.Origin) (m merged, part record.Part, err error) {
	caps := p.cfg.Options.caps()
	h := &history{r: r, ws: p.cfg.Workspace}
	defer func() { err = errors.Join(err, h.Close()) }()
	var (
		of    [2][]record.Source // by place in kindsOf
		tally record.Tally
	)
	for i, k := range kindsOf(o) {
		list, more, err := h.from(k, from, caps.Sources, caps.KeepNewest)
		if err != nil {
			return m, part, fmt.Errorf("index: derive %v: %w", o, err)
		}
		for j := range list {
			tally.Add(&list[j], 1)
		}
		of[i], part.Cut = list, part.Cut || more
	}
	tally.Chunks = distinctChunks(slices.Concat(of[0], of[1]))
	part.Records, part.Endpoints = tally.Records, tally.Endpoints
	if o.IsRelation() {
		return mergeRelation(&tally, of[0], caps), part, nil
	}
	return mergeEntity(&tally, of[0], of[1], caps), part, nil
}

// from returns the records of one kind that origins name and that lie in their first n chunks, or in the last n, in
// order of position; more tells that there are others.
func (h *history) from(k record.Kind, origins []record.Origin, n int, newest bool) (out []record.Source, more bool, err error) {
	origins = slices.Clone(origins)
	if newest {
		slices.Reverse(origins)
	}
	for chunks := 0; len(origins) > 0 && !more; {
		same := 1
		for same < len(origins) && origins[same].Seq == origins[0].Seq {
			same++
		}
		var list []record.Source // of one document
		for _, o := range origins[:same] {
			some, err := h.sourcesOf(k, o.Object, o.Seq)
			if err != nil {
				return nil, false, err
			}
			list = append(list, some...)
		}
		origins = origins[same:]
		slices.SortFunc(list, compareSources)
		if newest {
			slices.Reverse(list)
		}
		for i := range list {
			if i == 0 || list[i].Mark() != list[i-1].Mark() {
				if more = chunks == n; more {
					break
				}
				chunks++
			}
			out = append(out, list[i])
		}
	}
	if newest {
		slices.Reverse(out)
	}
	return out, more, nil
}

// describePart is the description that fragments give without a model.
func (p *Pipeline) describePart(ctx context.Context, o record.Object, fragments []string) (string, error) {
	if !p.needsSummary(fragments) {
		return p.joined(o, fragments), nil
	}
	x, ok := p.cfg.Summarizer.(*Extractive)
	if !ok {
		x = &Extractive{maxTokens: DefaultExtractiveTokens, tokenizer: p.cfg.Tokenizer}
	}
	text, err := summary(ctx, x, o, fragments)
	if errors.Is(err, errEmptySummary) { // there is no sentence in them
		return p.joined(o, fragments), nil
	}
	return text, err
}
