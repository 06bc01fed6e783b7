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
	stride     int       // float32 values from row to row
	codeStride int       // codes from row to row; 0 without codes
	wordStride int       // words of bits from row to row; 0 without bits
	cosines    []float32 // by the number of bits in which two vectors differ; nil without bits

	n     atomic.Uint32
	ends  atomic.Uint32 // slots that were deleted
	table atomic.Pointer[table]
	// rows is stored before the table that counts its last segment. It is nil while rows are not in memory.
	rows atomic.Pointer[rows]
	byID byID
	// arriving are the rows that will be in memory once all are, guarded like appending; nil unless some are awaited.
	arriving *rows
}

// table lists the segments. It is replaced, never changed, when one is added.
type table struct {
	segs   []*segment
	scales []*[simd.SegmentRows]float32 // of the codes; empty without codes
	codes  []*int8                      // first codes of each segment, as the gather kernels want them; empty without codes
	bits   []*uint64                    // first bits of each; empty without bits
}

// rows lists the float32 rows by segment. It is replaced like a table. Nobody keeps it for longer than a
// call, so that rows can be let go of.
type rows struct {
	segs  [][]float32
	first []*float32
}

// with returns the rows with those of more segments.
func (r *rows) with(floats [][]float32) *rows {
	more := *r
	for _, f := range floats {
		more.segs, more.first = append(more.segs, f), append(more.first, &f[0])
	}
	return &more
}

// segment holds simd.SegmentRows slots.
type segment struct {
	packed
	facts [simd.SegmentRows]facts
	ids   [simd.SegmentRows]string
	ords  [simd.SegmentRows]uint64
	added [simd.SegmentRows]kv.LSN
	ended [simd.SegmentRows]atomic.Uint64 // the LSN that deleted the slot; 0 while it lives
}

// newPoints returns empty storage for vectors of c, which keeps rows in memory or not.
func newPoints(c Config, resident bool) *Points {
	p := &Points{config: c, stride: roundUp(c.Dim, simd.FloatPad), codeStride: roundUp(c.Dim, simd.CodePad)}
	// Rows of many cache lines begin on one: a row then costs no extra line.
	if c.Dim >= lineFrom {
		p.stride = roundUp(c.Dim, cacheLine/4)
	}
	if c.Dim >= codeLineFrom {
		p.codeStride = roundUp(c.Dim, cacheLine)
	}
	if c.Quantization != Int8 {
		p.codeStride = 0
	}
	if c.Quantization == Binary {
		p.wordStride = roundUp(simd.Words(c.Dim), simd.WordPad)
		p.cosines = cosines(c.Dim)
	}
	p.table.Store(&table{})
	if resident {
		p.rows.Store(&rows{})
	}
	return p
}

// resident reports whether rows are in memory.
func (p *Points) resident() bool { return p.rows.Load() != nil }

const (
	cacheLine = 64
	// lineFrom is the dimension from which padding rows to whole cache lines costs less than an eighth.
	lineFrom = 128
	// codeLineFrom is the one from which it costs codes less than half, and at 100 dimensions a seventh.
	codeLineFrom = 97
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

// Vector returns the row of slot, or nil where rows are not in memory. It is shared: read only.
func (p *Points) Vector(slot uint32) []float32 {
	r := p.rows.Load()
	if r == nil {
		return nil
	}
	at := int(slot&(simd.SegmentRows-1)) * p.stride
	return r.segs[slot>>simd.SegmentShift][at : at+p.config.Dim : at+p.config.Dim]
}

const (
	// Of codes, rescoreMin more candidates than hits, or 1/rescoreShare more, are compared by their rows: what rounding
	// swaps at the border of the hits is then found again. Of 10 to 100 neighbours in 20,000 clustered vectors of 768
	// values, and in as many word vectors of 100, the codes of two in a hundred are swapped so, and none is behind the
	// fifth place after the border.
	rescoreShare, rescoreMin = 4, 10
	// Of bits ten times as many. On clustered and text embeddings of 768 to 1536 dimensions the ten nearest are
	// among the fifty that differ in the fewest signs with a recall of 0.97 to 0.99, and among the hundred with
	// 0.99 to 1.
	rescoreBits = 10
)

// Candidates is the number of slots that a search for k hits takes from an index and compares by their rows:
// as many as it takes for the hits to be among them.
func (p *Points) Candidates(k int) int {
	switch {
	case p.wordStride > 0:
		return rescoreBits * max(k, rescoreMin)
	case p.codeStride > 0:
		return k + max(k/rescoreShare, rescoreMin)
	}
	return max(k, 2*rescoreMin)
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
	if r := p.filling(); r != nil {
		copy(r.segs[slot>>simd.SegmentShift][i*p.stride:], v)
	}
	s.ids[i], s.ords[i], s.added[i] = id, ord, added
	s.facts[i] = p.pack(v, p.packedAt(s.packed, i))
}

// filling returns the rows to which appended ones are added, nil when they are not in memory.
func (p *Points) filling() *rows {
	if r := p.rows.Load(); r != nil {
		return r
	}
	return p.arriving
}

// room returns the segment of slot, adding one when slot is the first beyond the last.
func (p *Points) room(slot uint32) (*segment, int) {
	t := p.table.Load()
	at, i := int(slot>>simd.SegmentShift), int(slot&(simd.SegmentRows-1))
	if at == len(t.segs) {
		var floats [][]float32
		if p.filling() != nil {
			floats = [][]float32{make([]float32, simd.SegmentRows*p.stride)}
		}
		p.add([]*segment{{packed: p.packedRows(simd.SegmentRows)}}, floats)
		t = p.table.Load()
	}
	return t.segs[at], i
}

// add appends segments and, where rows are in memory, theirs. It may write behind the length of the old lists,
// where no reader of those looks.
func (p *Points) add(segs []*segment, floats [][]float32) {
	if old := p.rows.Load(); old != nil {
		p.rows.Store(old.with(floats))
	} else if p.arriving != nil {
		p.arriving = p.arriving.with(floats)
	}
	t := *p.table.Load()
	for _, s := range segs {
		t.segs = append(t.segs, s)
		if p.codeStride > 0 {
			t.codes = append(t.codes, &s.codes[0])
			t.scales = append(t.scales, (*[simd.SegmentRows]float32)(s.scales))
		}
		if p.wordStride > 0 {
			t.bits = append(t.bits, &s.bits[0])
		}
	}
	p.table.Store(&t)
}

// publish makes the slots below n readable.
func (p *Points) publish(n uint32) { p.n.Store(n) }

// end marks slot deleted by commit lsn.
func (p *Points) end(slot uint32, lsn kv.LSN) {
	p.ends.Add(1) // first: who reads none may then trust it for views of earlier commits
	p.seg(slot).ended[slot&(simd.SegmentRows-1)].Store(uint64(lsn))
}

// allVisibleAt reports whether a view of commit lsn shows every slot below n, without a look at each.
func (p *Points) allVisibleAt(n uint32, lsn kv.LSN) bool {
	return n > 0 && p.ends.Load() == 0 && p.seg(n - 1).added[(n-1)&(simd.SegmentRows-1)] <= lsn
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

// perSlot is the memory of a slot beside its row and codes: facts, id, ordinal and LSNs, without the text of
// the id.
const perSlot = 12 + 16 + 8 + 8 + 8

// bytes is the memory of the slots.
func (p *Points) bytes() int64 {
	m := p.memory()
	return m.Rows + m.Codes + int64(len(p.table.Load().segs))*simd.SegmentRows*perSlot + p.byID.bytes()
}

// memory counts the rows and codes that are in memory.
func (p *Points) memory() (m Memory) {
	slots := int64(len(p.table.Load().segs)) * simd.SegmentRows
	if p.resident() {
		m.Rows = slots * int64(4*p.stride)
	}
	m.Codes = slots * int64(p.codeStride+8*p.wordStride)
	if p.codeStride > 0 {
		m.Codes += slots * 4 // scales
	}
	return m
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
