package query

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/simd"
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
	most := 0
	for _, o := range in {
		most += len(o.chunks)
	}
	p := pool{owners: make([]owner, 0, len(in)), count: make(map[string]int, most)}
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
	n := 0
	for _, o := range p.owners {
		n += len(o.chunks)
	}
	ids, owners = make([]string, 0, n), make([]int, 0, n)
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

// pickByVector makes candidates of the nearest of ids; ties go to the more important owner, then the earlier place. ids and
// owners are those of all.
func (p pool) pickByVector(near *nearest, ids []string, owners []int, via Via) []candidate {
	list := near.best()
	out := make([]candidate, 0, len(list))
	for _, s := range list {
		c := p.candidate(ids[s.at], p.owners[owners[s.at]].name, via)
		c.found[0].Score = Some(s.score)
		out = append(out, c)
	}
	return out
}

// nearest finds the n vectors most similar to a query among those that it is shown, in any order, and keeps none. Most are
// told apart by a cosine in float32; the exact one is computed for those that rounding leaves a chance.
type nearest struct {
	query  []float32
	n      int
	length float64 // squared, of query
	unit   bool    // vectors have length 1, as near as float32 comes
	slack  float32 // that the float32 cosine of unit vectors may be off
	seen   int
	bar    []float32 // the n best float32 cosines so far, ascending
	list   []scored
}

// scored is a vector by its place.
type scored struct {
	at    int
	score float32
}

func newNearest(query []float32, n int, unit bool) *nearest {
	// A sum of products of unit vectors in any order is off by less than a unit roundoff, 2^-24, for each of them, and
	// so are both lengths; what is stored as of length 1 has one of 1 ± 1e-6.
	const roundoff, length = 1.0 / (1 << 24), 1e-6
	return &nearest{query: query, n: max(n, 0), length: squared(query), unit: unit, slack: float32(4*float64(len(query)+4)*roundoff + length)}
}

// float32Range tells whether float32 neither overflows nor loses digits in products with a vector of that squared length.
func float32Range(square float64) bool { return square > 1e-20 && square < 1e20 }

// see shows the vector at a place.
func (x *nearest) see(at int, v []float32) {
	x.seen++
	if x.n == 0 {
		return
	}
	v = v[:min(len(v), len(x.query))]
	vv := float32(1)
	if !x.unit {
		vv = simd.Dot(v, v)
	}
	if float32Range(x.length) && float32Range(float64(vv)) {
		rough := simd.Dot(x.query[:len(v)], v) / float32(math.Sqrt(x.length*float64(vv)))
		if len(x.bar) == x.n {
			if rough < x.bar[0]-2*x.slack {
				return
			}
			x.bar = slices.Delete(x.bar, 0, 1)
		}
		i, _ := slices.BinarySearch(x.bar, rough)
		x.bar = slices.Insert(x.bar, i, rough)
	}
	x.list = append(x.list, scored{at, float32(cosine(x.query, x.length, v))})
}

// best returns the nearest, the best first, equal ones by place.
func (x *nearest) best() []scored {
	slices.SortFunc(x.list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at))
	})
	return x.list[:min(x.n, len(x.list))]
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
