package eval

import (
	"maps"
	"math"
	"slices"
)

// Gold is what a question should find: ids, each with its gain. A gain is above 0; 1 where judgements are not graded.
type Gold map[string]float64

// Measures are those of one ranking, or means over many. All are 0 to 1.
type Measures struct {
	// At are the measures at each K, in the order of the Ks asked for.
	At []AtK `json:"at"`
	// MRR is 1/rank of the first relevant result within the largest K, 0 without one.
	MRR float64 `json:"mrr"`
}

// AtK are the measures of the first K results.
type AtK struct {
	K int `json:"k"`
	// Recall is the share of the relevant ids that are among the K.
	Recall float64 `json:"recall"`
	// Precision is the share of K that is relevant, also when there are fewer results than K.
	Precision float64 `json:"precision"`
	// Hit is 1 when any of the K is relevant, else 0.
	Hit float64 `json:"hit"`
	// NDCG is the sum of gains, each divided by log2(rank+1), over the best sum that K results can have (Järvelin and
	// Kekäläinen, 2002).
	NDCG float64 `json:"ndcg"`
}

// Judge measures a ranking, best first, against what is relevant. A repeated id counts at its first place alone, and
// those behind it move up. Equal scores are for the ranking to order: places are all that counts. gold must not be
// empty: without anything to find there is nothing to measure, and Judge returns zeros. It costs the length of the
// ranking.
func Judge(ranking []string, gold Gold, ks ...int) Measures {
	m := Measures{At: make([]AtK, len(ks))}
	for i, k := range ks {
		m.At[i].K = k
	}
	if len(gold) == 0 || len(ks) == 0 {
		return m
	}
	ideal := slices.Sorted(maps.Values(gold))
	slices.Reverse(ideal)
	gains := gainsOf(ranking, gold, slices.Max(ks))
	for rank, g := range gains {
		if g > 0 {
			m.MRR = 1 / float64(rank+1)
			break
		}
	}
	for i, k := range ks {
		at := &m.At[i]
		found := 0.0
		for rank, g := range gains[:min(k, len(gains))] {
			if g > 0 {
				found++
				at.NDCG += discounted(g/ideal[0], rank)
			}
		}
		best := 0.0
		for rank, g := range ideal[:min(k, len(ideal))] {
			best += discounted(g/ideal[0], rank)
		}
		at.Recall, at.Precision, at.Hit = found/float64(len(gold)), found/float64(k), min(found, 1)
		at.NDCG /= best
	}
	return m
}

// discounted takes shares of the largest gain: sums of gains could be too large for a number.
func discounted(gain float64, rank int) float64 { return gain / math.Log2(float64(rank+2)) }

// gainsOf lists the gains of the first k distinct ids.
func gainsOf(ranking []string, gold Gold, k int) []float64 {
	gains := make([]float64, 0, min(k, len(ranking)))
	for _, id := range Distinct(ranking, k) {
		gains = append(gains, gold[id])
	}
	return gains
}

// Distinct returns the first k distinct ids of a ranking, in order.
func Distinct(ranking []string, k int) []string {
	seen := make(map[string]bool, min(k, len(ranking)))
	var out []string
	for _, id := range ranking {
		if len(out) == k {
			break
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// NeighborRecall is the share of the first k ids of an exhaustive ranking that are among the first k of another one:
// what a shortcut loses, without any judgement. Fewer than k exhaustive ids are all there is to find; without any it is 1.
func NeighborRecall(ranking, exhaustive []string, k int) float64 {
	want := Distinct(exhaustive, k)
	if len(want) == 0 {
		return 1
	}
	have := Distinct(ranking, k)
	n := 0
	for _, id := range want {
		if slices.Contains(have, id) {
			n++
		}
	}
	return float64(n) / float64(len(want))
}

// Mean averages measures at the same Ks; of none it is the zero Measures.
func Mean(all []Measures) Measures {
	if len(all) == 0 {
		return Measures{}
	}
	m := Measures{At: make([]AtK, len(all[0].At))}
	for _, x := range all {
		m.MRR += x.MRR
		for i, at := range x.At {
			sum := &m.At[i]
			sum.K = at.K
			sum.Recall += at.Recall
			sum.Precision += at.Precision
			sum.Hit += at.Hit
			sum.NDCG += at.NDCG
		}
	}
	n := float64(len(all)) // divided last, so that the mean of ones is one
	m.MRR /= n
	for i := range m.At {
		at := &m.At[i]
		at.Recall, at.Precision, at.Hit, at.NDCG = at.Recall/n, at.Precision/n, at.Hit/n, at.NDCG/n
	}
	return m
}
