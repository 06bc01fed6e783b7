package vector

import (
	"sort"
	"strings"
	"sync/atomic"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// Points are the vectors of one collection in memory, by slot: float32 rows, their int8 codes, and the
// commits between which each is visible. Slots are dense, ascend with the order of commit, and are never
// used twice: a collection sheds dead slots by moving to new Points.
//
// One goroutine appends at a time. Readers take no lock: everything about a slot but the end of its life
// is written before Len counts it and never again.
type Points struct {
	config     Config
	stride     int // float32 values from row to row
	codeStride int // codes from row to row

	n     atomic.Uint32
	table atomic.Pointer[table]
}

// table lists the segments. It is replaced, never changed, when one is added.
type table struct {
	segs  []*segment
	rows  []*float32 // first row of each segment, as the gather kernels want it
	codes []*int8
}

// segment holds simd.SegmentRows slots.
type segment struct {
	rows  []float32
	codes []int8
	facts [simd.SegmentRows]facts
	ids   [simd.SegmentRows]string
	ords  [simd.SegmentRows]uint64
	added [simd.SegmentRows]kv.LSN
	ended [simd.SegmentRows]atomic.Uint64 // the LSN that deleted the slot; 0 while it lives
}

// facts is what a score needs beside the codes: row ≈ scale · codes, with ‖row − scale·codes‖ ≤ resid.
type facts struct {
	scale float32
	resid float32
	norm  float32 // ‖row‖
}

// newPoints returns empty storage for vectors of c.
func newPoints(c Config) *Points {
	p := &Points{config: c, stride: roundUp(c.Dim, simd.FloatPad), codeStride: roundUp(c.Dim, simd.CodePad)}
	if c.Dim >= lineFrom {
		// Rows of many cache lines begin on one: a row then costs no extra line.
		p.stride, p.codeStride = roundUp(c.Dim, cacheLine/4), roundUp(c.Dim, cacheLine)
	}
	p.table.Store(&table{})
	return p
}

const (
	cacheLine = 64
	// lineFrom is the dimension from which padding codes to whole cache lines costs less than half.
	lineFrom = 128
)

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// Config is the collection's configuration.
func (p *Points) Config() Config { return p.config }

// Len is the number of slots, dead ones included. Slots below it may be read.
func (p *Points) Len() uint32 { return p.n.Load() }

// Ordinal returns the number under which slot's vector is stored; it ascends with the slot and survives
// reopening, which slots do not.
func (p *Points) Ordinal(slot uint32) uint64 {
	return p.seg(slot).ords[slot&(simd.SegmentRows-1)]
}

// ID returns the caller's id of slot.
func (p *Points) ID(slot uint32) string { return p.seg(slot).ids[slot&(simd.SegmentRows-1)] }

// Vector returns the row of slot. It is shared: read only.
func (p *Points) Vector(slot uint32) []float32 {
	at := int(slot&(simd.SegmentRows-1)) * p.stride
	return p.seg(slot).rows[at : at+p.config.Dim : at+p.config.Dim]
}

// VisibleAt reports whether a view of commit lsn shows slot.
func (p *Points) VisibleAt(slot uint32, lsn kv.LSN) bool {
	s, i := p.seg(slot), slot&(simd.SegmentRows-1)
	end := s.ended[i].Load()
	return s.added[i] <= lsn && (end == 0 || lsn < kv.LSN(end))
}

// Ended returns the commit that deleted slot, or 0.
func (p *Points) Ended(slot uint32) kv.LSN {
	return kv.LSN(p.seg(slot).ended[slot&(simd.SegmentRows-1)].Load())
}

func (p *Points) seg(slot uint32) *segment { return p.table.Load().segs[slot>>simd.SegmentShift] }

// append makes v, prepared and of the right length, the vector of the next slot. It is copied. Readers see it
// once publish was called.
func (p *Points) append(slot uint32, id string, ord uint64, added kv.LSN, v []float32) {
	s, i := p.room(slot)
	copy(s.rows[i*p.stride:], v)
	s.ids[i], s.ords[i], s.added[i] = id, ord, added
	p.encode(s, i)
}

// room returns the segment of slot, adding one when slot is the first beyond the last.
func (p *Points) room(slot uint32) (*segment, int) {
	t := p.table.Load()
	at, i := int(slot>>simd.SegmentShift), int(slot&(simd.SegmentRows-1))
	if at == len(t.segs) {
		p.add(&segment{rows: make([]float32, simd.SegmentRows*p.stride), codes: make([]int8, simd.SegmentRows*p.codeStride)})
		t = p.table.Load()
	}
	return t.segs[at], i
}

// add appends segments. It may write behind the old table's length, where no reader of that looks.
func (p *Points) add(segs ...*segment) {
	t := *p.table.Load()
	for _, s := range segs {
		t.segs, t.rows, t.codes = append(t.segs, s), append(t.rows, &s.rows[0]), append(t.codes, &s.codes[0])
	}
	p.table.Store(&t)
}

// encode derives the codes and facts of slot i of s from its row.
func (p *Points) encode(s *segment, i int) {
	row := s.rows[i*p.stride : i*p.stride+p.config.Dim]
	s.facts[i] = encode(row, s.codes[i*p.codeStride:i*p.codeStride+p.config.Dim])
}

// publish makes the slots below n readable.
func (p *Points) publish(n uint32) { p.n.Store(n) }

// end marks slot deleted by commit lsn.
func (p *Points) end(slot uint32, lsn kv.LSN) {
	p.seg(slot).ended[slot&(simd.SegmentRows-1)].Store(uint64(lsn))
}

// find returns the slot whose ordinal is ord.
func (p *Points) find(ord uint64) (uint32, bool) {
	n := int(p.n.Load())
	t := p.table.Load()
	segs := t.segs[:(n+simd.SegmentRows-1)>>simd.SegmentShift]
	at := sort.Search(len(segs), func(i int) bool { return segs[i].ords[0] > ord }) - 1
	if at < 0 {
		return 0, false
	}
	s := segs[at]
	in := min(simd.SegmentRows, n-at*simd.SegmentRows)
	i := sort.Search(in, func(i int) bool { return s.ords[i] >= ord })
	if i == in || s.ords[i] != ord {
		return 0, false
	}
	return uint32(at*simd.SegmentRows + i), true
}

// bytes is the memory of the slots.
func (p *Points) bytes() int64 {
	const perSlot = 12 + 16 + 8 + 8 + 8
	return int64(len(p.table.Load().segs)) * simd.SegmentRows * int64(4*p.stride+p.codeStride+perSlot)
}

// idArena cuts many ids out of few allocations.
type idArena struct{ b strings.Builder }

const arenaBytes = 1 << 14

func (a *idArena) keep(id []byte) string {
	if a.b.Cap()-a.b.Len() < len(id) {
		a.b = strings.Builder{}
		a.b.Grow(max(arenaBytes, len(id)))
	}
	at := a.b.Len()
	a.b.Write(id)
	return a.b.String()[at:]
}
