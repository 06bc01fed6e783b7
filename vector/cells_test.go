package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
)

// Cells find what a search filtered by membership finds: over every quantisation, with rows in memory and without, while
// vectors come, go and move, for views old and new, and over the points that a collection moves to.
func TestCells(t *testing.T) {
	for _, q := range []Quantization{Int8, Float32, Binary} {
		for _, memory := range []int64{0, 1} {
			t.Run(fmt.Sprintf("%v memory %d", q, memory), func(t *testing.T) { testCells(t, q, memory) })
		}
	}
}

func testCells(t *testing.T, q Quantization, memory int64) {
	const dim, count = 64, 300
	s := open(t, SetOptions{MemoryBytes: memory, ExactBytes: -1})
	r := rand.New(rand.NewPCG(uint64(q), 2))
	random := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	var coll *Collection
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.update(func(b *kv.Batch) (err error) {
		coll, err = s.set.Create(b, "", "v", Config{Dim: dim, Quantization: q})
		return err
	}))
	cells := coll.NewCells()
	o := &recorder{cells: cells, in: make(map[uint64][]uint32), r: r}
	coll.Observe(o)
	check := func(view *kv.Snapshot) {
		t.Helper()
		some := []uint32{uint32(r.IntN(4)), uint32(r.IntN(4)), 99}
		member := make(map[string]bool)
		for _, c := range some {
			for _, m := range cells.Members(view, c) {
				member[m.ID] = true
			}
		}
		probe := random()
		want, err := coll.Search(t.Context(), view, probe, SearchOptions{K: 12, Exact: true, Filter: func(id string) bool { return member[id] }})
		must(err)
		got, compared, err := cells.Search(t.Context(), view, probe, some, SearchOptions{K: 12})
		must(err)
		if q != Binary && !slices.Equal(got, want) || len(got) != len(want) || compared < len(member) {
			t.Fatalf("cells %v compared %d of %d: %v, want %v", some, compared, len(member), got, want)
		}
	}
	old := s.view()
	defer func() { old.Close() }()
	for round := range 30 {
		must(s.update(func(b *kv.Batch) error {
			for range 20 {
				id := fmt.Sprint(r.IntN(count))
				if r.IntN(3) == 0 {
					must(coll.Delete(b, id))
				} else {
					must(coll.Put(b, id, random()))
				}
			}
			return nil
		}))
		if round == 10 {
			old.Close()
			old = s.view()
		}
		if round == 20 {
			must(s.set.Compact(t.Context()))
		}
		view := s.view()
		check(view)
		if round >= 10 {
			check(old)
		}
		for c := range uint32(4) {
			for _, m := range cells.Members(view, c) {
				if !slices.Contains(o.in[m.Ordinal], c) {
					t.Fatalf("cell %d lists vector %d, which is in %v", c, m.Ordinal, o.in[m.Ordinal])
				}
			}
		}
		view.Close()
	}
	if _, _, err := cells.Search(t.Context(), old, random(), nil, SearchOptions{}); err == nil {
		t.Error("a search for no hits is not refused")
	}
	survey, err := coll.Survey(old)
	must(err)
	for i := range survey.Len() {
		v, err := coll.Get(old, survey.ID(i))
		must(err)
		if !slices.Equal(v, survey.Vector(i)) {
			t.Errorf("survey: %s is %v, want %v", survey.ID(i), survey.Vector(i), v)
		}
	}
	must(survey.Err())
}

// recorder puts vectors into cells at random, now and then into two, and moves some.
type recorder struct {
	cells *Cells
	in    map[uint64][]uint32
	r     *rand.Rand
}

type recorded struct{ changes []CellChange }

func (o *recorder) Changed(b *kv.Batch, _ *Collection, ch Change) error {
	p := b.Attachment(o, func() any {
		p := &recorded{}
		b.OnCommit(func(kv.LSN) { o.cells.Assign(p.changes) })
		return p
	}).(*recorded)
	if ch.Replaces {
		if ch.Before == nil {
			return fmt.Errorf("no vector before the change of %s", ch.ID)
		}
		p.changes = append(p.changes, CellChange{Ordinal: ch.Old, From: o.in[ch.Old]})
	}
	if ch.After != nil {
		to := []uint32{uint32(o.r.IntN(4))}
		if o.r.IntN(3) == 0 {
			to = append(to, (to[0]+1)%4)
		}
		o.in[ch.New] = to
		p.changes = append(p.changes, CellChange{Ordinal: ch.New, To: to})
	}
	for ord, from := range o.in { // one that was there moves
		if ord < ch.New {
			to := []uint32{(from[0] + 1) % 4}
			o.in[ord] = to
			p.changes = append(p.changes, CellChange{Ordinal: ord, From: from, To: to})
			break
		}
	}
	return nil
}
