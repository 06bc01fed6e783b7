package oplog

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Decoder builds an index from its persisted form. Each method consumes what its counterpart encoded; the
// bytes are valid during the call. Errors are reported as kv.ErrCorrupt.
type Decoder interface {
	// Header consumes what State.Header returned. It comes first.
	Header(in *codec.Reader) error
	// Element consumes one element of the checkpoint.
	Element(in *codec.Reader) error
	// Operation consumes one operation of the log.
	Operation(in *codec.Reader) error
	// Finish checks the whole. It comes last.
	Finish() error
}

// Load reads what is stored and lets the log go on from there. It reports the first ordinal that was not fed, and
// whether anything was stored. Damage is kv.ErrCorrupt; the log is then as new.
func (l *Log) Load(r kv.Reader, d Decoder) (fed uint64, found bool, err error) {
	v, err := r.Get(l.key(kindHeader))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("oplog: load: %w", err)
	}
	h, err := l.openHeader(v, d.Header)
	if err != nil {
		return 0, false, err
	}
	for i := range h.parts {
		if err := value(r, l.numbered(kindPart, h.epoch, int(i)), d.Element); err != nil {
			return 0, false, err
		}
	}
	for i := range h.records {
		if err := value(r, l.numbered(kindRecord, h.epoch, int(i)), d.Operation); err != nil {
			return 0, false, err
		}
	}
	if err := d.Finish(); err != nil {
		return 0, false, corrupt("%w", err)
	}
	l.rewrite, l.erase = false, false
	l.epoch, l.parts, l.records, l.fed = h.epoch, int(h.parts), int(h.records), h.fed
	l.written.Store(int64(h.written))
	l.logged.Store(int64(h.logged))
	return h.fed, true, nil
}

// openHeader tells a form of another version, whose checksums may be others, from a damaged one.
func (l *Log) openHeader(v []byte, rest func(*codec.Reader) error) (header, error) {
	in := codec.NewReader(v)
	if version := in.Uvarint(); in.Err() == nil && version != l.o.Version {
		return header{}, corrupt("header: version %d, not %d", version, l.o.Version)
	}
	key := l.key(kindHeader)
	v, err := codec.Unseal(key, v)
	if err != nil {
		return header{}, corrupt("%w", err)
	}
	return l.decodeHeader(v, rest)
}

func (l *Log) decodeHeader(v []byte, rest func(*codec.Reader) error) (h header, err error) {
	in := codec.NewReader(v)
	for _, f := range h.fields() {
		if *f = in.Uvarint(); *f > maxField {
			return h, corrupt("header: field of %d", *f)
		}
	}
	if err := in.Err(); err != nil {
		return h, corrupt("header: %w", err)
	}
	if err := errors.Join(rest(in), in.Done()); err != nil {
		return h, corrupt("header: %w", err)
	}
	return h, nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("oplog: load: %w: "+format, append([]any{kv.ErrCorrupt}, args...)...)
}

// value decodes what is stored under key.
func value(r kv.Reader, key []byte, decode func(*codec.Reader) error) error {
	v, err := r.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return corrupt("key %x is missing", key)
	}
	if err != nil {
		return fmt.Errorf("oplog: load: %w", err)
	}
	if v, err = codec.Unseal(key, v); err != nil {
		return corrupt("%w", err)
	}
	in := codec.NewReader(v)
	for in.Len() > 0 {
		if err := decode(in); err != nil {
			return corrupt("key %x: %w", key, err)
		}
	}
	if err := in.Done(); err != nil {
		return corrupt("key %x: %w", key, err)
	}
	return nil
}
