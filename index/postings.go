package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// Postings of chunks are derived from their texts, in the batch that stores them. An index that was not there from the
// beginning, or that another analyser made, is made anew from the chunks document by document, in order of ids (Tend).
// Its mark tells how far that is: changes of documents up to there keep their postings, others wait for their turn, and
// nobody searches it before it is whole.

// TextLanguages lists the values of Options.TextLanguage beside "".
func TextLanguages() []string { return analysis.Languages() }

// postingsOf returns the index of postings, nil when there is none, and what it covers. One of another analyser
// covers nothing.
func (p *Pipeline) postingsOf(r kv.Reader) (*postings.Index, record.Coverage, error) {
	x, err := postings.Open(r, p.cfg.Workspace, record.ChunkPostings)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, record.Coverage{}, nil
	}
	if err != nil || x.Config().Analyser != p.words.ID() {
		return x, record.Coverage{}, err
	}
	mark, err := x.Mark(r)
	if err != nil {
		return nil, record.Coverage{}, err
	}
	g, err := record.DecodeCoverage(mark)
	if err != nil {
		err = fmt.Errorf("%w: coverage of postings: %w", kv.ErrCorrupt, err)
	}
	return x, g, err
}

// createPostings is postingsOf that makes the index where there is none of the analyser. A workspace without chunks is
// covered at once.
func (p *Pipeline) createPostings(b *kv.Batch) (*postings.Index, record.Coverage, error) {
	x, g, err := p.postingsOf(b)
	if err != nil || x != nil && x.Config().Analyser == p.words.ID() {
		return x, g, err
	}
	if x != nil {
		if err := x.Drop(b); err != nil {
			return nil, g, err
		}
	}
	chunks := space.In(p.cfg.Workspace, space.Chunk)
	c, err := b.Cursor(chunks, codec.PrefixEnd(chunks))
	if err != nil {
		return nil, g, err
	}
	g.Whole = !c.First()
	if err := errors.Join(c.Err(), c.Close()); err != nil {
		return nil, g, err
	}
	if x, err = postings.Create(b, p.cfg.Workspace, record.ChunkPostings, postings.Config{Analyser: p.words.ID()}); err != nil {
		return nil, g, err
	}
	return x, g, x.SetMark(b, g.Encode())
}

// wording is a chunk as postings have it.
type wording struct {
	id    string
	terms []postings.Term
}

// rewording is what changes of the chunks of a document.
type rewording struct{ gone, come []wording }

func (p *Pipeline) wordingOf(c *record.Chunk) wording {
	return wording{c.ID(), p.words.Counts(c.InContext())}
}

// reword reads the chunks that change, once. A chunk that stays where it was keeps its postings.
func (a *attempt) reword() {
	if a.words != nil {
		return
	}
	w := &rewording{}
	for i := range max(len(a.old), len(a.chunks)) {
		was, is := i < len(a.old), i < len(a.chunks)
		if was && is && textOf(&a.old[i]) == textOf(&a.chunks[i]) {
			continue
		}
		if was {
			w.gone = append(w.gone, a.p.wordingOf(&a.old[i]))
		}
		if is {
			w.come = append(w.come, a.p.wordingOf(&a.chunks[i]))
		}
	}
	a.words = w
}

// wordsOf reads all chunks of a document, which are to go.
func (p *Pipeline) wordsOf(r kv.Reader, d *record.Document) (*rewording, error) {
	w := &rewording{}
	if d.Current == nil {
		return w, nil
	}
	for c, err := range chunksFrom(r, p.cfg.Workspace, d.ID, 0) {
		if err != nil {
			return nil, err
		}
		w.gone = append(w.gone, p.wordingOf(&c))
	}
	return w, nil
}

// stagePostings changes the postings of a document's chunks. It comes before the chunks themselves.
func (p *Pipeline) stagePostings(b *kv.Batch, doc string, w *rewording) error {
	x, g, err := p.createPostings(b)
	if err != nil {
		return fmt.Errorf("index: postings: %w", err)
	}
	if !g.Covers(doc) {
		return nil
	}
	for _, c := range w.gone {
		removed, err := x.Remove(b, c.id, c.terms)
		if err == nil && !removed {
			err = fmt.Errorf("%w: chunk %s has no postings", kv.ErrCorrupt, c.id)
		}
		if err != nil {
			return fmt.Errorf("index: postings: %w", err)
		}
	}
	for _, c := range w.come {
		if err := x.Add(b, c.id, c.terms); err != nil {
			return fmt.Errorf("index: postings: %w", err)
		}
	}
	return nil
}

// foldPostings does the work that commits left to do, where there is enough of it and nobody is at it. It changes nothing
// but how fast searches are: an error is told to the log, and the next commit tries again.
func (p *Pipeline) foldPostings(ctx context.Context) {
	if !p.tending.TryLock() {
		return
	}
	defer p.tending.Unlock()
	if err := p.fold(ctx); err != nil && ctx.Err() == nil {
		p.cfg.Logger.Warn("index: folding postings", "error", err)
	}
}

// changePostings is the kind of commits that change no logical state but postings.
const changePostings = "postings"

func (p *Pipeline) fold(ctx context.Context) error {
	for {
		f, err := p.planFold()
		if err != nil || f == nil {
			return err
		}
		done := false
		_, err = p.cfg.Updater.Update(ctx, changePostings, nil, func(b *kv.Batch) (err error) {
			done, err = f.Stage(b)
			return err
		})
		if err != nil || !done { // somebody changed what was read: the next commit folds
			return err
		}
	}
}

// CompactPostings moves the items of epochs of postings of which most are gone together, a thousand or so a commit. It reads
// their texts, and returns at once while not every chunk is covered (Tend).
func (p *Pipeline) CompactPostings(ctx context.Context) error {
	p.tending.Lock()
	defer p.tending.Unlock()
	from, done := uint32(0), false
	for !done {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if from, done, err = p.moveSparse(ctx, from); err != nil {
			return fmt.Errorf("index: compact postings: %w", err)
		}
	}
	return p.fold(ctx)
}

// moveSparse moves the items of some epochs from one on. An item whose chunk was changed meanwhile has left its place.
func (p *Pipeline) moveSparse(ctx context.Context, from uint32) (next uint32, done bool, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	x, g, err := p.postingsOf(view)
	if err != nil || x == nil || !g.Whole {
		return 0, true, err
	}
	places, next, done, err := x.Sparse(view, from)
	if err != nil || len(places) == 0 {
		return next, done, err
	}
	terms := make([][]postings.Term, len(places))
	for i, at := range places {
		c, err := chunkNamed(view, p.cfg.Workspace, at.ID)
		if err != nil {
			return 0, false, err
		}
		terms[i] = p.wordingOf(&c).terms
	}
	_, err = p.cfg.Updater.Update(ctx, changePostings, nil, func(b *kv.Batch) error {
		x, _, err := p.postingsOf(b)
		if err != nil || x == nil {
			return err
		}
		for i, at := range places {
			if _, err := x.Move(b, at, terms[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return next, done, err
}

func (p *Pipeline) planFold() (_ *postings.Folding, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	x, _, err := p.postingsOf(view)
	if err != nil || x == nil {
		return nil, err
	}
	if due, err := x.Due(view); err != nil || !due {
		return nil, err
	}
	return x.PlanFold(view)
}
