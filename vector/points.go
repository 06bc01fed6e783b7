package vector

import (
	"sort"
	"strings"
	"sync/atomic"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// Points are the vectors of one collection in memory, by slot: float32 rows, what the collection's
// quantisation compares instead of them, and the commits between which each is visible. Slots are dense,
// ascend with the order of commit, and are never used twice: a collection sheds dead slots by moving to new
// Points.
//
// One goroutine appends at a time. Readers take no lock: everything about a slot but the end of its life
// is written before Len counts it and never again.
type Points struct {
	config     Config
	stride     int // float32 values from row to row
	codeStride int // codes from row to row; 0 without codes

	n     atomic.Uint32
	table atomic.Pointer[table]
	// rows is stored before the table that counts its last segment.
	rows atomic.Pointer[rows]
}

// table lists the segments. It is replaced, never changed, when one is added.
type table struct {
	segs  []*segment
	codes []*int8 // first codes of each segment, as the gather kernels want them; empty without codes
}

// rows lists the float32 rows by segment. It is replaced like a table. Nobody keeps it for longer than a
// call, so that rows can be let go of.
type rows struct {
	segs  [][]float32
	first []*float32
}

// segment holds simd.SegmentRows slots.
type segment struct {
	codes []int8 // empty without codes
	facts [simd.SegmentRows]facts
	ids   [simd.SegmentRows]string
	ords  [simd.SegmentRows]uint64
	added [simd.SegmentRows]kv.LSN
	ended [simd.SegmentRows]atomic.Uint64 // the LSN that deleted the slot; 0 while it lives
}

// facts is what a score needs beside the codes: row ≈ scale · codes, with ‖row − scale·codes‖ ≤ resid.
type facts struct {
	scale float32 // 0 without codes
	resid float32 // 0 without codes
	norm  float32 // ‖row‖
}

// newPoints returns empty storage for vectors of c.
func newPoints(c Config) *Points {
	p := &Points{config: c, stride: roundUp(c.Dim, simd.FloatPad), codeStride: roundUp(c.Dim, simd.CodePad)}
	if c.Dim >= lineFrom {
		// Rows of many cache lines begin on one: a row then costs no extra line.
		p.stride, p.codeStride = roundUp(c.Dim, cacheLine/4), roundUp(c.Dim, cacheLine)
	}
	if c.Quantization != Int8 {
		p.codeStride = 0
	}
	p.table.Store(&table{})
	p.rows.Store(&rows{})
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
	return p.row(p.rows.Load(), slot)
}

func (p *Points) row(r *rows, slot uint32) []float32 {
	at := int(slot&(simd.SegmentRows-1)) * p.stride
	return r.segs[slot>>simd.SegmentShift][at : at+p.config.Dim : at+p.config.Dim]
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
	copy(p.Vector(slot), v)
	s.ids[i], s.ords[i], s.added[i] = id, ord, added
	s.facts[i] = p.encode(v, p.codesOf(s.codes, i))
}

// room returns the segment of slot, adding one when slot is the first beyond the last.
func (p *Points) room(slot uint32) (*segment, int) {
	t := p.table.Load()
	at, i := int(slot>>simd.SegmentShift), int(slot&(simd.SegmentRows-1))
	if at == len(t.segs) {
		p.add([]*segment{{codes: make([]int8, simd.SegmentRows*p.codeStride)}},
			[][]float32{make([]float32, simd.SegmentRows*p.stride)})
		t = p.table.Load()
	}
	return t.segs[at], i
}

// add appends segments and their rows. It may write behind the length of the old lists, where no reader of
// those looks.
func (p *Points) add(segs []*segment, floats [][]float32) {
	r := *p.rows.Load()
	for _, f := range floats {
		r.segs, r.first = append(r.segs, f), append(r.first, &f[0])
	}
	p.rows.Store(&r)
	t := *p.table.Load()
	for _, s := range segs {
		t.segs = append(t.segs, s)
		if p.codeStride > 0 {
			t.codes = append(t.codes, &s.codes[0])
		}
	}
	p.table.Store(&t)
}

// codesOf returns the codes of slot i out of those of its segment; none where there are none.
func (p *Points) codesOf(codes []int8, i int) []int8 {
	if p.codeStride == 0 {
		return nil
	}
	return codes[i*p.codeStride : i*p.codeStride+p.config.Dim]
}

// encode derives the codes, where there are any, and the facts of row.
func (p *Points) encode(row []float32, codes []int8) facts {
	if p.codeStride == 0 {
		return facts{norm: norm(row)}
	}
	return encode(row, codes)
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
