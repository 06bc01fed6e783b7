package ivf

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// small is New with frequent checkpoints of many parts and many commits.
func small(o vector.IndexOptions) *Index {
	return newIndex(o, oplog.New(oplog.Options{Prefix: o.Prefix, Persist: o.Persist, Version: formatVersion,
		PartBytes: 1 << 10, CommitBytes: 3 << 10, LogMin: 2 << 10}))
}

// image is all that decides how an index goes on, as bytes.
func image(x *Index) []byte {
	out := state{x}.Header()
	for b := range (state{x}).Elements() {
		out = append(out, b...)
	}
	return out
}

// sequence runs random inserts, removals and moves to other points on an index. It calls saved after each step,
// which may put another index in its place.
func sequence(t *testing.T, x *Index, rows, steps int, saved func(step int, x *Index) *Index) *Index {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), 1))
	here := map[uint32]bool{}
	next := uint32(0)
	for step := range steps {
		removes := step%4 == 3 || step > steps*3/4 // most are removed in the end
		if removes {
			var gone []uint32
			for slot := range uint32(rows) {
				if here[slot] && r.IntN(4) == 0 {
					gone = append(gone, slot)
					delete(here, slot)
				}
			}
			x.Remove(gone)
		} else {
			for range min(64*(1+r.IntN(6)), rows-int(next)) {
				x.Insert(next)
				here[next] = true
				next++
			}
			if next > 0 {
				x.Skip(x.points.Ordinal(next - 1))
			}
		}
		if step%7 == 5 {
			same := make([]uint32, rows)
			for i := range same {
				same[i] = uint32(i)
			}
			x = x.Move(x.points, same).(*Index)
		}
		x = saved(step, x)
		check(t, x, func(slot uint32) bool { return here[slot] })
		if st, cells := x.Stats(), len(x.layout.Load().cells); st.Nodes != len(here) || st.Cells != cells {
			t.Fatalf("step %d: %+v, want %d slots in %d cells", step, st, len(here), cells)
		}
	}
	return x
}

// I1, I2: after each of many inserts and removals every slot is in its cell, and a search that is to find all
// finds all.
func TestI1_EverySlotInItsCell(t *testing.T) {
	n := vectorkit.Scaled(4000) + 1000
	for _, c := range vectorkit.Comparisons(12) {
		t.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(t *testing.T) {
			t.Parallel()
			p := vectorkit.Points(t, c, around(vectorkit.Rand(t, 1), n, 20, c.Dim, 0.5))
			x := New(vector.IndexOptions{Config: p.Config()})
			x.Attach(p, nil)
			probe := p.NewProbe()
			most := 0
			sequence(t, x, n, 40, func(step int, x *Index) *Index {
				most = max(most, len(x.layout.Load().cells))
				probe.SetSlot(uint32(step))
				found := x.Search(vector.Query{Probe: probe, K: n, Ef: n, Admit: all}, nil)
				if len(found) != x.Stats().Nodes {
					t.Errorf("step %d: found %d of %d", step, len(found), x.Stats().Nodes)
				}
				slices.Sort(found)
				if len(slices.Compact(found)) != x.Stats().Nodes {
					t.Errorf("step %d: found some twice", step)
				}
				return x
			})
			if most < n/200 {
				t.Errorf("at most %d cells", most)
			}
		})
	}
}

// I3: what is saved and loaded in between changes nothing, to the bit.
func TestI3_ReloadedIsTheSame(t *testing.T) {
	n := vectorkit.Scaled(2000) + 1000
	for _, c := range vectorkit.Comparisons(12) {
		t.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(t *testing.T) {
			t.Parallel()
			p := vectorkit.Points(t, c, around(vectorkit.Rand(t, 2), n, 20, c.Dim, 0.5))
			o := vector.IndexOptions{Config: p.Config(), Prefix: []byte("p/"), Persist: true}
			plain := small(o)
			plain.Attach(p, nil)
			var want [][]byte
			sequence(t, plain, n, 30, func(_ int, x *Index) *Index {
				want = append(want, image(x))
				return x
			})
			store, lsn := memory(t), kv.LSN(0)
			x := small(o)
			x.Attach(p, nil)
			loads := 0
			sequence(t, x, n, 30, func(step int, x *Index) *Index {
				for _, w := range x.Drain() {
					write(t, store, lsn, w)
					lsn++
				}
				if x.Drain() != nil {
					t.Errorf("step %d: something is left to write", step)
				}
				if step%3 != 1 {
					return x
				}
				y, ords, fed, err := load(t, store, lsn, o)
				if err != nil {
					t.Fatal(err)
				}
				slots := make([]uint32, len(ords))
				for i, ord := range ords {
					slots[i] = uint32(ord - p.Ordinal(0))
					if p.Ordinal(slots[i]) != ord || ord >= fed {
						t.Fatalf("ordinal %d, fed %d", ord, fed)
					}
				}
				y.Attach(p, slots)
				loads++
				if !bytes.Equal(image(y), want[step]) {
					t.Errorf("step %d: loaded is not what was saved", step)
				}
				return y
			})
			if loads < 5 {
				t.Errorf("loaded %d times", loads)
			}
		})
	}
}

// Whatever prefix of the writes is committed, what loads is one of the states that were saved, whole, or nothing.
func TestEveryPrefixOfTheWritesLoads(t *testing.T) {
	const n = 2000
	p := vectorkit.Points(t, vector.Config{Dim: 6, Kind: vector.IVF}, around(vectorkit.Rand(t, 3), n, 10, 6, 0.5))
	o := vector.IndexOptions{Config: p.Config(), Prefix: []byte("p/"), Persist: true}
	type saving struct {
		writes []func(*kv.Batch) error
		image  []byte
	}
	var savings []saving
	x := small(o)
	x.Attach(p, nil)
	sequence(t, x, n, 24, func(step int, x *Index) *Index {
		if step == 11 {
			x.Lost() // the next begins by removing what is there
		}
		savings = append(savings, saving{x.Drain(), image(x)})
		return x
	})
	var longest, commits int
	store, lsn := memory(t), kv.LSN(0)
	was := -1 // the saving that is stored, whole
	for i, s := range savings {
		longest = max(longest, len(s.writes))
		for k, w := range s.writes {
			write(t, store, lsn, w)
			lsn++
			commits++
			x, ords, _, err := load(t, store, lsn, o)
			if err != nil {
				t.Fatalf("saving %d, after %d of %d commits: %v", i, k+1, len(s.writes), err)
			}
			if k == len(s.writes)-1 {
				was = i
			} else if i == 12 || i == 11 && k == 0 {
				was = -1
			}
			if was < 0 || i == 11 && k < len(s.writes)-1 {
				if ords != nil {
					t.Errorf("saving %d, after %d of %d commits: %d vectors of a form that was given up", i, k+1, len(s.writes), len(ords))
				}
				continue
			}
			slots := make([]uint32, len(ords))
			for j, ord := range ords {
				slots[j] = uint32(ord - p.Ordinal(0))
			}
			x.Attach(p, slots)
			if !bytes.Equal(image(x), savings[was].image) {
				t.Errorf("saving %d, after %d of %d commits: not saving %d", i, k+1, len(s.writes), was)
			}
		}
	}
	if longest < 3 || commits < 30 {
		t.Errorf("%d commits, at most %d a saving", commits, longest)
	}
}

// Ten thousand copies of a vector, and copies among others, lie in lists that a search can afford; K of them
// are found without looking at all, and the others are not lost among them.
func TestCopies(t *testing.T) {
	const dim = 8
	for i, metric := range []vector.Metric{vector.Cosine, vector.Dot, vector.L2, vector.Cosine, vector.Dot, vector.L2} {
		copies, others := 2000, 100
		if i < 3 && !vectorkit.Race {
			copies, others = 10000, 500
		}
		t.Run(fmt.Sprintf("%v/%d", metric, copies), func(t *testing.T) {
			t.Parallel()
			r := vectorkit.Rand(t, 5)
			v := vectorkit.Random(r, dim)
			rows := around(r, copies+others, 10, dim, 0.5)
			for i := range rows {
				if i%(copies/others+1) != 0 {
					rows[i] = v
				}
			}
			p := vectorkit.Points(t, vector.Config{Dim: dim, Metric: metric, Kind: vector.IVF}, rows)
			x := New(vector.IndexOptions{Config: p.Config()})
			x.Attach(p, nil)
			for slot := range p.Len() {
				x.Insert(slot)
			}
			check(t, x, all)
			probe := p.NewProbe()
			asked := 0
			count := func(uint32) bool { asked++; return true }
			for slot := uint32(0); slot < p.Len(); slot += uint32(copies/others + 1) {
				for _, k := range []int{1, 100} {
					probe.SetSlot(slot)
					found := x.Search(vector.Query{Probe: probe, K: k, Ef: 100, Admit: count}, nil)
					if len(found) != k || k == 1 && metric != vector.Dot && !slices.Equal(p.Vector(found[0]), p.Vector(slot)) {
						t.Errorf("slot %d, K %d: found %v", slot, k, found)
					}
				}
			}
			probe.SetSlot(1)
			asked = 0
			x.Search(vector.Query{Probe: probe, K: 2000, Ef: 100, Admit: count}, nil)
			if asked > 6000 { // of 10,000
				t.Errorf("a search among copies asked for %d slots", asked)
			}
			for gone := range slices.Chunk(x.layout.Load().members(0), 3) {
				x.Remove(gone)
			}
			check(t, x, func(slot uint32) bool { _, ok := x.home(slot); return ok })
		})
	}
}

// At the width that a collection chooses by itself nearly all of ten neighbours are found, for all metrics and
// shapes; more width finds more.
func TestRecall(t *testing.T) {
	n, queries := vectorkit.Scaled(5000), vectorkit.Scaled(40)
	for _, c := range vectorkit.Comparisons(32) {
		for _, shape := range []struct {
			name    string
			centres int
			spread  float64
			floor   [3]float64 // at Ef 20, 96, 400
		}{{"clustered", 60, 0.3, [3]float64{0.88, 0.995, 0.999}}, {"loose", 30, 1, [3]float64{0.85, 0.99, 0.999}}} {
			t.Run(fmt.Sprintf("%v/%v/%s", c.Metric, c.Quantization, shape.name), func(t *testing.T) {
				t.Parallel()
				rows := around(vectorkit.Rand(t, 6), n, shape.centres, c.Dim, shape.spread)
				p := vectorkit.Points(t, c, rows)
				x := New(vector.IndexOptions{Config: p.Config()})
				x.Attach(p, nil)
				for slot := range uint32(n - queries) {
					x.Insert(slot)
				}
				for i, got := range recalls(p, x, n-queries, []int{20, 96, 400}, all) {
					t.Logf("recall %.4f", got)
					if got < shape.floor[i] {
						t.Errorf("recall %.4f, want %.3f", got, shape.floor[i])
					}
				}
			})
		}
	}
}

// Under dot the directions of vectors decide their cells, whatever their lengths: those of a thousand times the
// length, which are nearest to any query of about their direction, are found as well.
func TestRecallOfUnequalLengths(t *testing.T) {
	n, queries := vectorkit.Scaled(5000), vectorkit.Scaled(40)
	for _, c := range vectorkit.Comparisons(32) {
		if c.Metric != vector.Dot {
			continue
		}
		t.Run(c.Quantization.String(), func(t *testing.T) {
			t.Parallel()
			r := vectorkit.Rand(t, 6)
			rows := around(r, n, 60, c.Dim, 0.3)
			for _, row := range rows[:n-queries] {
				by := float32(math.Pow(1000, r.Float64()))
				for j := range row {
					row[j] *= by
				}
			}
			p := vectorkit.Points(t, c, rows)
			x := New(vector.IndexOptions{Config: p.Config()})
			x.Attach(p, nil)
			for slot := range uint32(n - queries) {
				x.Insert(slot)
			}
			check(t, x, func(slot uint32) bool { return slot < uint32(n-queries) })
			got, want := recalls(p, x, n-queries, []int{20, 96, 400}, all), []float64{0.85, 0.99, 0.999}
			t.Logf("recall %.4f", got)
			for i := range got {
				if got[i] < want[i] {
					t.Errorf("recall %.4f, want %.3f", got[i], want[i])
				}
			}
		})
	}
}

// The first split is no more work than others: it makes few cells of the many slots, and the inserts that follow
// divide those.
func TestFirstSplit(t *testing.T) {
	const n = 2 * single
	p := vectorkit.Points(t, vector.Config{Dim: 8}, around(vectorkit.Rand(t, 12), n, 50, 8, 0.5))
	x := New(vector.IndexOptions{Config: p.Config()})
	x.Attach(p, nil)
	for slot := range uint32(n) {
		before := len(x.layout.Load().cells)
		x.Insert(slot)
		// An insert may split the cell it went to and the one whose turn it is.
		if made := len(x.layout.Load().cells) - before; made > 2*(maxParts-1) && slot > 0 {
			t.Errorf("insert %d made %d cells", slot, made)
		}
	}
	check(t, x, all)
	l := x.layout.Load()
	for at := range l.cells {
		if x.overfull(l, at) {
			t.Errorf("cell %d of %d holds %d slots, %d are meant", at, len(l.cells), len(l.cells[at].slots()), x.size())
		}
	}
}

// recalls are the shares of the ten nearest admitted among the first n slots that x finds for the slots behind
// them, by width.
func recalls(p *vector.Points, x *Index, n int, widths []int, admit func(uint32) bool) []float64 {
	const k = 10
	probe, found, wanted := p.NewProbe(), make([]float64, len(widths)), 0.0
	for q := uint32(n); q < p.Len(); q++ {
		probe.SetSlot(q)
		want := nearest(p, q, n, k, admit)
		wanted += float64(len(want))
		for i, ef := range widths {
			got := x.Search(vector.Query{Probe: probe, K: 2 * k, Ef: ef, Admit: admit, Narrow: true}, nil)
			for _, slot := range want {
				if slices.Contains(got, slot) {
					found[i]++
				}
			}
		}
	}
	for i := range found {
		found[i] /= wanted
	}
	return found
}

// nearest are the k admitted slots below n nearest to slot q, by comparing all in float64.
func nearest(p *vector.Points, q uint32, n, k int, admit func(uint32) bool) []uint32 {
	type at struct {
		slot uint32
		far  float64
	}
	var order []at
	for slot := range uint32(n) {
		if !admit(slot) {
			continue
		}
		far := 0.0
		for i, v := range p.Vector(slot) {
			if d := float64(p.Vector(q)[i]); p.Config().Metric == vector.L2 {
				far += (d - float64(v)) * (d - float64(v))
			} else {
				far -= d * float64(v)
			}
		}
		order = append(order, at{slot, far})
	}
	slices.SortFunc(order, func(a, b at) int {
		if c := cmp.Compare(a.far, b.far); c != 0 {
			return c
		}
		return cmp.Compare(a.slot, b.slot)
	})
	var out []uint32
	for _, o := range order[:min(k, len(order))] {
		out = append(out, o.slot)
	}
	return out
}

// A narrow search returns K whenever so many are admitted, however few and wherever they are, and says nothing
// once it has compared as many as its caller allows.
func TestNarrow(t *testing.T) {
	const k = 20
	n := vectorkit.Scaled(4000) + 1000
	rows := around(vectorkit.Rand(t, 7), n, 40, 16, 0.4)
	p := vectorkit.Points(t, vector.Config{Dim: 16, Kind: vector.IVF}, rows)
	x := New(vector.IndexOptions{Config: p.Config()})
	x.Attach(p, nil)
	for slot := range uint32(n) {
		x.Insert(slot)
	}
	probe := p.NewProbe()
	for q := range uint32(vectorkit.Scaled(20)) {
		probe.SetSlot(q * 17)
		far := nearest(p, q*17, n, n, all)
		far = far[n-30:] // the filter admits what is farthest from the query
		for _, admitted := range []int{0, 1, k - 1, k, 30} {
			admit := func(slot uint32) bool { return slices.Contains(far[:admitted], slot) }
			got := x.Search(vector.Query{Probe: probe, K: k, Ef: 40, Admit: admit, Narrow: true}, nil)
			if len(got) != min(k, admitted) {
				t.Errorf("%d of %d admitted found", len(got), admitted)
			}
			wide := x.Search(vector.Query{Probe: probe, K: k, Ef: 40, Admit: admit}, nil)
			if len(wide) != min(k, admitted) {
				t.Errorf("%d of %d admitted found by a search that is not narrow", len(wide), admitted)
			}
		}
		if got := x.Search(vector.Query{Probe: probe, K: k, Ef: 40, Admit: all, Narrow: true, Most: 10}, nil); len(got) != 0 {
			t.Errorf("%d found beyond what may be compared", len(got))
		}
	}
	for _, every := range []uint32{2, 10, 50} {
		if got := recalls(p, x, n-50, []int{96}, func(slot uint32) bool { return slot%every == 0 }); got[0] < 0.97 {
			t.Errorf("one in %d: recall %.4f", every, got[0])
		}
	}
}

// A search allocates nothing once it is warm.
func TestSearchAllocatesNothing(t *testing.T) {
	const n = 2000
	p := vectorkit.Points(t, vector.Config{Dim: 16, Kind: vector.IVF}, around(vectorkit.Rand(t, 8), n, 20, 16, 0.4))
	x := New(vector.IndexOptions{Config: p.Config()})
	x.Attach(p, nil)
	for slot := range uint32(n) {
		x.Insert(slot)
	}
	probe := p.NewProbe()
	probe.SetSlot(3)
	out := make([]uint32, 0, 100)
	for _, narrow := range []bool{false, true} {
		q := vector.Query{Probe: probe, K: 20, Ef: 100, Narrow: narrow, Admit: func(slot uint32) bool { return !narrow || slot%2 == 0 }}
		if got := testing.AllocsPerRun(100, func() { out = x.Search(q, out[:0]) }); got >= 1 && !vectorkit.Race {
			t.Errorf("narrow %v: %v allocations a search", narrow, got)
		}
	}
}

// Searches run beside inserts and removals, and find what is there from before to after.
func TestSearchBesideFeeding(t *testing.T) {
	const n, kept = 4000, 1500
	p := vectorkit.Points(t, vector.Config{Dim: 8, Kind: vector.IVF}, around(vectorkit.Rand(t, 9), n, 20, 8, 0.5))
	x := New(vector.IndexOptions{Config: p.Config()})
	x.Attach(p, nil)
	for slot := range uint32(kept) {
		x.Insert(slot)
	}
	done := make(chan struct{})
	var searchers sync.WaitGroup
	for g := range 2 {
		searchers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			probe := p.NewProbe()
			for {
				select {
				case <-done:
					return
				default:
				}
				slot := uint32(r.IntN(kept))
				probe.SetSlot(slot)
				found := x.Search(vector.Query{Probe: probe, K: kept, Ef: kept, Admit: func(s uint32) bool { return s < kept }}, nil)
				if len(found) != kept {
					t.Errorf("%d of %d found", len(found), kept)
					return
				}
				if st := x.Stats(); st.Nodes < kept || st.Bytes <= 0 {
					t.Errorf("%+v", st)
					return
				}
			}
		})
	}
	for round := range 3 {
		for slot := uint32(kept); slot < n; slot++ {
			x.Insert(slot)
		}
		var gone []uint32
		for slot := uint32(kept); slot < n; slot++ {
			if round < 2 {
				gone = append(gone, slot)
			}
		}
		for part := range slices.Chunk(gone, 64) {
			x.Remove(part)
		}
	}
	close(done)
	searchers.Wait()
	check(t, x, all)
}

// The last vector may go, and others come.
func TestEmpty(t *testing.T) {
	p := vectorkit.Points(t, vector.Config{Dim: 2, Kind: vector.IVF}, [][]float32{{1, 0}, {0, 1}, {1, 1}})
	x := New(vector.IndexOptions{Config: p.Config(), Prefix: []byte("p/"), Persist: true})
	x.Attach(p, nil)
	probe := p.NewProbe()
	probe.SetSlot(0)
	find := func(want ...uint32) {
		t.Helper()
		check(t, x, func(slot uint32) bool { return slices.Contains(want, slot) })
		if got := x.Search(vector.Query{Probe: probe, K: 5, Ef: 5, Admit: all}, nil); !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	}
	find()
	x.Insert(0)
	x.Insert(0)
	find(0)
	x.Remove([]uint32{0, 2})
	find()
	if st := x.Stats(); st.Nodes != 0 || st.Levels != 0 || st.Cells != 0 {
		t.Errorf("%+v", st)
	}
	x.Insert(1)
	x.Insert(2)
	find(2, 1)
}

// Keys order as distances do, of either sign.
func TestKeysOrder(t *testing.T) {
	far := []float32{float32(math.Inf(-1)), -1e30, -1, -1e-30, 0, 1e-30, 1, 1e30, float32(math.Inf(1))}
	for i := 1; i < len(far); i++ {
		if key(far[i-1], 9) >= key(far[i], 1) || key(far[i], 1) >= key(far[i], 2) {
			t.Errorf("key of %v is not below that of %v", far[i-1], far[i])
		}
	}
}
