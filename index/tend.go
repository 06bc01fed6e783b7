package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// tendBytes is how much text is read for one commit of Tend. A document is never split.
const tendBytes = 1 << 20

// Tended tells how much of the chunks full-text search covers.
type Tended struct {
	postings.Stats
	Analyser string `json:"analyser,omitempty"` // that made the postings
	// Whole: every chunk is covered, by the analyser in use. Else searches do without postings until Tend has ended.
	Whole bool `json:"whole"`
	// Entities tells the same of search by words among entities.
	Entities TendedEntities `json:"entities"`
}

// Tended tells what r shows. It costs a few gets.
func (p *Pipeline) Tended(r kv.Reader) (t Tended, err error) {
	if t, err = p.tendedChunks(r); err == nil {
		t.Entities, err = p.tendedEntities(r)
	}
	return t, err
}

func (p *Pipeline) tendedChunks(r kv.Reader) (t Tended, err error) {
	x, g, err := p.postingsOf(r)
	if err != nil {
		return t, err
	}
	if x == nil {
		chunks := space.In(p.cfg.Workspace, space.Chunk)
		c, err := r.Cursor(chunks, codec.PrefixEnd(chunks))
		if err != nil {
			return t, err
		}
		t.Whole = !c.First()
		return t, errors.Join(c.Err(), c.Close())
	}
	t.Analyser, t.Whole = x.Config().Analyser, g.Whole
	t.Stats, err = x.Stats(r)
	return t, err
}

// Tend makes postings for the chunks and entities that have none: those of a store from before there were postings, of a load, and all
// of them when TextLanguage or the analysis itself has changed. Documents may come, change and go meanwhile. It goes
// on where an earlier call was interrupted, costs one pass over the texts and no model, and returns at once when there
// is nothing to do. Then it folds what there is to fold.
func (p *Pipeline) Tend(ctx context.Context) error {
	p.tending.Lock()
	defer p.tending.Unlock()
	for _, some := range []func(context.Context) (bool, error){p.tendSome, p.tendSomeEntities} {
		for whole := false; !whole; {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if whole, err = some(ctx); err != nil {
				return fmt.Errorf("index: tend postings: %w", err)
			}
		}
	}
	return p.fold(ctx)
}

// covered is a document whose postings are to be made.
type covered struct {
	id  string
	rev uint64
}

// tendSome covers some more documents. What it read outside the writer turn must still be so in it, or it was for nothing.
func (p *Pipeline) tendSome(ctx context.Context) (whole bool, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if t, err := p.tendedChunks(view); err != nil || t.Whole {
		return t.Whole, err
	}
	x, from, err := p.postingsOf(view)
	if err != nil {
		return false, err
	}
	docs, last, err := p.documentsBehind(view, from.UpTo, "", tendBytes)
	if err != nil {
		return false, err
	}
	var words []wording
	for _, d := range docs {
		for c, err := range chunksFrom(view, p.cfg.Workspace, d.id, 0) {
			if err != nil {
				return false, err
			}
			words = append(words, p.wordingOf(&c))
		}
	}
	begins := x == nil || x.Config().Analyser != p.words.ID()
	_, err = p.cfg.Updater.Update(ctx, changePostings, nil, func(b *kv.Batch) error {
		whole = false
		x, now, err := p.createPostings(b)
		if err != nil || now.Whole || now != from && !begins {
			whole = now.Whole
			return err
		}
		again, _, err := p.documentsBehind(b, from.UpTo, last, 0)
		if err != nil || !slices.Equal(again, docs) {
			return err
		}
		for _, w := range words {
			if err := x.Add(b, w.id, w.terms); err != nil {
				return err
			}
		}
		whole = last == ""
		return x.SetMark(b, record.Coverage{Whole: whole, UpTo: last}.Encode())
	})
	return whole, err
}

// documentsBehind lists visible documents behind after in order of ids: up to and with the one called last, or, when last is
// "", until their texts have so many bytes; 0: all. end is the id of the last one, "" when there are no more behind.
func (p *Pipeline) documentsBehind(r kv.Reader, after, last string, bytes int) (docs []covered, end string, err error) {
	prefix := space.In(p.cfg.Workspace, space.Document)
	lower := prefix
	if after != "" {
		lower = append(record.DocumentKey(p.cfg.Workspace, after), 0)
	}
	read := 0
	for kvp, err := range scanRange(r, lower, codec.PrefixEnd(prefix)) {
		if err != nil {
			return nil, "", err
		}
		id, err := record.ParseDocumentKey(kvp.key[len(prefix):])
		if err != nil {
			return nil, "", fmt.Errorf("%w: document key: %w", kv.ErrCorrupt, err)
		}
		if last != "" && id > last || bytes > 0 && read >= bytes {
			return docs, end, nil
		}
		d, err := record.DecodeDocument(id, kvp.value)
		if err != nil {
			return nil, "", fmt.Errorf("%w: document %q: %w", kv.ErrCorrupt, id, err)
		}
		if end = id; d.Current != nil {
			docs = append(docs, covered{id, d.Current.Rev})
			read += d.Current.Bytes
		}
	}
	return docs, "", nil
}
