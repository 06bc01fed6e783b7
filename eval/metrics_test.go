package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// TestJudgeByHand has values that were worked out on paper.
func TestJudgeByHand(t *testing.T) {
	log3 := math.Log2(3)
	for _, x := range []struct {
		name    string
		ranking []string
		gold    Gold
		k       int
		want    AtK
		mrr     float64
	}{
		{"all found, in order", []string{"a", "b"}, Gold{"a": 1, "b": 1}, 2, AtK{2, 1, 1, 1, 1}, 1},
		{"graded, in the wrong order", []string{"b", "a"}, Gold{"a": 3, "b": 1}, 2, AtK{2, 1, 1, 1, (1 + 3/log3) / (3 + 1/log3)}, 1},
		{"second and fourth", []string{"x", "a", "y", "b"}, Gold{"a": 2, "b": 1, "c": 1}, 4,
			AtK{4, 2. / 3, .5, 1, (2/log3 + 1/math.Log2(5)) / (2 + 1/log3 + 1./2)}, .5},
		{"beyond k", []string{"x", "a"}, Gold{"a": 1}, 1, AtK{1, 0, 0, 0, 0}, 0},
		{"k beyond the results", []string{"a"}, Gold{"a": 1, "b": 1}, 10, AtK{10, .5, .1, 1, 1 / (1 + 1/log3)}, 1},
		{"more gold than k", []string{"a", "b"}, Gold{"a": 1, "b": 1, "c": 1, "d": 1}, 2, AtK{2, .5, 1, 1, 1}, 1},
		{"repeats count once, and what follows moves up", []string{"x", "x", "a", "a", "b"}, Gold{"a": 1, "b": 1}, 3,
			AtK{3, 1, 2. / 3, 1, (1/log3 + 1./2) / (1 + 1/log3)}, .5},
		{"nothing found", []string{"x", "y"}, Gold{"a": 1}, 2, AtK{2, 0, 0, 0, 0}, 0},
		{"no results", nil, Gold{"a": 1}, 5, AtK{5, 0, 0, 0, 0}, 0},
		{"no gold", []string{"a"}, nil, 5, AtK{5, 0, 0, 0, 0}, 0},
	} {
		m := Judge(x.ranking, x.gold, x.k)
		g := m.At[0]
		if len(m.At) != 1 || g.K != x.k || !near(g.Recall, x.want.Recall) || !near(g.Precision, x.want.Precision) || !near(g.Hit, x.want.Hit) ||
			!near(g.NDCG, x.want.NDCG) || !near(m.MRR, x.mrr) {
			t.Errorf("%s: %+v, want %+v, MRR %v", x.name, m, x.want, x.mrr)
		}
	}
	if m := Judge([]string{"a"}, Gold{"a": 1}); len(m.At) != 0 || m.MRR != 0 {
		t.Errorf("without a k: %+v", m)
	}
}

// independent computes the measures from sets and sums of their own, place by place.
func independent(ranking []string, gold Gold, k int) (recall, precision, hit, ndcg, mrr float64) {
	var list []string
	for _, id := range ranking {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	for place := 1; place <= k && place <= len(list); place++ {
		if gain, ok := gold[list[place-1]]; ok {
			recall++
			hit = 1
			ndcg += gain * math.Ln2 / math.Log(float64(1+place))
			if mrr == 0 {
				mrr = math.Pow(float64(place), -1)
			}
		}
	}
	precision = recall / float64(k)
	recall /= float64(len(gold))
	best, rest := 0.0, Gold{}
	for id, g := range gold {
		rest[id] = g
	}
	for place := 1; place <= k && len(rest) > 0; place++ {
		top := ""
		for id, g := range rest {
			if top == "" || g > rest[top] {
				top = id
			}
		}
		best += rest[top] * math.Ln2 / math.Log(float64(1+place))
		delete(rest, top)
	}
	return recall, precision, hit, ndcg / best, mrr
}

// TestJudgeOfExtremeGains: sums that no number could hold, and gains that are nothing beside others.
func TestJudgeOfExtremeGains(t *testing.T) {
	gold := Gold{"a": math.MaxFloat64, "b": math.MaxFloat64, "c": math.SmallestNonzeroFloat64}
	if at := Judge([]string{"a", "b", "c"}, gold, 3).At[0]; at.Recall != 1 || !near(at.NDCG, 1) {
		t.Errorf("all found: %+v", at)
	}
	if m := Judge([]string{"c"}, gold, 3); m.MRR != 1 || m.At[0].Hit != 1 || !near(m.At[0].Recall, 1./3) {
		t.Errorf("the least found: %+v", m)
	}
	if at := Judge([]string{"x", "b"}, Gold{"b": math.SmallestNonzeroFloat64}, 2).At[0]; !near(at.NDCG, 1/math.Log2(3)) {
		t.Errorf("a small gain: %+v", at)
	}
}

func TestJudgeEqualsAnIndependentFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var all []Measures
	var sum float64
	for range 2000 {
		gold := Gold{}
		for range 1 + r.IntN(6) {
			gold[fmt.Sprint(r.IntN(12))] = float64(1+r.IntN(4)) / 2
		}
		ranking := make([]string, r.IntN(15))
		for i := range ranking {
			ranking[i] = fmt.Sprint(r.IntN(12))
		}
		ks := []int{1, 3, 10}
		m := Judge(ranking, gold, ks...)
		all = append(all, m)
		for i, k := range ks {
			recall, precision, hit, ndcg, mrr := independent(ranking, gold, k)
			at := m.At[i]
			if !near(at.Recall, recall) || !near(at.Precision, precision) || !near(at.Hit, hit) || math.Abs(at.NDCG-ndcg) > 1e-9 || k == 10 && !near(m.MRR, mrr) {
				t.Fatalf("%v of %v at %d: %+v, MRR %v; want %v %v %v %v %v", ranking, gold, k, at, m.MRR, recall, precision, hit, ndcg, mrr)
			}
		}
		sum += m.At[1].Recall
	}
	if mean := Mean(all); math.Abs(mean.At[1].Recall-sum/float64(len(all))) > 1e-9 || mean.At[1].K != 3 {
		t.Errorf("mean %+v, want recall %v", mean.At[1], sum/float64(len(all)))
	}
	if m := Mean(nil); len(m.At) != 0 || m.MRR != 0 {
		t.Errorf("mean of nothing: %+v", m)
	}
}

func TestNeighborRecall(t *testing.T) {
	for _, x := range []struct {
		have, want string
		k          int
		recall     float64
	}{{"abc", "abc", 3, 1}, {"cba", "abc", 3, 1}, {"abx", "abc", 3, 2. / 3}, {"xab", "abc", 2, .5}, {"", "ab", 2, 0}, {"ab", "", 2, 1}, {"a", "aa", 5, 1}, {"ab", "ab", 9, 1}} {
		split := func(s string) (ids []string) {
			for _, c := range s {
				ids = append(ids, string(c))
			}
			return ids
		}
		if got := NeighborRecall(split(x.have), split(x.want), x.k); !near(got, x.recall) {
			t.Errorf("%q of %q at %d is %v, want %v", x.have, x.want, x.k, got, x.recall)
		}
	}
}
