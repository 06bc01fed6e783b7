package vector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// store is a kv store with the commit path reduced to what vector needs: one writer, an LSN, hooks.
type store struct {
	t   testing.TB
	kv  *kv.Store
	lsn kv.LSN
	set *Set
	o   SetOptions
}

// open returns an empty store. What the test leaves in it is checked at its end.
func open(t testing.TB, o SetOptions) *store {
	t.Helper()
	s := openUnchecked(t, o)
	t.Cleanup(s.checkAll)
	return s
}

// openUnchecked is open for tests that damage the store.
func openUnchecked(t testing.TB, o SetOptions) *store {
	t.Helper()
	s := &store{t: t, o: o}
	var err error
	if s.kv, err = kv.Open("db", kv.Options{FS: testkit.MemFS()}); err != nil {
		t.Fatal(err)
	}
	s.openSet()
	t.Cleanup(func() {
		if err := errors.Join(s.set.Close(), s.kv.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// testSpaces are the workspaces of tests.
var testSpaces = []string{"", "w"}

func (s *store) openSet() {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	var err error
	if s.set, err = OpenSet(snap, s.o, testSpaces...); err != nil {
		s.t.Fatal(err)
	}
}

// reopen loads everything again from the rows.
func (s *store) reopen() {
	s.t.Helper()
	if err := s.set.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.openSet()
}

func (s *store) view() *kv.Snapshot {
	s.t.Helper()
	snap, err := s.kv.Snapshot(s.lsn)
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *store) update(f func(b *kv.Batch) error) error {
	s.t.Helper()
	b, err := s.kv.NewBatch(s.lsn)
	if err != nil {
		s.t.Fatal(err)
	}
	defer b.Close()
	if err := f(b); err != nil {
		return err
	}
	if err := s.kv.Apply(b); err != nil {
		s.t.Fatal(err)
	}
	s.lsn++
	b.Committed(s.lsn)
	return nil
}

func (s *store) must(f func(b *kv.Batch) error) {
	s.t.Helper()
	if err := s.update(f); err != nil {
		s.t.Fatal(err)
	}
}

// checkAll checks every collection of every workspace, of a set that was closed as it is loaded again.
func (s *store) checkAll() {
	s.t.Helper()
	if err := s.set.Settle(context.Background()); errors.Is(err, ErrClosed) {
		s.openSet()
	} else if err != nil {
		s.t.Error(err)
	}
	snap := s.view()
	defer snap.Close()
	for _, ws := range testSpaces {
		for p, err := range s.set.Check(context.Background(), snap, ws) {
			s.t.Errorf("check of workspace %q: %v %v", ws, p, err)
		}
	}
}

func (s *store) check(name string) {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	c, err := s.set.Collection(snap, "", name)
	if err != nil {
		s.t.Fatal(err)
	}
	for p, err := range c.Check(context.Background(), snap) {
		s.t.Errorf("check: %v %v", p, err)
	}
}

// brute is the answer by definition, in float64.
func brute(rows map[string][]float32, m Metric, q []float32, k int) []Hit {
	var hits []Hit
	for id, v := range rows {
		var dot, qq, vv, d2 float64
		for i := range q {
			a, b := float64(q[i]), float64(v[i])
			dot, qq, vv, d2 = dot+a*b, qq+a*a, vv+b*b, d2+(a-b)*(a-b)
		}
		s := dot
		switch m {
		case Cosine:
			s = dot / math.Sqrt(qq*vv)
		case L2:
			s = -math.Sqrt(d2)
		}
		hits = append(hits, Hit{id, float32(s)})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	return hits[:min(k, len(hits))]
}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// same compares by score: near ties may swap, and a score may differ in its last bits.
func same(t testing.TB, got, want []Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range got {
		if d := float64(got[i].Score - want[i].Score); d > 1e-4 || d < -1e-4 {
			t.Fatalf("hit %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

// The state of a collection follows a map through random inserts, overwrites, deletes, old views, reads
// inside batches and reopening; searches are exact at each of them.
func TestExactSearchFollowsAModel(t *testing.T) {
	for _, metric := range []Metric{Cosine, Dot, L2} {
		for _, dim := range []int{1, 3, 17, 64} {
			t.Run(fmt.Sprintf("%v/%d", metric, dim), func(t *testing.T) {
				const seed = 7
				r := rand.New(rand.NewPCG(seed, uint64(dim)))
				s := open(t, SetOptions{})
				s.must(func(b *kv.Batch) error {
					_, err := s.set.Create(b, "", "c", Config{Metric: metric, Dim: dim, Model: "m"})
					return err
				})
				rows := make(map[string][]float32)
				type past struct {
					snap *kv.Snapshot
					rows map[string][]float32
				}
				var views []past
				for round := range 30 {
					s.must(func(b *kv.Batch) error {
						c, err := s.set.Collection(b, "", "c")
						if err != nil {
							return err
						}
						for range 12 {
							id := fmt.Sprint("id", r.IntN(60))
							if r.IntN(4) == 0 {
								delete(rows, id)
								err = c.Delete(b, id)
							} else {
								rows[id] = random(r, dim)
								err = c.Put(b, id, rows[id])
							}
							if err != nil {
								return err
							}
						}
						q := random(r, dim)
						got, err := c.Search(context.Background(), b, q, SearchOptions{K: 5})
						if err == nil {
							same(t, got, brute(rows, metric, q, 5))
						}
						return err
					})
					if round%7 == 3 {
						s.reopen()
						for _, v := range views { // a view does not outlive the set it reads memory of
							v.snap.Close()
						}
						views = nil
					}
					views = append(views, past{s.view(), maps.Clone(rows)})
					for _, v := range views {
						c, err := s.set.Collection(v.snap, "", "c")
						if err != nil {
							t.Fatal(err)
						}
						q := random(r, dim)
						got, err := c.Search(context.Background(), v.snap, q, SearchOptions{K: 8})
						if err != nil {
							t.Fatal(err)
						}
						same(t, got, brute(v.rows, metric, q, 8))
						if n, err := c.Len(v.snap); err != nil || n != len(v.rows) {
							t.Fatalf("len %d, %v; want %d", n, err, len(v.rows))
						}
					}
					s.check("c")
				}
				for _, v := range views {
					v.snap.Close()
				}
			})
		}
	}
}
