package query

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// minQuota is the number of chunks that the least important owner may give under PickWeight.
const minQuota = 1

// maxMissingShare is the share of candidates without a stored vector up to which PickVector ranks the
// rest; above it PickWeight takes over. A few missing vectors should not discard all the others.
const maxMissingShare = 0.2

// owner is an entity or relation that may give chunks.
type owner struct {
	name   string
	chunks []string
}

// pool holds the owners' chunks, each chunk with its first owner only, ordered within an owner by
// occurrence count, then provenance.
type pool struct {
	owners []owner
	// count is the number of times a chunk is listed over all owners.
	count map[string]int
}

// newPool prepares candidates (spec/query.md §5.1). Owners without chunks are left out. Chunks in taken
// are removed before they are counted. An owner that loses all its chunks to earlier ones is kept when
// keepEmpty is set (entities), which makes the quotas of the others what they are in the reference, and
// dropped otherwise (relations). perOwner above 0 bounds an owner's list.
func newPool(in []owner, taken map[string]bool, keepEmpty bool, perOwner int) pool {
	p := pool{owners: make([]owner, 0, len(in)), count: make(map[string]int, 2*len(in))}
	for _, o := range in {
		own := make([]string, 0, len(o.chunks))
		any := false
		for _, id := range o.chunks {
			if strings.TrimSpace(id) == "" || taken[id] {
				continue
			}
			any = true
			p.count[id]++
			if p.count[id] == 1 {
				own = append(own, id)
			}
		}
		if len(own) > 0 || (any && keepEmpty) {
			p.owners = append(p.owners, owner{o.name, own})
		}
	}
	for i := range p.owners {
		o := &p.owners[i]
		slices.SortStableFunc(o.chunks, func(a, b string) int { return cmp.Compare(p.count[b], p.count[a]) })
		if perOwner > 0 && len(o.chunks) > perOwner {
			o.chunks = o.chunks[:perOwner]
		}
	}
	return p
}

// all returns every chunk in owner order and the index of its owner.
func (p pool) all() (ids []string, owners []int) {
	for i, o := range p.owners {
		for _, id := range o.chunks {
			ids = append(ids, id)
			owners = append(owners, i)
		}
	}
	return ids, owners
}

// candidate describes a picked chunk.
func (p pool) candidate(id, owner string, via Via) candidate {
	return candidate{id: id, found: []Found{{Via: via, Owner: owner, Occurrences: p.count[id]}}}
}

// quotas returns the linear gradient of weighted polling: owner 0 may give most chunks, the last one
// minQuota, rounded half to even.
func quotas(n, most int) []int {
	q := make([]int, n)
	for i := range q {
		if n == 1 {
			q[i] = most
			continue
		}
		q[i] = int(math.RoundToEven(float64(most) - (float64(i)/float64(n-1))*float64(most-minQuota)))
	}
	return q
}

// pickByWeight polls the owners: each gives the first chunks of its quota, and what owners leave unused
// is drained, one chunk at a time, from the first owner that has any left (spec/query.md §5.4).
func (p pool) pickByWeight(most int, via Via) []candidate {
	if most <= 0 || len(p.owners) == 0 {
		return nil
	}
	var out []candidate
	used := make([]int, len(p.owners))
	give := func(i, n int) {
		o := p.owners[i]
		for _, id := range o.chunks[used[i] : used[i]+n] {
			out = append(out, p.candidate(id, o.name, via))
		}
		used[i] += n
	}
	left := 0
	for i, q := range quotas(len(p.owners), most) {
		n := min(q, len(p.owners[i].chunks))
		give(i, n)
		left += q - n
	}
	for i := range p.owners {
		n := min(left, len(p.owners[i].chunks)-used[i])
		give(i, n)
		left -= n
	}
	return out
}

// vectorQuota is the number of chunks that PickVector takes in all.
func (p pool) vectorQuota(related int) int { return related * len(p.owners) / 2 }

// pickByVector takes the n chunks whose vectors are most similar to query; ties go to the more important
// owner, then the earlier place. ids and owners are those of all, vectors[i] is nil where none is stored.
func (p pool) pickByVector(query []float32, ids []string, owners []int, vectors [][]float32, n int, via Via) []candidate {
	type scored struct {
		at    int
		score float32
	}
	list := make([]scored, 0, len(vectors))
	length := squared(query)
	for i, v := range vectors {
		if v != nil {
			list = append(list, scored{i, float32(cosine(query, length, v))})
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at))
	})
	list = list[:min(max(n, 0), len(list))]
	out := make([]candidate, 0, len(list))
	for _, s := range list {
		c := p.candidate(ids[s.at], p.owners[owners[s.at]].name, via)
		c.found[0].Score = Some(s.score)
		out = append(out, c)
	}
	return out
}

// cosine is the cosine of the angle between a, whose squared length is aa, and b, in float64; 0 when either
// has no direction. The shorter length counts.
func cosine(a []float32, aa float64, b []float32) float64 {
	var dot, bb float64
	b = b[:min(len(a), len(b))]
	for i, y := range b {
		dot += float64(a[i]) * float64(y)
		bb += float64(y) * float64(y)
	}
	if s := dot / math.Sqrt(aa*bb); !math.IsNaN(s) && !math.IsInf(s, 0) {
		return s
	}
	return 0
}

func squared(v []float32) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}
