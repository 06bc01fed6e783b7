package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// core is what all handles of one Open share.
type core struct {
	opts    Options
	path    string
	store   *kv.Store
	log     *wal.Log
	vectors *vector.Set // of the workspaces in memory
	limits  limits
	life    *life
	// configured are the models that a workspace begins with.
	configured ModelInfo
	close      sync.Once
}

// state is what memory holds of one workspace. It is made when the workspace is first used, and ends when that is
// dropped or memory lets go of it; a workspace that is used again afterwards has another one.
type state struct {
	*core
	name   string
	models *models
	pipe   *index.Pipeline
	engine *query.Engine

	clusters *cluster.Layer
	late     *late

	ctx    context.Context // ends with the state, with its cause, or with ErrClosed when Close of the database begins
	cancel context.CancelCauseFunc
	gone   atomic.Pointer[error] // why the state has ended; nil: it has not
}

// newState makes the models of a workspace. It reads nothing. Errors: one *OptionError for each option out of range,
// joined.
func (c *core) newState(name string) (*state, error) {
	s := &state{core: c, name: name, late: newLate()}
	s.ctx, s.cancel = context.WithCancelCause(c.life.ctx)
	var err error
	if s.models, err = newModels(c.opts, s); err != nil {
		s.cancel(nil)
		return nil, err
	}
	return s, nil
}

// open reads the workspace into memory. No other call uses it yet.
func (s *state) open(ctx context.Context) error {
	if err := s.endLoading(ctx); err != nil {
		return err
	}
	snap, err := s.log.View()
	if err != nil {
		return err
	}
	if err := errors.Join(s.vectors.Load(snap, s.name), snap.Close()); err != nil {
		return err
	}
	if err := s.openClusters(); err != nil {
		return err
	}
	if err := s.wire(); err != nil {
		return err
	}
	if err := s.tend(); err != nil {
		return err
	}
	s.tendClusters()
	s.watchClusters()
	return nil
}

func (s *state) wire() (err error) {
	o := s.opts
	s.pipe, err = index.New(index.Config{
		Updater: s, Vectors: s.vectors, Workspace: s.name,
		Extractor: s.models.extractor, Summarizer: s.models.summarizer,
		Embedder: s.models.embedder, Tokenizer: s.models.tokenizer,
		Layout: vector.Config{Kind: o.Vectors.Kind, Quantization: o.Vectors.Quantization,
			M: o.Vectors.M, EfConstruction: o.Vectors.EfConstruction,
			ExtendCandidates: o.Vectors.ExtendCandidates, KeepPruned: o.Vectors.KeepPruned},
		Admit: s.stampModels, Options: o.Index, Now: o.Now, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	s.engine, err = query.New(query.Config{
		View: s.log.View, Vectors: s.vectors, Workspace: s.name,
		Embedder: s.models.embedder, Tokenizer: s.models.tokenizer,
		Keyworder: s.models.keyworder, Keyword: s.models.keyword, Language: o.Language,
		Answer: s.models.answer, Reranker: s.models.reranker, Views: s.pipe, Clusters: s.clusters.Current, TextLanguage: o.Index.TextLanguage,
		KeywordCache: s.models.keywords, AnswerCache: s.models.answers,
		Defaults: o.Query, Now: o.Now, Logger: o.Logger,
	})
	return err
}

// Update implements index.Updater: every write of a workspace is one. A call that goes on after the workspace was
// dropped must not write into the one that may be there since; whether it was is decided in the writer turn.
func (s *state) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	return s.log.Workspace(s.name).Update(ctx, kind, ids, func(b *kv.Batch) error {
		if why := s.gone.Load(); why != nil {
			return *why
		}
		return fn(b)
	})
}

// View implements index.Updater.
func (s *state) View() (*kv.Snapshot, error) { return s.log.View() }

// end refuses writes from now on and ends the waits of running calls.
func (s *state) end(why error) {
	s.gone.Store(&why)
	s.cancel(why)
}

// state returns what memory holds of w, reading it in when there is nothing. The caller's call counts in w.
func (c *core) state(ctx context.Context, w *workspace) (*state, error) {
	if s := c.life.present(w); s != nil {
		return s, nil
	}
	ctx, release := living(ctx, c.life.ctx)
	defer release()
	if err := w.lock(ctx); err != nil {
		return nil, because(ctx, err)
	}
	defer w.unlock()
	if s := c.life.present(w); s != nil {
		return s, nil
	}
	s, err := c.newState(w.name)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.cancel(nil)
		return nil, because(ctx, fmt.Errorf("db: %w", err))
	}
	c.life.keep(w, s)
	return s, nil
}

var _ index.Updater = (*state)(nil)
