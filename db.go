package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/vector/ivf"
	"github.com/glimdb/db/wal"
)

// DB is an open database: a handle on one of its workspaces. Safe for any number of goroutines.
type DB struct {
	*core
	name   string // of the workspace
	root   bool   // returned by Open
	closed atomic.Bool
}

// Open opens the database in directory path, creating it when absent. It reads the vectors of the workspace
// Options.Workspace into memory, in time and memory proportional to them, and rebuilds nothing. Options are checked
// before the directory is touched.
//
// Errors: one *OptionError (ErrOption) for each option out of range, joined; ErrLocked within a second;
// ErrFormat for a directory of another program or version, which is left as it is; ErrCorrupt; ErrDiskFull;
// ErrReadOnly for a read-only opening of a database that must be cleaned up first; fs.ErrNotExist for one
// of a database that is not there. Models other than the stored ones are no error of Open: the database
// can be read, and what needs the models (insert, put, process, delete, every query but bypass, the load of
// documents) fails with ErrMismatch.
func Open(path string, opts ...Option) (*DB, error) {
	var o Options
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	d, err := prepare(path, o)
	if err != nil {
		return nil, fmt.Errorf("db: open: %w", err)
	}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("db: open %s: %w", path, errors.Join(err, d.release()))
	}
	return d, nil
}

// prepare checks all options.
func prepare(path string, o Options) (*DB, error) {
	o, err := o.withDefaults()
	c := &core{opts: o, path: path, life: newLife(), limits: newLimits(o)}
	models, merr := newModels(o, &state{core: c, name: o.Workspace})
	if path == "" {
		err = errors.Join(&OptionError{Field: "path", Value: `""`, Want: "a directory"}, err)
	}
	if err := errors.Join(err, merr); err != nil {
		return nil, err
	}
	c.configured = models.names()
	return &DB{core: c, name: o.Workspace, root: true}, nil
}

func (d *DB) open() (err error) {
	o := d.opts
	d.store, err = kv.Open(d.path, kv.Options{FS: o.FS, ReadOnly: o.ReadOnly, CacheBytes: o.CacheBytes, RowBytes: o.CacheBytes,
		MemTableBytes: o.MemTableBytes, Logger: o.Logger})
	if err != nil {
		return err
	}
	if d.log, err = wal.Open(d.store, o.Now); err != nil {
		return err
	}
	if err = d.checkFormat(d.life.ctx); err != nil {
		return err
	}
	set := vector.SetOptions{NewIndex: newIndex, Oldest: d.store.OldestLSN, Store: d.store, ExactBytes: o.Vectors.ExactBytes,
		MemoryBytes: o.Vectors.MemoryBytes, RecallSample: o.Vectors.RecallSample, Logger: o.Logger}
	if !o.ReadOnly {
		set.Update = d.log.Update
	}
	if d.vectors, err = vector.OpenSet(nil, set); err != nil {
		return err
	}
	_, _, leave, err := d.enter(d.life.ctx, reads)
	if err != nil {
		return err
	}
	leave()
	return nil
}

// newIndex makes the index that a collection's configuration names.
func newIndex(o vector.IndexOptions) vector.Index {
	if o.Config.Kind == vector.IVF {
		return ivf.Factory(o)
	}
	return hnsw.Factory(o)
}

// Close ends the waits of running calls, waits for the calls and for background work, and releases the
// directory. Code of the caller that runs inside a call (the function of a View, the body of a loop over
// Documents, Check or Changes, a writer or reader of a dump) cannot be ended: Close waits a second for it,
// then ends the views that are left open and names them in its error; their next step fails with ErrClosed.
// The function of an Update is waited for: do not call Close in it. Close is idempotent; calls at the same
// time wait for the first, which alone returns an error. Every later call of another method, through whatever
// handle, returns ErrClosed.
//
// Close of a handle that Workspace returned ends that handle and nothing else: its later calls return ErrClosed, the
// running ones go on. Once no call runs in its workspace, through whatever handle, what memory holds of the workspace is
// released; a later call through another handle reads it in again.
func (d *DB) Close() (err error) {
	if !d.root {
		if !d.closed.Swap(true) {
			d.retire(d.name)
		}
		return nil
	}
	d.close.Do(func() {
		if err = errors.Join(d.life.end(), d.release()); err != nil {
			err = fmt.Errorf("db: close %s: %w", d.path, err)
		}
	})
	return err
}

// release closes what open got, in reverse order: the indexes first, which write through the log; then the
// log, which lets commits under way have their outcome; then what both write to.
func (d *DB) release() error {
	d.life.cancel(ErrClosed)
	var errs []error
	if d.vectors != nil {
		errs = append(errs, d.vectors.Close())
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}

// LSN is the number of the last commit.
func (d *DB) LSN() kv.LSN { return d.log.LSN() }

// Changes yields the change records of the durable commits after since, oldest first, and ends when it has
// caught up; 0 is the beginning. LSNs have no gaps: commits that change no logical state are there, too, such
// as those of model replies (kind "cache"). An error comes last: ErrTruncated, ErrAhead, those of ctx and of
// reading.
func (d *DB) Changes(ctx context.Context, since kv.LSN) iter.Seq2[wal.Change, error] {
	return func(yield func(wal.Change, error) bool) {
		ctx, leave, err := d.visit(ctx, "Changes", reads)
		if err != nil {
			yield(wal.Change{}, err)
			return
		}
		defer leave()
		for c, err := range d.log.Changes(ctx, since) {
			if !yield(c, because(ctx, err)) {
				return
			}
		}
	}
}

// TruncateChanges drops the change records of the commits up to and with upTo, at a cost that does not depend
// on their number. Nothing else is lost with them.
func (d *DB) TruncateChanges(ctx context.Context, upTo kv.LSN) error {
	ctx, leave, err := d.visit(ctx, "TruncateChanges", writes)
	if err != nil {
		return err
	}
	defer leave()
	return because(ctx, d.log.Truncate(ctx, upTo))
}

// Settle waits until the vector indexes of the workspaces in memory have taken in every committed vector, and full-text
// search of this workspace every chunk and, with Index.EntityWords, every entity, and until what models said to its questions is
// stored. Searches are exact about what is committed without it; it only moves the
// work. In a store from before there was full-text search, or of another Index.TextLanguage, queries do without it until then.
func (d *DB) Settle(ctx context.Context) error {
	ctx, s, leave, err := d.enter(ctx, reads)
	if err != nil {
		return err
	}
	defer leave()
	if err := d.vectors.Settle(ctx); err != nil || d.opts.ReadOnly {
		return because(ctx, err)
	}
	if err := s.settleLate(ctx); err != nil {
		return because(ctx, err)
	}
	return because(ctx, s.pipe.Tend(ctx))
}

// Compact gives back what deleted and replaced data still takes, in memory and on disk: vectors of the workspaces in
// memory as vector.Collection.Compact does, postings of this workspace, then every key of every workspace. It costs reading and writing the whole database once, beside
// other work, and a copy of the largest collection in memory. What open views show stays. It is never needed:
// the same happens bit by bit.
func (d *DB) Compact(ctx context.Context) error {
	ctx, s, leave, err := d.enter(ctx, writes)
	if err != nil {
		return err
	}
	defer leave()
	if d.opts.ReadOnly {
		return fmt.Errorf("db: compact: %w", ErrReadOnly)
	}
	if err := d.vectors.Compact(ctx); err != nil {
		return because(ctx, err)
	}
	if err := s.pipe.CompactPostings(ctx); err != nil {
		return because(ctx, err)
	}
	_, behind := space.Workspaces() // store-wide keys are before
	return because(ctx, d.store.Compact(ctx, nil, behind))
}

// Models tells which models are in use; Stats tells those of the stored documents, too.
func (d *DB) Models() ModelInfo {
	if s := d.life.inMemory(d.name); s != nil {
		return s.models.names()
	}
	return d.configured
}
