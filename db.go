package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// defaultWorkspace is the workspace that the methods of DB work in.
const defaultWorkspace = ""

// DB is an open database. Safe for any number of goroutines.
type DB struct {
	opts    Options
	path    string
	store   *kv.Store
	log     *wal.Log
	vectors *vector.Set
	models  *models
	pipe    *index.Pipeline
	engine  *query.Engine

	// life ends when Close begins: background work and running calls see its context cancelled.
	life   context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // running calls, waited for by Close; Add only under mu with closed false
}

// Open opens the database in directory path, creating it when absent. It reads vectors into memory but
// rebuilds nothing. Errors: ErrLocked, ErrFormat, ErrMismatch, ErrCorrupt, ErrOption.
func Open(path string, opts ...Option) (*DB, error) {
	var o Options
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("db: open: %w", err)
	}
	d := &DB{opts: o, path: path}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("db: open %s: %w", path, errors.Join(err, d.release()))
	}
	return d, nil
}

func (d *DB) open() (err error) {
	o := d.opts
	d.life, d.cancel = context.WithCancel(context.Background())
	d.store, err = kv.Open(d.path, kv.Options{FS: o.FS, ReadOnly: o.ReadOnly, CacheBytes: o.CacheBytes,
		MemTableBytes: o.MemTableBytes, Logger: o.Logger})
	if err != nil {
		return err
	}
	if d.log, err = wal.Open(d.store, o.Now); err != nil {
		return err
	}
	if d.models, err = newModels(o, d.log); err != nil {
		return err
	}
	if err = d.checkFormat(d.life); err != nil {
		return err
	}
	snap, err := d.log.View()
	if err != nil {
		return err
	}
	set := vector.SetOptions{NewIndex: hnsw.Factory, Oldest: d.store.OldestLSN, Logger: o.Logger}
	if !o.ReadOnly {
		set.Update = d.log.Update
	}
	d.vectors, err = vector.OpenSet(snap, set)
	if err = errors.Join(err, snap.Close()); err != nil {
		return err
	}
	return d.wire()
}

func (d *DB) wire() (err error) {
	o := d.opts
	d.pipe, err = index.New(index.Config{
		Updater: d.log, Vectors: d.vectors, Workspace: defaultWorkspace,
		Extractor: d.models.extractor, Summarizer: d.models.summarizer,
		Embedder: d.models.embedder, Tokenizer: d.models.tokenizer,
		M: o.Vectors.M, EfConstruction: o.Vectors.EfConstruction,
		Options: o.Index, Now: o.Now, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	d.engine, err = query.New(query.Config{
		View: d.log.View, Vectors: d.vectors, Workspace: defaultWorkspace,
		Embedder: d.models.embedder, Tokenizer: d.models.tokenizer,
		Keyworder: d.models.keyworder, Keyword: d.models.keyword, Language: o.Language,
		Answer: d.models.answer, Reranker: d.models.reranker,
		KeywordCache: d.models.replies, AnswerCache: d.models.replies,
		Defaults: o.Query, Now: o.Now, Logger: o.Logger,
	})
	return err
}

// enter registers a running call; leave ends it. A context derived from both ctx and the database's life
// ends the call's waits when Close begins.
func (d *DB) enter(ctx context.Context) (context.Context, func(), error) {
	if err := d.begin(); err != nil {
		return nil, nil, err
	}
	ctx, end := d.living(ctx)
	return ctx, func() { end(); d.calls.Done() }, nil
}

// begin counts a running call; d.calls.Done ends it.
func (d *DB) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.calls.Add(1)
	return nil
}

// living returns ctx, ended with cause ErrClosed when Close begins; end releases it.
func (d *DB) living(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// Close ends running calls, waits for them and for background work, and releases the directory. It is
// idempotent; every later call of another method returns ErrClosed.
func (d *DB) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.calls.Wait()
	if err := d.release(); err != nil {
		return fmt.Errorf("db: close %s: %w", d.path, err)
	}
	return nil
}

// release closes what open got, in reverse order.
func (d *DB) release() error {
	var errs []error
	d.cancel()
	if d.vectors != nil {
		errs = append(errs, d.vectors.Close())
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}

// LSN is the number of the last commit.
func (d *DB) LSN() kv.LSN { return d.log.LSN() }

// Changes yields the change records of durable commits after since, oldest first, and ends when it has
// caught up.
func (d *DB) Changes(ctx context.Context, since kv.LSN) iter.Seq2[wal.Change, error] {
	return func(yield func(wal.Change, error) bool) {
		ctx, leave, err := d.enter(ctx)
		if err != nil {
			yield(wal.Change{}, err)
			return
		}
		defer leave()
		for c, err := range d.log.Changes(ctx, since) {
			if !yield(c, err) {
				return
			}
		}
	}
}

// Settle waits until the vector indexes have taken in every committed vector. Searches are exact about
// committed vectors without it; it only moves the work.
func (d *DB) Settle(ctx context.Context) error {
	ctx, leave, err := d.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return d.vectors.Settle(ctx)
}

// Models tells which models the database works with.
func (d *DB) Models() ModelInfo { return d.models.info }

var _ index.Updater = (*wal.Log)(nil)
