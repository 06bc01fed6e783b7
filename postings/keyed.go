package postings

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Keyed is an inverted index with a key for every posting, for items that change often and a little at a time: what an item
// holds more or less than before is all that is written. A search reads every posting of its terms, one key each: an Index,
// whose items come and go as a whole, is smaller and searched faster by far.
//
// It is a handle and holds no view; safe for concurrent use on snapshots. What is stored depends on the items alone, not
// on how they came to be.
type Keyed struct{ x *Index }

// keyedLayout numbers the meaning of the keys of a Keyed index.
const keyedLayout = 2

// CreateKeyed is Create for a Keyed index.
func CreateKeyed(b *kv.Batch, ws, name string, cfg Config) (*Keyed, error) {
	if name == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) {
		return nil, &InvalidError{Field: "name", Reason: fmt.Sprintf("want 1 to %d bytes of UTF-8", MaxNameBytes)}
	}
	have, err := OpenKeyed(b, ws, name)
	switch {
	case err == nil && have.x.cfg != cfg:
		return nil, &ConfigError{Name: name, Have: have.x.cfg, Want: cfg}
	case err == nil:
		return have, nil
	case !errors.Is(err, kv.ErrNotFound):
		return nil, err
	}
	k := &Keyed{handle(ws, name, cfg)}
	if err := b.Set(k.x.key(kindConfig, 0), cfg.encode(keyedLayout)); err != nil {
		return nil, k.x.failed("create", err)
	}
	if err := b.Set(k.x.key(kindCounters, 0), keyedCounters{}.encode()); err != nil {
		return nil, k.x.failed("create", err)
	}
	k.staged(b).changes = nil
	return k, nil
}

// OpenKeyed returns the index of that name, or an error that is kv.ErrNotFound.
func OpenKeyed(r kv.Reader, ws, name string) (*Keyed, error) {
	x := handle(ws, name, Config{})
	v, err := r.Get(x.key(kindConfig, 0))
	if err == nil {
		x.cfg, err = decodeConfig(v, keyedLayout)
	}
	if err != nil {
		return nil, x.failed("open", err)
	}
	return &Keyed{x}, nil
}

// Drop stages the removal of the index with everything in it, at the cost of one range delete.
func (k *Keyed) Drop(b *kv.Batch) error {
	if err := b.DeleteRange(k.x.prefix, codec.PrefixEnd(k.x.prefix)); err != nil {
		return k.x.failed("drop", err)
	}
	k.staged(b).changes = nil
	return nil
}

// Config is what the index was created with.
func (k *Keyed) Config() Config { return k.x.cfg }

// SetMark stages bytes of the owner's, which go with the index.
func (k *Keyed) SetMark(b *kv.Batch, mark []byte) error { return k.x.SetMark(b, mark) }

// Mark returns what SetMark stored last; nil when it never did.
func (k *Keyed) Mark(r kv.Reader) ([]byte, error) { return k.x.Mark(r) }

// KeyedStats are the counters of a Keyed index.
type KeyedStats struct {
	Items  int `json:"items"`
	Length int `json:"length"` // of all items, in terms
}

// Stats costs one get.
func (k *Keyed) Stats(r kv.Reader) (KeyedStats, error) {
	c, err := k.readCounters(r)
	if err != nil {
		return KeyedStats{}, k.x.failed("stats", err)
	}
	return KeyedStats{Items: int(c.items), Length: int(c.length)}, nil
}

// Has reports whether an item is stored. It costs one get.
func (k *Keyed) Has(r kv.Reader, id string) (bool, error) {
	if err := k.settle(r); err != nil {
		return false, err
	}
	_, err := r.Get(k.itemKey(id))
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, k.x.failed("item", err)
	}
	return true, nil
}

// Terms returns the terms that begin with prefix, in byte order, at most limit of them; more tells that there are others.
// It costs a seek a term.
func (k *Keyed) Terms(ctx context.Context, r kv.Reader, prefix string, limit int) (terms []string, more bool, err error) {
	if err := k.settle(r); err != nil {
		return nil, false, err
	}
	lower := codec.AppendKeyString(k.x.key(kindPosting, len(prefix)+8), prefix)
	lower = lower[:len(lower)-len(codec.AppendKeyString(nil, ""))] // without the end of the string
	c, err := r.Cursor(lower, codec.PrefixEnd(lower))
	if err != nil {
		return nil, false, k.x.failed("terms", err)
	}
	defer c.Close()
	for ok := c.First(); ok; ok = c.SeekGE(codec.PrefixEnd(k.termKey(terms[len(terms)-1]))) {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if len(terms) == limit {
			return terms, true, nil
		}
		term, _, err := k.postingOf(c.Key())
		if err != nil {
			return nil, false, k.x.failed("terms", err)
		}
		terms = append(terms, term)
	}
	if err := c.Err(); err != nil {
		return nil, false, k.x.failed("terms", err)
	}
	return terms, false, nil
}

// Keys of a Keyed index beside c and m, which are as in an Index; its prefix is of the same form.
const (
	kindPosting byte = 'q' // by term and id -> count
	kindLength  byte = 'l' // by id -> length
)

func (k *Keyed) itemKey(id string) []byte { return append(k.x.key(kindLength, len(id)), id...) }

// termKey is the prefix of the postings of a term.
func (k *Keyed) termKey(term string) []byte {
	return codec.AppendKeyString(k.x.key(kindPosting, len(term)+6), term)
}

// postingOf reads a key of a posting. id aliases the key.
func (k *Keyed) postingOf(key []byte) (term string, id []byte, err error) {
	term, id, err = codec.KeyString(key[len(k.x.prefix)+1:])
	if err == nil && (term == "" || len(id) == 0) {
		err = errors.New("posting key")
	}
	return term, id, corrupt(err)
}

// keyedCounters are what key k of a Keyed index holds.
type keyedCounters struct{ items, length uint64 }

func (c keyedCounters) encode() []byte {
	return codec.AppendUvarint(codec.AppendUvarint(nil, c.items), c.length)
}

func decodeKeyedCounters(v []byte) (keyedCounters, error) {
	r := codec.NewReader(v)
	c := keyedCounters{items: r.Uvarint(), length: r.Uvarint()}
	return c, corrupt(r.Done())
}

func (k *Keyed) readCounters(r kv.Reader) (keyedCounters, error) {
	if err := k.settle(r); err != nil {
		return keyedCounters{}, err
	}
	return k.storedCounters(r)
}

func (k *Keyed) storedCounters(r kv.Reader) (keyedCounters, error) {
	v, err := r.Get(k.x.key(kindCounters, 0))
	if err != nil {
		return keyedCounters{}, err
	}
	return decodeKeyedCounters(v)
}

// decodeNumber reads a count or a length: from least up.
func decodeNumber(v []byte, least uint64) (uint32, error) {
	r := codec.NewReader(v)
	n := r.Uvarint()
	if r.Err() == nil && (n < least || n > maxLength) {
		r.Fail("number")
	}
	return uint32(n), corrupt(r.Done())
}
