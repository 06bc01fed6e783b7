package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// MaxWorkspaceName is the longest name of a workspace, in bytes: it begins every key of the workspace.
const MaxWorkspaceName = 256

// changeDrop is the kind of change record that DropWorkspace writes.
const changeDrop = "drop-workspace"

// Workspace returns a handle on a workspace of the database: a database of its own inside the same directory, with its
// own documents, graphs, collections, key-value spaces, caches of replies, models that its documents are bound to, and
// counters. Everything that takes a *DB works in it. Nothing of one workspace is ever seen in another.
//
// A name is valid UTF-8 of at most MaxWorkspaceName bytes; names are equal when their bytes are. "" is the default
// workspace. Others are an *OptionError. A handle costs nothing, and any number may be had: those of one name
// share what memory holds. A workspace is read into memory by the first call that works in it, in time and memory
// proportional to its vectors, and is there, for Workspaces, from its first write until it is dropped.
//
// What concerns the store is the same through every handle: LSN, Changes, TruncateChanges, Compact, Settle, Metrics.
// Close of a handle ends that handle; only Close of the DB that Open returned closes the database. Documents that wait
// in a workspace are worked on by calls of Process through its handles alone.
func (d *DB) Workspace(name string) (*DB, error) {
	if err := checkWorkspace("name", name); err != nil {
		return nil, err
	}
	if d.closed.Load() || d.life.ctx.Err() != nil {
		return nil, ErrClosed
	}
	return &DB{core: d.core, name: name}, nil
}

// WorkspaceName is the name of the workspace that the methods of d work in.
func (d *DB) WorkspaceName() string { return d.name }

func checkWorkspace(field, name string) error {
	if len(name) > MaxWorkspaceName || !utf8.ValidString(name) {
		return &OptionError{Field: field, Value: brief.Quote(name), Want: fmt.Sprintf("the name of a workspace: UTF-8 of at most %d bytes", MaxWorkspaceName)}
	}
	return nil
}

// Workspaces yields the names of the workspaces that hold anything, the default one ("") included, in order of their
// bytes, of one view. It costs one seek a workspace.
func (d *DB) Workspaces(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, leave, err := d.visit(ctx, "Workspaces", reads)
		if err != nil {
			yield("", err)
			return
		}
		defer leave()
		if err := d.eachWorkspace(ctx, func(name string) bool { return yield(name, nil) }); err != nil {
			yield("", because(ctx, err))
		}
	}
}

// eachWorkspace calls f with every workspace until it returns false.
func (d *DB) eachWorkspace(ctx context.Context, f func(name string) bool) error {
	snap, err := d.log.View()
	if err != nil {
		return err
	}
	defer snap.Close()
	lower, upper := space.Workspaces()
	c, err := snap.Cursor(lower, upper)
	if err != nil {
		return err
	}
	defer c.Close()
	for ok := c.First(); ok; {
		name, err := space.WorkspaceOf(c.Key())
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f(name) {
			return nil
		}
		ok = c.SeekGE(codec.PrefixEnd(space.Prefix(name)))
	}
	return c.Err()
}

// DropWorkspace removes a workspace with all that it holds, in one commit whose cost does not depend on how much that
// is; after a kill it is wholly there or wholly gone. The default workspace is emptied in the same way. The error is
// ErrNotFound when the workspace holds nothing.
//
// Calls that run in the workspace and write, analyze or ask a question, end with ErrDropped; what they have not committed is
// not committed any more. Calls that read a view taken before (View, Dump, Export, Check, loops over Documents) go on
// and see what there was. Later calls, also through handles had before, work in a fresh, empty workspace, which may be
// bound to other models. Do not call it inside an Update.
func (d *DB) DropWorkspace(ctx context.Context, name string) error {
	if err := checkWorkspace("name", name); err != nil {
		return err
	}
	if err := given(ctx); err != nil {
		return err
	}
	if d.opts.ReadOnly {
		return fmt.Errorf("db: drop workspace %s: %w", brief.Quote(name), ErrReadOnly)
	}
	w, end, err := d.begin(name, "", reads)
	if err != nil {
		return err
	}
	defer end()
	ctx, release := living(ctx, d.life.ctx)
	defer release()
	if err := w.lock(ctx); err != nil {
		return because(ctx, err)
	}
	defer w.unlock()
	if err := d.drop(ctx, w); err != nil {
		return because(ctx, fmt.Errorf("db: drop workspace %s: %w", brief.Quote(name), err))
	}
	return nil
}

// drop is called with the lock of w held: nobody reads the workspace into memory meanwhile.
func (d *DB) drop(ctx context.Context, w *workspace) error {
	_, err := d.log.Workspace(w.name).Update(ctx, changeDrop, nil, func(b *kv.Batch) error {
		bound, err := readStamp(b, w.name)
		if err != nil {
			return err
		}
		empty, err := holdsNothing(b, w.name)
		if err != nil {
			return err
		}
		if empty && bound == (stamp{Format: bound.Format}) {
			return ErrNotFound
		}
		if err := errors.Join(d.vectors.DropWorkspace(b, w.name), clearWorkspace(b, w.name)); err != nil {
			return err
		}
		b.OnCommit(func(kv.LSN) {
			if s := d.life.present(w); s != nil {
				s.end(ErrDropped)
				d.life.keep(w, nil)
			}
		})
		return nil
	})
	return err
}

// holdsNothing reports whether a workspace has no key of its own.
func holdsNothing(r kv.Reader, ws string) (bool, error) {
	prefix := space.Prefix(ws)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return false, err
	}
	some := c.First()
	return !some, errors.Join(c.Err(), c.Close())
}

// clearWorkspace removes all keys of a workspace, and what the stamp tells of it.
func clearWorkspace(b *kv.Batch, ws string) error {
	prefix := space.Prefix(ws)
	if err := b.DeleteRange(prefix, codec.PrefixEnd(prefix)); err != nil {
		return err
	}
	if ws != "" {
		return nil
	}
	s, err := readStamp(b, ws)
	if err != nil {
		return err
	}
	return writeStamp(b, ws, stamp{Format: s.Format})
}
