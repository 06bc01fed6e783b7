package postings

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Config is fixed when an index is created.
type Config struct {
	// Analyser names what makes terms of texts. Items that another one read do not belong in the same index.
	Analyser string
}

// Index is a handle on one named index of a workspace. It holds no view: every call names the reader or batch to work
// on. Safe for concurrent use.
type Index struct {
	name   string
	prefix []byte // of all its keys; never written after construction
	cfg    Config
}

func handle(ws, name string, cfg Config) *Index {
	p := codec.AppendKeyString(space.In(ws, space.Posting), name)
	return &Index{name: name, prefix: p[:len(p):len(p)], cfg: cfg}
}

// Name is the index's name.
func (x *Index) Name() string { return x.name }

// Config is what the index was created with.
func (x *Index) Config() Config { return x.cfg }

// Create stages a new, empty index. If one of that name exists with the same configuration it is returned; with
// another, the error is a *ConfigError.
func Create(b *kv.Batch, ws, name string, cfg Config) (*Index, error) {
	if name == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) {
		return nil, &InvalidError{Field: "name", Reason: fmt.Sprintf("want 1 to %d bytes of UTF-8", MaxNameBytes)}
	}
	have, err := Open(b, ws, name)
	switch {
	case err == nil && have.cfg != cfg:
		return nil, &ConfigError{Name: name, Have: have.cfg, Want: cfg}
	case err == nil:
		return have, nil
	case !errors.Is(err, kv.ErrNotFound):
		return nil, err
	}
	x := handle(ws, name, cfg)
	if err := b.Set(x.key(kindConfig, 0), cfg.encode(layout)); err != nil {
		return nil, x.failed("create", err)
	}
	s := x.staged(b)
	s.reset()
	s.loaded, s.dirty = true, true
	return x, nil
}

// Open returns the index of that name, or an error that is kv.ErrNotFound.
func Open(r kv.Reader, ws, name string) (*Index, error) {
	x := handle(ws, name, Config{})
	v, err := r.Get(x.key(kindConfig, 0))
	if err == nil {
		x.cfg, err = decodeConfig(v, layout)
	}
	if err != nil {
		return nil, x.failed("open", err)
	}
	return x, nil
}

// Drop stages the removal of the index with everything in it, at the cost of one range delete.
func (x *Index) Drop(b *kv.Batch) error {
	if err := b.DeleteRange(x.prefix, codec.PrefixEnd(x.prefix)); err != nil {
		return x.failed("drop", err)
	}
	x.staged(b).reset()
	return nil
}

// SetMark stages bytes of the owner's, which go with the index.
func (x *Index) SetMark(b *kv.Batch, mark []byte) error {
	if err := b.Set(x.key(kindMark, 0), mark); err != nil {
		return x.failed("mark", err)
	}
	return nil
}

// Mark returns what SetMark stored last; nil when it never did.
func (x *Index) Mark(r kv.Reader) ([]byte, error) {
	v, err := r.Get(x.key(kindMark, 0))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, x.failed("mark", err)
	}
	return v, nil
}

// Stats are an index's counters.
type Stats struct {
	Items    int `json:"items"`
	Length   int `json:"length"`   // of all items, in terms
	Segments int `json:"segments"` // that a search looks into one by one
}

// Stats costs one get.
func (x *Index) Stats(r kv.Reader) (Stats, error) {
	c, err := x.readCounters(r)
	if err != nil {
		return Stats{}, x.failed("stats", err)
	}
	return Stats{Items: int(c.items), Length: int(c.length), Segments: int(c.segments)}, nil
}

// Has reports whether an item is stored. It costs one get.
func (x *Index) Has(r kv.Reader, id string) (bool, error) {
	_, ok, err := x.ordinalOf(r, id)
	return ok, err
}

func (x *Index) ordinalOf(r kv.Reader, id string) (o ordinal, ok bool, err error) {
	v, err := r.Get(x.idKey(id))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	if err == nil {
		o, err = decodeOrdinal(v)
	}
	if err != nil {
		return 0, false, x.failed("item", err)
	}
	return o, true, nil
}

// cursor opens a cursor over all keys of one kind.
func (x *Index) cursor(r kv.Reader, kind byte) (kv.Cursor, error) {
	lower := x.key(kind, 0)
	return r.Cursor(lower, codec.PrefixEnd(lower))
}

func (x *Index) readCounters(r kv.Reader) (counters, error) {
	if err := x.settle(r); err != nil {
		return counters{}, err
	}
	v, err := r.Get(x.key(kindCounters, 0))
	if err != nil {
		return counters{}, err
	}
	return decodeCounters(v)
}

func (x *Index) failed(what string, err error) error {
	return fmt.Errorf("postings: %s %s: %w", what, brief.Quote(x.name), err)
}
