package db

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Tx is one transaction over key-value spaces, vector collections and graphs: all of it sees one state,
// and all its writes commit in one batch or not at all. It belongs to the function it was handed to, and to one
// workspace: none reaches two.
type Tx struct {
	s     *state
	ctx   context.Context
	r     kv.Reader
	b     *kv.Batch // nil in View
	ended bool
}

// View runs fn over one consistent state while writers go on. Its reads cost no lock. Every method of d but
// Close may be called inside; those that read see the state of their own call, which may be a later one.
func (d *DB) View(ctx context.Context, fn func(tx *Tx) error) (err error) {
	ctx, s, leave, err := d.host(ctx, "View", reads)
	if err != nil {
		return err
	}
	defer leave()
	snap, err := d.log.View()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	tx := &Tx{s: s, ctx: ctx, r: snap}
	defer func() { tx.ended = true }()
	return fn(tx)
}

// Update runs fn in the writer turn and commits what it wrote: all of it durable when Update returns nil,
// none of it when fn fails, panics, or ctx ends first. Reads inside fn see its own writes. Only one Update
// runs at a time: keep fn short and free of network calls.
//
// Inside fn, what writes waits for fn itself and must not be called: Update, Insert, Put, Enqueue, Process,
// Delete, Retry, TruncateChanges (they return when their own ctx ends, or never), Settle and Close. Load fails with
// ErrBusy. A Query that asks a model stores the reply, which is a write: it ends, but not before half a second
// after its ctx. Reads of d inside fn show the state before it.
func (d *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	ctx, s, leave, err := d.enter(ctx, writes)
	if err != nil {
		return err
	}
	defer leave()
	_, err = s.Update(ctx, changeUser, nil, func(b *kv.Batch) error {
		tx := &Tx{s: s, ctx: ctx, r: b, b: b}
		defer func() { tx.ended = true }()
		return fn(tx)
	})
	return because(ctx, err)
}

// changeUser is the kind of change record that Update writes.
const changeUser = "update"

// LSN is the commit this transaction reads.
func (tx *Tx) LSN() kv.LSN { return tx.r.LSN() }

func (tx *Tx) reader() (kv.Reader, error) {
	if tx.ended {
		return nil, fmt.Errorf("db: transaction has ended: %w", ErrClosed)
	}
	return tx.r, nil
}

func (tx *Tx) writer() (*kv.Batch, error) {
	if tx.ended {
		return nil, fmt.Errorf("db: transaction has ended: %w", ErrClosed)
	}
	if tx.b == nil {
		return nil, fmt.Errorf("db: write in View: %w", ErrReadOnly)
	}
	return tx.b, nil
}

// graphWriter is writer for the graph of that name, refusing the documents' own.
func (tx *Tx) graphWriter(name string) (*kv.Batch, error) {
	b, err := tx.writer()
	if err == nil && name == KnowledgeGraph {
		return nil, fmt.Errorf("db: write graph %s: %w", brief.Quote(name), ErrReserved)
	}
	return b, err
}

// vectorWriter is writer for the collection of that name, refusing the documents' own.
func (tx *Tx) vectorWriter(name string) (*kv.Batch, error) {
	b, err := tx.writer()
	if err == nil && (reservedCollection(name) || nextCollection(name)) {
		return nil, fmt.Errorf("db: write collection %s: %w", brief.Quote(name), ErrReserved)
	}
	return b, err
}

// KV returns the key-value space of that name. Spaces need not be created; names are any string.
func (tx *Tx) KV(name string) *KV {
	return &KV{tx: tx, prefix: codec.AppendKeyString(space.In(tx.s.name, space.User), name)}
}

// KV is an ordered key-value space inside a transaction.
type KV struct {
	tx     *Tx
	prefix []byte
}

func (s *KV) key(k []byte) []byte { return append(s.prefix[:len(s.prefix):len(s.prefix)], k...) }

// Get returns the value under key, or ErrNotFound. The slice is the caller's.
func (s *KV) Get(key []byte) ([]byte, error) {
	r, err := s.tx.reader()
	if err != nil {
		return nil, err
	}
	return r.Get(s.key(key))
}

// Put stores a copy of value under a copy of key. Values of 256 bytes and more are compressed when that
// pays.
func (s *KV) Put(key, value []byte) error {
	b, err := s.tx.writer()
	if err != nil {
		return err
	}
	return b.SetText(s.key(key), value)
}

// Delete removes key; an absent key is no error.
func (s *KV) Delete(key []byte) error {
	b, err := s.tx.writer()
	if err != nil {
		return err
	}
	return b.Delete(s.key(key))
}

// Item is a key and its value. Both slices belong to the iteration and die at its next step.
type Item struct{ Key, Value []byte }

// Scan yields the items with from <= key < to in key order; a nil bound is open. Writes made during the
// scan are not seen by it.
func (s *KV) Scan(from, to []byte) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		r, err := s.tx.reader()
		if err != nil {
			yield(Item{}, err)
			return
		}
		upper := codec.PrefixEnd(s.prefix)
		if to != nil {
			upper = s.key(to)
		}
		c, err := r.Cursor(s.key(from), upper)
		if err != nil {
			yield(Item{}, err)
			return
		}
		defer c.Close()
		for c.Next() {
			if !yield(Item{c.Key()[len(s.prefix):], c.Value()}, nil) {
				return
			}
		}
		if err := c.Err(); err != nil {
			yield(Item{}, err)
		}
	}
}
