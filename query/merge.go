package query

import (
	"cmp"
	"slices"
)

// interleave merges lists round-robin: item 0 of each list in turn, item 1 of each, and so on. Of items
// with equal keys the first sighting stays; again, when not nil, is told about each later one.
func interleave[T any, K comparable](key func(*T) K, again func(kept, other *T), lists ...[]T) []T {
	longest, total := 0, 0
	for _, l := range lists {
		longest = max(longest, len(l))
		total += len(l)
	}
	out := make([]T, 0, total)
	at := make(map[K]int, total)
	for i := range longest {
		for _, l := range lists {
			if i >= len(l) {
				continue
			}
			k := key(&l[i])
			if j, seen := at[k]; seen {
				if again != nil {
					again(&out[j], &l[i])
				}
				continue
			}
			at[k] = len(out)
			out = append(out, l[i])
		}
	}
	return out
}

// and is the path of something that was found by both v and w.
func (v Via) and(w Via) Via {
	switch {
	case v == w || w == ViaName:
		return v
	case v == ViaName:
		return w
	}
	return ViaBoth
}

func mergeEntities(lists ...[]*Entity) []*Entity {
	return interleave(func(e **Entity) string { return (*e).Name }, func(keptAt, otherAt **Entity) {
		kept, other := *keptAt, *otherAt
		kept.Via = kept.Via.and(other.Via)
		kept.Score = max(kept.Score, other.Score)
		if kept.Found == nil {
			kept.Found = other.Found
		}
	}, lists...)
}

func mergeRelations(lists ...[]*Relation) []*Relation {
	return interleave(func(r **Relation) [2]string { return [2]string{(*r).Src, (*r).Dst} }, func(keptAt, otherAt **Relation) {
		kept, other := *keptAt, *otherAt
		kept.Via = kept.Via.and(other.Via)
		kept.Score = max(kept.Score, other.Score)
		kept.Rank = max(kept.Rank, other.Rank)
	}, lists...)
}

// candidate is a chunk id and every path that found it.
type candidate struct {
	id    string
	found []Found
}

// mergeCandidates interleaves hits of the question, chunks of entities and chunks of relations, in this order,
// and gives each its rank in the list it came from, where that is not known.
func mergeCandidates(lists ...[]candidate) []candidate {
	for _, l := range lists {
		for i := range l {
			if l[i].found[0].Rank == 0 {
				l[i].found[0].Rank = i + 1
			}
		}
	}
	return interleave(func(c *candidate) string { return c.id },
		func(kept, other *candidate) { kept.found = append(kept.found, other.found...) }, lists...)
}

// graphShare is what a place in the chunks of entities or of relations is worth beside one in the hits of the question, and
// placeConstant how little the first places stand out; chosen by the collections of docs/quality.md.
const (
	graphShare    = 0.2
	placeConstant = 5
)

// byPlaces orders merged chunks by the places that they have in the lists merged, the question's hits first among these:
// a sum of reciprocal ranks, in which the graph confirms and completes what the words found. Turns of mergeCandidates, which
// are the order of searches by vector, would give two places of three to the graph. Equal sums keep their order.
func byPlaces(merged []candidate, lists ...[]candidate) {
	worth := make(map[string]float64, len(merged))
	share := 1.0
	for _, l := range lists {
		for i, c := range l {
			worth[c.id] += share / float64(placeConstant+i+1)
		}
		share = graphShare
	}
	slices.SortStableFunc(merged, func(a, b candidate) int { return cmp.Compare(worth[b.id], worth[a.id]) })
}
