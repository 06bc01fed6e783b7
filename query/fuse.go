package query

import (
	"cmp"
	"slices"
)

// Fusion is how the two lists of a hybrid search become one.
type Fusion string

// The fusions. Both weigh the list by vector with Options.VectorShare and the list by words with the rest of it; a passage
// that a list does not hold gets nothing from it.
const (
	// FuseRanks is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): a place p of a list is worth 1 / (60 + p).
	FuseRanks Fusion = "rrf"
	// FuseScores adds scores, each list's brought to 0 (its last) to 1 (its first); all are 1 where they are equal.
	FuseScores Fusion = "scores"
)

// Fusions lists all fusions.
func Fusions() []Fusion { return []Fusion{FuseRanks, FuseScores} }

// fusionConstant of reciprocal rank fusion: how little the first places of a list stand out.
const fusionConstant = 60

// worth returns what each member of a list, best first, is worth.
func (f Fusion) worth(list []candidate) []float64 {
	out := make([]float64, len(list))
	score := func(i int) float64 { return float64(list[i].found[0].Score.Or(0)) }
	for i := range list {
		switch spread := score(0) - score(len(list)-1); {
		case f == FuseRanks:
			out[i] = 1 / float64(fusionConstant+i+1)
		case spread > 0:
			out[i] = (score(i) - score(len(list)-1)) / spread
		default:
			out[i] = 1
		}
	}
	return out
}

// fuse merges two lists, best first: worth by worth, that of byVector weighed by share, that of the others by the rest of
// it. Equal sums are ordered by id.
func fuse(byVector, byText []candidate, f Fusion, share float64) []candidate {
	if len(byText) == 0 {
		return byVector
	}
	if len(byVector) == 0 {
		return byText
	}
	type scored struct {
		candidate
		score float64
	}
	all := make([]scored, 0, len(byVector)+len(byText))
	at := make(map[string]int, cap(all))
	for i, worth := range f.worth(byVector) {
		c := byVector[i]
		at[c.id] = len(all)
		all = append(all, scored{c, share * worth})
	}
	for i, worth := range f.worth(byText) {
		c, score := byText[i], (1-share)*worth
		if i, ok := at[c.id]; ok {
			all[i].found = append(all[i].found, c.found...)
			all[i].score += score
		} else {
			all = append(all, scored{c, score})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	out := make([]candidate, len(all))
	for i, s := range all {
		out[i] = s.candidate
	}
	return out
}
