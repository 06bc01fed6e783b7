package vector

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// loadedRows are the points of a collection as they were read, not yet published.
type loadedRows struct {
	p    *Points
	n    uint32 // slots
	next uint64 // above every ordinal
}

const (
	// runMin rows are read by one goroutine: fewer cost less than its cursor.
	runMin = 4096
	// Each reader gets runsEach parts of the ordinals, since parts differ in how many rows are left of them.
	runsEach = 4
	// More than readersMax readers wait for memory, not for each other.
	readersMax = 8
)

// loadRows reads the rows of the ordinals in [lo, hi) and keeps them, or only what is packed of them.
func (c *Collection) loadRows(r kv.Reader, lo, hi uint64, resident bool) (*loadedRows, error) {
	return c.loadRuns(lo, hi, resident, func(from, to uint64) (loadedRows, error) { return c.loadRun(r, from, to, resident) })
}

// loadRuns puts the ordinals in [lo, hi) together from what load reads of ranges of them, several at a time. Slots
// follow the ordinals all the same.
func (c *Collection) loadRuns(lo, hi uint64, resident bool, load func(from, to uint64) (loadedRows, error)) (*loadedRows, error) {
	hi = max(lo, hi)
	readers := min(runtime.GOMAXPROCS(0), readersMax)
	// Runs of whole segments fit together without a copy where no ordinal is missing.
	width := max((hi-lo)/uint64(readers*runsEach)+1, runMin)
	width = (width + simd.SegmentRows - 1) / simd.SegmentRows * simd.SegmentRows
	runs := make([]loadedRows, (hi-lo+width-1)/width)
	errs := make([]error, len(runs))
	var taken atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	for range min(readers, len(runs)) {
		wait.Go(func() {
			for i := taken.Add(1) - 1; int(i) < len(runs) && !failed.Load(); i = taken.Add(1) - 1 {
				from := lo + uint64(i)*width
				if runs[i], errs[i] = load(from, min(from+width, hi)); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := &loadedRows{p: newPoints(c.config, resident), next: hi}
	for _, run := range runs {
		all.n = all.p.join(all.n, run.p, run.n)
	}
	return all, nil
}

// ordinalRange returns the first ordinal that has a row and the one behind the last.
func (c *Collection) ordinalRange(r kv.Reader) (lo, hi uint64, err error) {
	prefix := collectionPrefix(c.ws, kindRow, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	if !cur.First() {
		return 0, 0, cur.Err()
	}
	if lo, err = rowOrdinal(cur.Key(), len(prefix)); err != nil {
		return 0, 0, err
	}
	if !cur.Last() {
		return 0, 0, cur.Err()
	}
	last, err := rowOrdinal(cur.Key(), len(prefix))
	return lo, last + 1, err
}

// loadRun reads the rows of the ordinals in [from, to).
//
// Rows and codes are gathered in a buffer that stays in the cache, and cloned when a segment is full: memory
// that is made for a copy need not be cleared first.
func (c *Collection) loadRun(r kv.Reader, from, to uint64, resident bool) (loadedRows, error) {
	run := loadedRows{p: newPoints(c.config, resident)}
	p := run.p
	rows, packs := make([]float32, simd.SegmentRows*p.stride), p.packedRows(simd.SegmentRows)
	s, ids := &segment{}, idArena{}
	seal := func() {
		s.packed = packs.clone()
		var floats [][]float32
		if p.resident() {
			floats = [][]float32{slices.Clone(rows)}
		}
		p.add([]*segment{s}, floats)
		s = &segment{}
	}
	err := c.eachRow(r, from, to, func(ord uint64, value []byte) error {
		i := int(run.n & (simd.SegmentRows - 1))
		row := rows[i*p.stride : i*p.stride+c.config.Dim]
		id, err := decodeRow(value, row)
		if err != nil {
			return err
		}
		s.facts[i] = p.pack(row, p.packedAt(packs, i))
		s.ids[i], s.ords[i] = ids.keep(id), ord
		if run.n++; i == simd.SegmentRows-1 {
			seal()
		}
		return nil
	})
	if rest := int(run.n & (simd.SegmentRows - 1)); rest > 0 {
		clear(rows[rest*p.stride:])
		clear(packs.codes[rest*p.codeStride:])
		clear(packs.scales[min(rest, len(packs.scales)):])
		clear(packs.bits[rest*p.wordStride:])
		seal()
	}
	return run, err
}

// eachRow calls f for the rows of the ordinals in [from, to) in their order.
func (c *Collection) eachRow(r kv.Reader, from, to uint64, f func(ord uint64, value []byte) error) (err error) {
	prefix := len(collectionPrefix(c.ws, kindRow, c.id))
	cur, err := r.Cursor(c.rowKey(from), c.rowKey(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		ord, err := rowOrdinal(cur.Key(), prefix)
		if err != nil {
			return err
		}
		if err := f(ord, cur.Value()); err != nil {
			return err
		}
	}
	return cur.Err()
}

// rowOrdinal returns the ordinal behind the prefix of a row's key.
func rowOrdinal(key []byte, prefix int) (uint64, error) {
	ord, rest, err := codec.KeyUint64(key[prefix:])
	if err != nil || len(rest) > 0 || ord >= maxOrdinal {
		return 0, fmt.Errorf("%w: row key of %d bytes, ordinal %d", kv.ErrCorrupt, len(key), ord)
	}
	return ord, nil
}

// maxOrdinal is beyond every ordinal: no store gets there, and counting on from below it cannot overflow.
const maxOrdinal = math.MaxInt64

// place finds the slots of the known ordinals, which ascend, up to the first that has no row; whole reports
// that there is none. first is the first slot whose ordinal is not known.
func (l *loadedRows) place(known []uint64) (slots []uint32, first uint32, whole bool) {
	slots, first = make([]uint32, 0, len(known)), l.n
	for slot := range l.n {
		switch {
		case len(slots) < len(known) && known[len(slots)] == l.p.Ordinal(slot):
			slots = append(slots, slot)
		case first == l.n:
			first = slot
		}
	}
	return slots, first, len(slots) == len(known)
}

// haunted returns the rows with a ghost for each known ordinal that has none: a slot that is dead since
// before any view and whose row is zero.
func (l *loadedRows) haunted(known []uint64) (all *loadedRows, ghosts []uint32) {
	all = &loadedRows{p: newPoints(l.p.config, l.p.resident()), next: l.next}
	ghost := func(ord uint64) {
		s, i := all.p.room(all.n)
		s.ords[i] = ord
		all.p.ends.Add(1)
		s.ended[i].Store(ghostEnd)
		ghosts = append(ghosts, all.n)
		all.n++
		all.next = max(all.next, ord+1)
	}
	for slot := range l.n {
		ord := l.p.Ordinal(slot)
		for ; len(known) > 0 && known[0] < ord; known = known[1:] {
			ghost(known[0])
		}
		if len(known) > 0 && known[0] == ord {
			known = known[1:]
		}
		all.p.copy(all.n, l.p, slot)
		all.n++
	}
	for _, ord := range known {
		ghost(ord)
	}
	return all, ghosts
}

// ghostEnd is the end of a ghost's life. No vector ends there, for the first commit cannot delete.
const ghostEnd = 1

// ghost reports whether slot never held a vector.
func (p *Points) ghost(slot uint32) bool { return p.Ended(slot) == ghostEnd }

// join appends the first m slots of q to the first n of p, and returns how many they are now. The segments
// of q change hands; where the last of p is not full, the slots of q move up to close the gap. Neither may
// have been published.
func (p *Points) join(n uint32, q *Points, m uint32) uint32 {
	base := uint32(len(p.table.Load().segs)) << simd.SegmentShift
	var floats [][]float32
	if r := q.rows.Load(); r != nil {
		floats = r.segs
	}
	p.add(q.table.Load().segs, floats)
	if base == n {
		return n + m
	}
	for slot := range m {
		p.copy(n+slot, p, base+slot)
	}
	p.cut(int(n+m+simd.SegmentRows-1) >> simd.SegmentShift)
	return n + m
}

// cut drops all but the first n segments, which nobody may have seen.
func (p *Points) cut(n int) {
	t := *p.table.Load()
	t.segs = shortened(t.segs, n)
	t.codes, t.scales = shortened(t.codes, n), shortened(t.scales, n)
	t.bits = shortened(t.bits, n)
	if old := p.rows.Load(); old != nil {
		p.rows.Store(&rows{shortened(old.segs, n), shortened(old.first, n)})
	}
	p.table.Store(&t)
}

// shortened returns the first n of list, if there are so many, and forgets the others.
func shortened[T any](list []T, n int) []T {
	n = min(n, len(list))
	clear(list[n:])
	return list[:n]
}
