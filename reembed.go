package db

import (
	"context"
	"errors"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// ReembedOptions are those of one Reembed call.
type ReembedOptions struct {
	// Embedder is the model to change to. It gets the retries, limits and caches of Options. nil: the one that
	// the database was opened with.
	Embedder llm.Embedder
	// Progress is called after each batch, one call at a time, on the caller's goroutine; nil: not.
	Progress func(index.ReembedProgress)
}

// Reembed changes the embedding model of the database, or its dimension: it makes the vectors of all chunks, entities
// and relations anew from what is stored. No other model is asked: nothing is extracted, summarised or answered.
//
// The old vectors stay what they were until one commit puts the new ones in their places. A database that was opened
// with the old model, and is given the new one here, answers queries and takes documents with the old model until
// that commit and with the new one after it; each query is of one side. A database opened with the new model can be read
// but not queried until then. From then on it must be opened with the new model.
//
// Each batch is durable. A call that ends early, by its context, a failing model or a kill, changes nothing that
// anybody sees; the next one with the same model goes on, and embeds only what is missing or was changed since. With
// another model it begins again; with the stored model it drops what was begun. Stats.Next tells of it. Disk and
// memory hold both sets of vectors meanwhile. At the end changes of documents wait for a look at all objects.
//
// Errors: *MismatchError when the tokenizer is not the stored one; ErrBusy beside another Reembed or a Load; *OptionError
// for an embedder of no or too many dimensions; what the model failed with.
func (d *DB) Reembed(ctx context.Context, o ReembedOptions) (index.ReembedResult, error) {
	if o.Embedder != nil {
		if err := checkDim("Embedder", o.Embedder); err != nil {
			return index.ReembedResult{}, err
		}
	}
	return writing(ctx, d, func(ctx context.Context, s *state) (index.ReembedResult, error) {
		next := s.models.next(o.Embedder, s.byteStore(CacheEmbed))
		if err := s.mayReembed(); err != nil {
			return index.ReembedResult{}, err
		}
		res, err := s.pipe.Reembed(ctx, next, index.ReembedOptions{Batch: d.opts.EmbedBatch * d.opts.ModelConcurrency, Progress: o.Progress, Commit: func(b *kv.Batch) error {
			if err := s.stampNext(b, next); err != nil {
				return err
			}
			b.OnCommit(func(kv.LSN) {
				s.models.use(next)
				s.engine.SetEmbedder(next)
			})
			return nil
		}})
		if errors.Is(err, index.ErrReembedding) {
			err = errors.Join(ErrBusy, err)
		}
		return res, err
	})
}

// mayReembed refuses another tokenizer than that of the stored counts.
func (s *state) mayReembed() error {
	snap, err := s.log.View()
	if err != nil {
		return err
	}
	bound, err := readStamp(snap, s.name)
	if err = errors.Join(err, snap.Close()); err != nil {
		return err
	}
	if given := s.models.names().Tokenizer; bound.Tokenizer != "" && bound.Tokenizer != given {
		return &MismatchError{"tokenizer", bound.Tokenizer, given}
	}
	return nil
}

// next is the embedder to change to, decorated: e, or without it the present one.
func (m *models) next(e llm.Embedder, cached llm.ByteStore) llm.Embedder {
	if e == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.embedder
	}
	chain := m.vectors
	chain.Store = cached
	return chain.Embedder(e)
}

// stampNext binds the workspace to another embedding model.
func (s *state) stampNext(b *kv.Batch, e llm.Embedder) error {
	bound, err := readStamp(b, s.name)
	if err != nil || bound.Embedder == "" {
		return err
	}
	bound.Embedder, bound.Dim = e.ID(), e.Dim()
	return writeStamp(b, s.name, bound)
}
