package hnsw

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

const (
	// partBytes is the size from which a checkpoint part is closed.
	partBytes = 1 << 20
	// commitBytes is the size from which parts are committed: a checkpoint of any size stays far below
	// what one batch may hold.
	commitBytes = 8 << 20
	// A checkpoint is written when the log outgrows both logMin and 1/logShare of the last checkpoint.
	logMin   = 256 << 10
	logShare = 2
)

// opLog collects what the feeding methods do until Drain hands it out.
type opLog struct {
	persist bool
	// partBytes, commitBytes and logMin are the constants, but in tests.
	partBytes, commitBytes int
	logMin                 int64

	rewrite bool   // the next Drain writes a checkpoint; operations need not be kept
	erase   bool   // what is persisted is unknown: the next checkpoint begins by removing it
	dirty   bool   // the header changed
	fed     uint64 // the first ordinal not fed
	epoch   uint64
	records int
	parts   int
	places  uint32 // the place of the next node
	buf     []byte

	logged  atomic.Int64 // bytes since the checkpoint
	written atomic.Int64 // bytes of the checkpoint
}

// take makes l what old is. Only one of the two may be used afterwards.
func (l *opLog) take(old *opLog) {
	l.persist, l.partBytes, l.commitBytes, l.logMin = old.persist, old.partBytes, old.commitBytes, old.logMin
	l.rewrite, l.erase, l.dirty, l.buf = old.rewrite, old.erase, old.dirty, old.buf
	l.fed, l.epoch, l.records, l.parts, l.places = old.fed, old.epoch, old.records, old.parts, old.places
	l.logged.Store(old.logged.Load())
	l.written.Store(old.written.Load())
}

// limit is the size of the log from which a checkpoint costs less than going on.
func (l *opLog) limit() int64 { return max(l.logMin, l.written.Load()/logShare) }

// keeps reports whether operations are kept for the next record.
func (x *Index) keeps() bool {
	l := &x.log
	if !l.persist || l.rewrite {
		return false
	}
	l.dirty = true
	if int64(len(l.buf)) > l.limit() {
		l.rewrite, l.buf = true, nil // a checkpoint is smaller than such a record
		return false
	}
	return true
}

// logOp keeps an operation on slot, followed by values.
func (x *Index) logOp(op byte, slot uint32, values ...uint32) {
	if !x.keeps() {
		return
	}
	b, i := x.block(slot)
	buf := codec.AppendUvarint(append(x.log.buf, op), uint64(b.place[i]))
	for _, v := range values {
		buf = codec.AppendUvarint(buf, uint64(v))
	}
	x.log.buf = buf
}

// logNode gives slot the next place and keeps its creation. Without a log a checkpoint comes next, which
// numbers all nodes.
func (x *Index) logNode(slot uint32) {
	if !x.keeps() {
		return
	}
	b, i := x.block(slot)
	b.place[i] = x.log.places
	x.log.places++
	x.log.buf = codec.AppendUvarint(append(x.log.buf, opNode), x.points.Ordinal(slot))
}

// logSet keeps what list, that of slot on a level, holds now.
func (x *Index) logSet(slot uint32, level int, list []uint32) {
	if x.keeps() {
		x.logOp(opSet, slot, uint32(level))
		x.log.buf = x.appendList(x.log.buf, list)
	}
}

// Skip implements vector.Index.
func (x *Index) Skip(ord uint64) {
	x.log.fed = max(x.log.fed, ord+1)
	x.log.dirty = true
}

// Lost implements vector.Index. Some of the drained writes may have been committed.
func (x *Index) Lost() {
	x.log.rewrite, x.log.erase, x.log.dirty, x.log.buf = true, true, true, nil
}

// Drain implements vector.Index.
func (x *Index) Drain() []func(*kv.Batch) error {
	l := &x.log
	if !l.persist || !l.dirty {
		return nil
	}
	if l.rewrite || l.logged.Load() > l.limit() {
		return x.checkpoint()
	}
	l.dirty = false
	if len(l.buf) == 0 {
		head := x.header()
		return []func(*kv.Batch) error{func(b *kv.Batch) error { return b.Set(x.key(kindHeader), head) }}
	}
	record, key := l.buf, x.numbered(kindRecord, l.epoch, l.records)
	l.buf = nil
	l.records++
	l.logged.Add(int64(len(record)))
	head := x.header()
	return []func(*kv.Batch) error{func(b *kv.Batch) error {
		if err := b.Set(key, record); err != nil {
			return fmt.Errorf("hnsw: save links: %w", err)
		}
		return b.Set(x.key(kindHeader), head)
	}}
}

// checkpoint returns the writes of the whole graph under a new epoch. Until the last of them, which
// switches the header and removes every other epoch, the old form stays valid; where the old form is
// unknown, the first removes it, so that its header cannot speak for parts of the new.
func (x *Index) checkpoint() []func(*kv.Batch) error {
	l := &x.log
	l.epoch++
	l.rewrite, l.dirty, l.records, l.parts, l.buf = false, false, 0, 0, nil
	l.places = 0
	x.eachNode(func(slot uint32, _ int) {
		b, i := x.block(slot)
		b.place[i] = l.places
		l.places++
	})
	var parts [][]byte
	var part []byte
	size := int64(0)
	x.eachNode(func(slot uint32, level int) {
		part = x.appendNode(part, slot, level)
		if len(part) >= l.partBytes {
			parts = append(parts, part)
			part = nil
		}
	})
	if len(part) > 0 {
		parts = append(parts, part)
	}
	var writes []func(*kv.Batch) error
	for from := 0; from < len(parts); {
		to, sum := from, 0
		for to < len(parts) && sum < l.commitBytes {
			sum += len(parts[to])
			to++
		}
		size += int64(sum)
		writes = append(writes, x.writeParts(l.epoch, from, parts[from:to]))
		from = to
	}
	l.parts = len(parts)
	l.logged.Store(0)
	l.written.Store(size)
	head, epoch := x.header(), l.epoch
	last := func(b *kv.Batch) error {
		for _, kind := range []byte{kindPart, kindRecord} {
			below := b.DeleteRange(x.numbered(kind, 0, 0), x.numbered(kind, epoch, 0))
			above := b.DeleteRange(x.numbered(kind, epoch+1, 0), codec.PrefixEnd(x.key(kind)))
			if err := errors.Join(below, above); err != nil {
				return fmt.Errorf("hnsw: save checkpoint: %w", err)
			}
		}
		return b.Set(x.key(kindHeader), head)
	}
	if len(writes) == 1 { // the usual size: one batch
		writes, last = nil, both(writes[0], last)
	}
	writes = append(writes, last)
	if l.erase {
		l.erase = false
		writes[0] = both(func(b *kv.Batch) error {
			return b.DeleteRange(x.o.Prefix, codec.PrefixEnd(x.o.Prefix))
		}, writes[0])
	}
	return writes
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

func (x *Index) writeParts(epoch uint64, from int, parts [][]byte) func(*kv.Batch) error {
	return func(b *kv.Batch) error {
		for i, part := range parts {
			if err := b.Set(x.numbered(kindPart, epoch, from+i), part); err != nil {
				return fmt.Errorf("hnsw: save checkpoint: %w", err)
			}
		}
		return nil
	}
}
