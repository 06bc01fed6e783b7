package oplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Kinds of keys under the prefix. The bytes are on disk.
const (
	kindHeader byte = 'h'
	kindPart   byte = 'c'
	kindRecord byte = 'o'
)

// Options are what a Log is told. PartBytes, CommitBytes and LogMin have defaults.
type Options struct {
	// Prefix begins every key.
	Prefix []byte
	// Persist is false when nothing will be drained: nothing is kept then.
	Persist bool
	// Version is that of the encoding of elements, operations and header; Load refuses any other. No two kinds of
	// index share one.
	Version uint64
	// PartBytes is the size from which a part is closed; 0 means 1 MiB.
	PartBytes int
	// CommitBytes is the size of parts from which a batch is closed, so that a checkpoint of any size stays
	// far below what one batch may hold; 0 means 8 MiB.
	CommitBytes int
	// LogMin is the size of the log up to which no checkpoint is written; 0 means 256 KiB.
	LogMin int64
}

// logShare is the part of the last checkpoint that the log may outgrow before another is written.
const logShare = 2

// maxField bounds what the header counts: no store gets there, and counting on from it cannot overflow.
const maxField = 1 << 62

// Log is the persisted form of one index.
type Log struct {
	o Options

	rewrite bool   // the next Drain writes a checkpoint; operations need not be kept
	erase   bool   // what is persisted is unknown: the next checkpoint begins by removing it
	dirty   bool   // there is something to write
	fed     uint64 // the first ordinal not fed
	epoch   uint64
	parts   int
	records int
	buf     []byte

	logged  atomic.Int64
	written atomic.Int64
}

// State is what a Log asks of the index whose form it keeps.
type State interface {
	// Header returns what the header carries besides what the log puts there.
	Header() []byte
	// Elements yields the encoded elements of a checkpoint, in the order in which Load decodes them. The slices
	// are copied. Operations kept afterwards apply to a state that was loaded from these elements.
	Elements() iter.Seq[[]byte]
}

// New returns the log of an empty index.
func New(o Options) *Log {
	if o.PartBytes == 0 {
		o.PartBytes = 1 << 20
	}
	if o.CommitBytes == 0 {
		o.CommitBytes = 8 << 20
	}
	if o.LogMin == 0 {
		o.LogMin = 256 << 10
	}
	return &Log{o: o, rewrite: true, erase: true}
}

// Take returns a log that goes on where l is; l must not be used afterwards.
func (l *Log) Take() *Log {
	next := &Log{o: l.o, rewrite: l.rewrite, erase: l.erase, dirty: l.dirty, fed: l.fed, epoch: l.epoch,
		parts: l.parts, records: l.records, buf: l.buf}
	next.logged.Store(l.logged.Load())
	next.written.Store(l.written.Load())
	return next
}

// Logged is the number of bytes in records since the last checkpoint. Safe for concurrent use.
func (l *Log) Logged() int64 { return l.logged.Load() }

// Written is the number of bytes of the last checkpoint. Safe for concurrent use.
func (l *Log) Written() int64 { return l.written.Load() }

// Skip notes that all ordinals up to ord were fed.
func (l *Log) Skip(ord uint64) {
	l.fed = max(l.fed, ord+1)
	l.dirty = true
}

// Lost says that drained writes may not have been committed.
func (l *Log) Lost() { l.rewrite, l.erase, l.dirty, l.buf = true, true, true, nil }

// limit is the size of the log from which a checkpoint costs less than going on.
func (l *Log) limit() int64 { return max(l.o.LogMin, l.written.Load()/logShare) }

// Keeps reports whether operations are kept; when not, a checkpoint comes next.
func (l *Log) Keeps() bool {
	if !l.o.Persist {
		return false
	}
	l.dirty = true
	if !l.rewrite && int64(len(l.buf)) > l.limit() {
		l.rewrite, l.buf = true, nil // a checkpoint is smaller than such a record
	}
	return !l.rewrite
}

// Op keeps an operation: its byte, then the values.
func (l *Log) Op(op byte, values ...uint64) {
	if !l.Keeps() {
		return
	}
	l.buf = append(l.buf, op)
	for _, v := range values {
		l.buf = codec.AppendUvarint(l.buf, v)
	}
}

// Floats keeps an operation: its byte, a value, then float32 values as AppendFloats encodes them.
func (l *Log) Floats(op byte, value uint64, floats []float32) {
	if l.Keeps() {
		l.Op(op, value)
		l.buf = AppendFloats(l.buf, floats)
	}
}

// AppendFloats appends float32 values, four little-endian bytes each, behind the number of bytes.
func AppendFloats(b []byte, floats []float32) []byte {
	b = codec.AppendUvarint(b, uint64(4*len(floats)))
	for _, f := range floats {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// put stages value under key, with its checksum.
func put(b *kv.Batch, key, value []byte) error {
	if err := b.Set(key, codec.Seal(key, value[:len(value):len(value)])); err != nil {
		return fmt.Errorf("oplog: save: %w", err)
	}
	return nil
}

func (l *Log) key(kind byte) []byte { return append(append([]byte(nil), l.o.Prefix...), kind) }

func (l *Log) numbered(kind byte, epoch uint64, n int) []byte {
	return codec.AppendKeyUint32(codec.AppendKeyUint64(l.key(kind), epoch), uint32(n))
}

// header is what is stored under kindHeader, before what the index adds.
type header struct {
	version, epoch  uint64
	parts, records  uint64
	written, logged uint64
	fed             uint64
}

func (h *header) fields() []*uint64 {
	return []*uint64{&h.version, &h.epoch, &h.parts, &h.records, &h.written, &h.logged, &h.fed}
}

func (l *Log) header(s State) []byte {
	h := header{l.o.Version, l.epoch, uint64(l.parts), uint64(l.records), uint64(l.written.Load()), uint64(l.logged.Load()), l.fed}
	var b []byte
	for _, v := range h.fields() {
		b = codec.AppendUvarint(b, *v)
	}
	return append(b, s.Header()...)
}

// Drain returns the writes that bring what is stored to the present state, to be committed in order, one
// batch each; nil when there is nothing to write. When one of them fails, call Lost.
func (l *Log) Drain(s State) []func(*kv.Batch) error {
	if !l.o.Persist || !l.dirty {
		return nil
	}
	l.dirty = false
	if l.rewrite || l.logged.Load() > l.limit() {
		return l.checkpoint(s)
	}
	record, key := l.buf, l.numbered(kindRecord, l.epoch, l.records)
	l.buf = nil
	if len(record) > 0 {
		l.records++
		l.logged.Add(int64(len(record)))
	}
	head := l.header(s)
	return []func(*kv.Batch) error{func(b *kv.Batch) error {
		if len(record) > 0 {
			if err := put(b, key, record); err != nil {
				return err
			}
		}
		return put(b, l.key(kindHeader), head)
	}}
}

// checkpoint returns the writes of all elements under a new epoch. Until the last of them the old form stays
// valid; where that is unknown, the first removes it, so that its header cannot speak for parts of the new.
func (l *Log) checkpoint(s State) []func(*kv.Batch) error {
	l.epoch++
	l.rewrite, l.records, l.buf = false, 0, nil
	var parts [][]byte
	var part []byte
	for element := range s.Elements() {
		if part = append(part, element...); len(part) >= l.o.PartBytes {
			parts = append(parts, part)
			part = nil
		}
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	var writes []func(*kv.Batch) error
	size := 0
	for from := 0; from < len(parts); {
		to, sum := from, 0
		for to < len(parts) && sum < l.o.CommitBytes {
			sum += len(parts[to])
			to++
		}
		size += sum
		writes = append(writes, l.writeParts(l.epoch, from, parts[from:to]))
		from = to
	}
	l.parts = len(parts)
	l.logged.Store(0)
	l.written.Store(int64(size))
	last := l.finish(l.epoch, l.header(s))
	if len(writes) == 1 { // the usual size: one batch
		writes, last = nil, both(writes[0], last)
	}
	writes = append(writes, last)
	if l.erase {
		l.erase = false
		writes[0] = both(func(b *kv.Batch) error {
			return b.DeleteRange(l.o.Prefix, codec.PrefixEnd(l.o.Prefix))
		}, writes[0])
	}
	return writes
}

// finish switches the header to an epoch and removes all others.
func (l *Log) finish(epoch uint64, head []byte) func(*kv.Batch) error {
	return func(b *kv.Batch) error {
		for _, kind := range []byte{kindPart, kindRecord} {
			below := b.DeleteRange(l.numbered(kind, 0, 0), l.numbered(kind, epoch, 0))
			above := b.DeleteRange(l.numbered(kind, epoch+1, 0), codec.PrefixEnd(l.key(kind)))
			if err := errors.Join(below, above); err != nil {
				return fmt.Errorf("oplog: save checkpoint: %w", err)
			}
		}
		return put(b, l.key(kindHeader), head)
	}
}

func (l *Log) writeParts(epoch uint64, from int, parts [][]byte) func(*kv.Batch) error {
	return func(b *kv.Batch) error {
		for i, part := range parts {
			if err := put(b, l.numbered(kindPart, epoch, from+i), part); err != nil {
				return err
			}
		}
		return nil
	}
}

// both stages f, then g, in one batch.
func both(f, g func(*kv.Batch) error) func(*kv.Batch) error {
	return func(b *kv.Batch) error {
		if err := f(b); err != nil {
			return err
		}
		return g(b)
	}
}
