package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/filter"
	"github.com/glimdb/db/kv"
)

// removalBytes bounds the text of documents that one commit of DeleteMatching takes away: their records, some thirty
// times as large for prose full of names, are in memory meanwhile. It is no promise that a commit holds them.
const removalBytes = 16 << 20

// DeleteMatching deletes the documents that f selects when it begins and that still match when their turn comes,
// exactly as Delete does: in one commit if their texts are together below 16 MiB, else in several, each of which is
// exact. With an error it returns what is gone already. A filter that selects every document is refused with an
// *OptionError.
func (p *Pipeline) DeleteMatching(ctx context.Context, f Filter) (sum DeleteResult, err error) {
	if f.IsZero() {
		return sum, &OptionError{Field: "Filter", Value: "empty", Want: "one condition at least"}
	}
	sel, err := matcher(f)
	if err != nil {
		return sum, err
	}
	rest, err := p.selected(f)
	limit := p.removalBytes
	for err == nil && len(rest) > 0 {
		var (
			ids []string
			res DeleteResult
		)
		size := 0
		for _, d := range rest {
			if len(ids) > 0 && size+d.Bytes > limit {
				break
			}
			ids, size = append(ids, d.ID), size+d.Bytes
		}
		res, err = p.tryDelete(ctx, ids, sel)
		switch {
		case err == nil:
			sum.add(res)
			rest = rest[len(ids):]
		case errors.Is(err, errSuperseded), errors.Is(err, kv.ErrNotFound):
			rest, err = p.matching(rest, sel)
		case errors.Is(err, kv.ErrTooLarge) && len(ids) > 1:
			limit, err = size/2, nil
		}
	}
	return sum, err
}

func (r *DeleteResult) add(s DeleteResult) {
	r.Documents += s.Documents
	r.Chunks += s.Chunks
	r.Entities += s.Entities
	r.Relations += s.Relations
	r.Rederived += s.Rederived
}

// selected lists the documents that f selects.
func (p *Pipeline) selected(f Filter) (list []Info, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	for i, err := range Documents(view, p.cfg.Workspace, f) {
		if err != nil {
			return nil, fmt.Errorf("index: delete: %w", err)
		}
		list = append(list, Info{ID: i.ID, Bytes: i.Bytes})
	}
	return list, nil
}

// matching keeps those of a list that are there and match now.
func (p *Pipeline) matching(list []Info, sel *filter.Matcher) (left []Info, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	for _, was := range list {
		d, err := p.documentOf(view, was.ID)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		if selects(sel, d) {
			left = append(left, was)
		}
	}
	return left, nil
}
