package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/kv"
)

// Range finds what brute force finds at every border: between two scores and on one, with a limit or none,
// among all vectors or those of a set, in a snapshot and in a batch that adds and deletes.
func TestRangeFollowsBruteForce(t *testing.T) {
	for _, config := range comparisons(24) {
		t.Run(fmt.Sprintf("%v/%v", config.Metric, config.Quantization), func(t *testing.T) {
			s := open(t, SetOptions{})
			r := rand.New(rand.NewPCG(11, 5))
			rows := map[string][]float32{}
			put := func(b *kv.Batch, from, to int) error {
				c, err := s.set.Create(b, "", "c", config)
				for i := from; i < to && err == nil; i++ {
					id := fmt.Sprintf("v%03d", i)
					rows[id] = random(r, config.Dim)
					if i%5 == 4 {
						rows[id] = rows[fmt.Sprintf("v%03d", i-1)] // an equal score
					}
					err = c.Put(b, id, rows[id])
				}
				return err
			}
			s.must(func(b *kv.Batch) error { return put(b, 0, 300) })
			snap := s.view()
			defer snap.Close()
			c, err := s.set.Collection(snap, "", "c")
			if err != nil {
				t.Fatal(err)
			}
			in := func(id string) bool { return id[3]%4 == 0 }
			set := c.IDSetWhere(in)
			few := c.IDSet([]string{"v004", "v009", "v100", "gone"})
			compare := func(r kv.Reader, rows map[string][]float32, q []float32) {
				t.Helper()
				for _, f := range []struct {
					name   string
					o      RangeOptions
					admits func(id string) bool
				}{
					{"all", RangeOptions{}, func(string) bool { return true }},
					{"set", RangeOptions{Set: set}, in},
					{"few", RangeOptions{Set: few}, few.Has},
					{"filter", RangeOptions{Filter: in}, in},
				} {
					admitted := map[string][]float32{}
					for id, v := range rows {
						if f.admits(id) {
							admitted[id] = v
						}
					}
					all := brute(admitted, config.Metric, q, len(admitted))
					for _, n := range []int{0, 1, 2, 7, len(all) / 2, len(all)} {
						n = min(n, len(all))
						// The score between the n-th hit and the next; where they are equal, both are in range.
						for n > 0 && n < len(all) && all[n-1].Score-all[n].Score < 1e-4 {
							n++
						}
						least := math.Inf(-1)
						switch {
						case n == 0:
							least = float64(all[0].Score) + 1
						case n < len(all):
							least = (float64(all[n-1].Score) + float64(all[n].Score)) / 2
						}
						if config.Metric == L2 && least > 0 {
							least = 0
						}
						for _, limit := range []int{0, 1, 5, n, n + 1} {
							o := f.o
							o.MinScore, o.Limit = least, limit
							got, err := c.Range(context.Background(), r, q, o)
							if err != nil {
								t.Fatal(err)
							}
							want, cut := all[:n], false
							if limit > 0 && limit < n {
								want, cut = want[:limit], true
							}
							if got.Cut != cut || len(got.Hits) != len(want) {
								t.Fatalf("%s, score %v (%d vectors), limit %d: %d hits, cut %v", f.name, least, n, limit, len(got.Hits), got.Cut)
							}
							same(t, got.Hits, want)
							for i := 1; i < len(got.Hits); i++ {
								if order(got.Hits[i-1], got.Hits[i]) >= 0 {
									t.Fatalf("%v comes before %v", got.Hits[i-1], got.Hits[i])
								}
							}
						}
					}
				}
			}
			compare(snap, rows, random(r, config.Dim))
			s.must(func(b *kv.Batch) error {
				if err := put(b, 300, 340); err != nil {
					return err
				}
				for _, id := range []string{"v000", "v004", "v339"} {
					delete(rows, id)
					if err := c.Delete(b, id); err != nil {
						return err
					}
				}
				compare(b, rows, random(r, config.Dim))
				return nil
			})
			// On the score itself: the hit with it is in range, whatever the codes say.
			q := random(r, config.Dim)
			hits, err := c.Search(context.Background(), snap, q, SearchOptions{K: 300})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range hits {
				got, err := c.Range(context.Background(), snap, q, RangeOptions{MinScore: float64(h.Score)})
				if err != nil || len(got.Hits) <= i || got.Hits[i] != h {
					t.Fatalf("hit %d, %v, is missing from its own range of %d: %v", i, h, len(got.Hits), err)
				}
			}
		})
	}
}

func TestRangeRefuses(t *testing.T) {
	s := open(t, SetOptions{})
	s.must(func(b *kv.Batch) error {
		_, err := s.set.Create(b, "", "l2", Config{Dim: 2, Metric: L2})
		if err == nil {
			_, err = s.set.Create(b, "", "cosine", Config{Dim: 2})
		}
		return err
	})
	snap := s.view()
	defer snap.Close()
	l2, err := s.set.Collection(snap, "", "l2")
	if err != nil {
		t.Fatal(err)
	}
	cosine, err := s.set.Collection(snap, "", "cosine")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l2.Range(context.Background(), snap, []float32{1, 0}, RangeOptions{MinScore: -9}); err != nil || len(got.Hits) != 0 || got.Cut {
		t.Errorf("empty collection: %v, %v", got, err)
	}
	for _, is := range []struct {
		c     *Collection
		field string
		o     RangeOptions
	}{
		{l2, "MinScore", RangeOptions{MinScore: 0.5}}, {cosine, "MinScore", RangeOptions{MinScore: math.NaN()}},
		{cosine, "Limit", RangeOptions{Limit: -1}}, {cosine, "Set", RangeOptions{Set: l2.IDSet(nil)}},
	} {
		_, err := is.c.Range(context.Background(), snap, []float32{1, 0}, is.o)
		var e *ParameterError
		if !errors.As(err, &e) || !errors.Is(err, ErrParameter) || e.Field != is.field {
			t.Errorf("%+v: %v", is.o, err)
		}
	}
	if _, err := cosine.Range(context.Background(), snap, []float32{1}, RangeOptions{}); !errors.Is(err, ErrDimension) {
		t.Errorf("short query: %v", err)
	}
	if got, err := cosine.Range(context.Background(), snap, []float32{0, 0}, RangeOptions{MinScore: math.Inf(-1)}); err != nil || got.Hits != nil || got.Cut {
		t.Errorf("zero query: %v, %v", got, err)
	}
}
