package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/kv"
)

// TestPairsFollowBruteForce compares with all pairs, equal and zero vectors among them.
func TestPairsFollowBruteForce(t *testing.T) {
	for _, metric := range []Metric{Cosine, Dot, L2} {
		t.Run(metric.String(), func(t *testing.T) {
			s := open(t, SetOptions{})
			r := rand.New(rand.NewPCG(3, 8))
			rows := map[string][]float32{}
			s.must(func(b *kv.Batch) error {
				c, err := s.set.Create(b, "", "c", Config{Metric: metric, Dim: 6})
				for i := 0; i < 60 && err == nil; i++ {
					id := fmt.Sprintf("v%02d", i)
					rows[id] = random(r, 6)
					if i%7 == 6 {
						rows[id] = rows[fmt.Sprintf("v%02d", i-1)]
					}
					if metric != Cosine && i == 30 {
						rows[id] = make([]float32, 6)
					}
					err = c.Put(b, id, rows[id])
				}
				return err
			})
			snap := s.view()
			defer snap.Close()
			c, err := s.set.Collection(snap, "", "c")
			if err != nil {
				t.Fatal(err)
			}
			least := map[Metric]float64{Cosine: 0.4, Dot: 1.5, L2: -2}[metric]
			want := map[[2]string]float32{}
			for id, v := range rows {
				for _, h := range brute(rows, metric, v, len(rows)) {
					if h.ID > id && float64(h.Score) >= least {
						want[[2]string{id, h.ID}] = h.Score
					}
				}
			}
			var last Pair
			n := 0
			for p, err := range c.Pairs(t.Context(), snap, least) {
				if err != nil {
					t.Fatal(err)
				}
				score, ok := want[[2]string{p.A, p.B}]
				if d := score - p.Score; !ok || d > 1e-5 || d < -1e-5 {
					t.Errorf("pair %v, want %v %v", p, score, ok)
				}
				if n > 0 && (p.A < last.A || p.A == last.A && order(Hit{last.B, last.Score}, Hit{p.B, p.Score}) >= 0) {
					t.Errorf("%v comes before %v", last, p)
				}
				last = p
				n++
			}
			if n != len(want) || n < 20 {
				t.Errorf("%d pairs, want %d", n, len(want))
			}
			for _, err := range c.Pairs(t.Context(), snap, least) {
				if err != nil {
					t.Error(err)
				}
				break // leaves nothing open
			}
		})
	}
}
