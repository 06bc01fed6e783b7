package query

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestQuotas(t *testing.T) {
	// Appendix C: weighted polling quotas, minimum 1.
	for _, c := range []struct {
		most, n int
		want    string
	}{
		{5, 1, "5"}, {5, 2, "5 1"}, {5, 3, "5 3 1"}, {5, 4, "5 4 2 1"}, {5, 5, "5 4 3 2 1"}, {5, 8, "5 4 4 3 3 2 2 1"},
		{5, 9, "5 4 4 4 3 2 2 2 1"}, {5, 10, "5 5 4 4 3 3 2 2 1 1"}, {3, 5, "3 2 2 2 1"}, {8, 5, "8 6 4 3 1"}, {10, 5, "10 8 6 3 1"},
	} {
		if got := strings.Trim(fmt.Sprint(quotas(c.n, c.most)), "[]"); got != c.want {
			t.Errorf("quotas(n %d, R %d) = %s, want %s", c.n, c.most, got, c.want)
		}
	}
	for n, want := range map[int]int{20: 60, 40: 120} {
		sum := 0
		for _, q := range quotas(n, 5) {
			sum += q
		}
		if sum != want {
			t.Errorf("quotas(n %d, R 5) sum to %d, want %d", n, sum, want)
		}
	}
}

// sized returns owners a, b, c, ... with that many chunks, named a1, a2, ...
func sized(sizes ...int) pool {
	var in []owner
	for i, n := range sizes {
		o := owner{name: string(rune('a' + i))}
		for k := 1; k <= n; k++ {
			o.chunks = append(o.chunks, fmt.Sprint(o.name, k))
		}
		in = append(in, o)
	}
	p := newPool(in, nil, true, 0)
	for i, o := range in { // an owner without chunks takes part when it lost them to others
		if len(o.chunks) == 0 {
			p.owners = slices.Insert(p.owners, i, o)
		}
	}
	return p
}

func ids(cs []candidate) string {
	var s []string
	for _, c := range cs {
		s = append(s, c.id)
	}
	return strings.Join(s, " ")
}

func TestPickByWeight(t *testing.T) {
	// Appendix C: selection.
	for _, c := range []struct {
		sizes []int
		most  int
		want  string
	}{
		{[]int{7, 1, 6}, 5, "a1 a2 a3 a4 a5 b1 c1 a6 a7"},
		{[]int{7, 0, 6}, 5, "a1 a2 a3 a4 a5 c1 a6 a7 c2"},
		{[]int{2, 9}, 5, "a1 a2 b1 b2 b3 b4"},
		{[]int{9, 9, 9, 9}, 5, "a1 a2 a3 a4 a5 b1 b2 b3 b4 c1 c2 d1"},
		{[]int{7}, 5, "a1 a2 a3 a4 a5"},
		{[]int{7, 3}, 0, ""}, {[]int{7, 3}, -1, ""}, {nil, 5, ""},
	} {
		if got := ids(sized(c.sizes...).pickByWeight(c.most, ViaEntity)); got != c.want {
			t.Errorf("sizes %v, R %d: got %q, want %q", c.sizes, c.most, got, c.want)
		}
	}
}

func TestPickByVector(t *testing.T) {
	// Appendix C: vector pick.
	p := newPool([]owner{{"a", []string{"c1", "c2"}}, {"b", []string{"c3", "c4"}}}, nil, true, 0)
	all, owners := p.all()
	vecs := [][]float32{{1, 0}, {0, 1}, {.9, .1}, {.5, .5}}
	near := func(n int, vectors [][]float32) *nearest {
		x := newNearest([]float32{1, 0}, n, false)
		for i, v := range slices.Backward(vectors) {
			if v != nil {
				x.see(i, v)
			}
		}
		return x
	}
	if got := ids(p.pickByVector(near(3, vecs), all, owners, ViaEntity)); got != "c1 c3 c4" {
		t.Errorf("got %q, want c1 c3 c4", got)
	}
	same := [][]float32{{1, 1}, {1, 1}, {2, 2}, nil}
	if got := ids(p.pickByVector(near(4, same), all, owners, ViaEntity)); got != "c1 c2 c3" {
		t.Errorf("ties: got %q, want owner order, then place: c1 c2 c3", got)
	}
	for n, want := range map[int]int{0: 0, 1: 2, 2: 5, 3: 7} { // floor(R*n/2) at R = 5
		q := pool{owners: make([]owner, n)}
		if got := q.vectorQuota(5); got != want {
			t.Errorf("quota of %d owners is %d, want %d", n, got, want)
		}
	}
	if one := (pool{owners: make([]owner, 1)}); one.vectorQuota(1) != 0 {
		t.Error("R 1 and one owner must leave no vector quota: weight takes over")
	}
}

func TestNewPool(t *testing.T) {
	in := []owner{
		{"first", []string{"x", "y", "z", " "}},
		{"lost", []string{"y", "x"}},
		{"empty", nil},
		{"last", []string{"w", "z", "v", "v"}},
	}
	for _, c := range []struct {
		name      string
		taken     []string
		keepEmpty bool
		perOwner  int
		want      string
	}{
		// counts: x 2, y 2, z 2, w 1, v 2; every chunk belongs to its first owner
		{"entities keep owners that lost all", nil, true, 0, "first[x y z] lost[] last[v w]"},
		{"relations drop them", nil, false, 0, "first[x y z] last[v w]"},
		{"taken chunks are neither given nor counted", []string{"x", "z"}, false, 0, "first[y] last[v w]"},
		{"a hard cap bounds each owner", nil, true, 1, "first[x] lost[] last[v]"},
	} {
		taken := map[string]bool{}
		for _, id := range c.taken {
			taken[id] = true
		}
		var got []string
		for _, o := range newPool(in, taken, c.keepEmpty, c.perOwner).owners {
			got = append(got, fmt.Sprint(o.name, o.chunks))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %s, want %s", c.name, s, c.want)
		}
	}
}

func TestMergeCandidates(t *testing.T) {
	mk := func(via Via, ids ...string) (out []candidate) {
		for _, id := range ids {
			out = append(out, candidate{id, []Found{{Via: via}}})
		}
		return out
	}
	got := mergeCandidates(mk(ViaVector, "a", "b"), mk(ViaEntity, "c", "a", "d"), mk(ViaRelation, "b"))
	if ids(got) != "a c b d" {
		t.Errorf("got %q, want a c b d: vector, entity, relation in turn, first sighting wins", ids(got))
	}
	want := []Found{{Via: ViaVector, Rank: 1}, {Via: ViaEntity, Rank: 2}}
	if !slices.Equal(got[0].found, want) {
		t.Errorf("a was found by %v, want %v", got[0].found, want)
	}
	want = []Found{{Via: ViaRelation, Rank: 1}, {Via: ViaVector, Rank: 2}}
	if !slices.Equal(got[2].found, want) {
		t.Errorf("b was found by %v, want %v", got[2].found, want)
	}
}

func TestMergeRelations(t *testing.T) {
	low := []*Relation{{Src: "a", Dst: "b", Via: ViaLow, Rank: 7}, {Src: "a", Dst: "c", Via: ViaLow}}
	high := []*Relation{{Src: "x", Dst: "y", Via: ViaHigh}, {Src: "a", Dst: "b", Via: ViaHigh, Score: .5}}
	got := mergeRelations(low, high)
	if len(got) != 3 || got[1].Src != "x" || got[2].Dst != "c" {
		t.Fatalf("got %v, want a-b, x-y, a-c", values(got))
	}
	if got[0].Via != ViaBoth || got[0].Score != .5 || got[0].Rank != 7 {
		t.Errorf("the repeated relation is %+v, want both paths with rank 7 and score 0.5", got[0])
	}
}

func TestRefer(t *testing.T) {
	// Appendix C: references.
	var chunks []Chunk
	for i, path := range []string{"b", "a", "a", unknownSource, "c", "c", ""} {
		chunks = append(chunks, Chunk{ID: fmt.Sprint(i), Path: path, Document: "doc-" + path})
	}
	refs := refer(chunks)
	var got []string
	for _, r := range refs {
		got = append(got, r.ID+"="+r.Path)
	}
	if s := strings.Join(got, " "); s != "1=a 2=c 3=b" {
		t.Errorf("references are %s, want 1=a 2=c 3=b", s)
	}
	got = nil
	for _, c := range chunks {
		got = append(got, c.Reference)
	}
	if s := strings.Join(got, ","); s != "3,1,1,,2,2," {
		t.Errorf("chunks refer to %s, want 3,1,1,,2,2,", s)
	}
	if got := referTo(refs, []string{"b", "a", "nowhere"}); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("paths b and a have references %v, want 1 and 3", got)
	}
}

// The nearest are those that exact cosines of all vectors give, for clumps and copies, which rounding cannot tell apart,
// for lengths far from 1 and for vectors without a direction.
func TestNearestIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for i, dim := range []int{1, 3, 100, 384, 3, 384} {
		unit := i > 3
		for _, n := range []int{0, 1, 7, 60, 1000} {
			query := make([]float32, dim)
			for i := range query {
				query[i] = r.Float32() - .5
			}
			x := newNearest(query, n, unit)
			var all []scored
			vectors := make([][]float32, 600)
			for at := range vectors {
				v := make([]float32, dim)
				scale := float32(math.Pow(10, float64(r.IntN(9)-4)))
				for i := range v {
					v[i] = scale * (query[i] + (r.Float32()-.5)*float32(at%4)*1e-6)
				}
				if unit { // as far from it as a stored vector may be
					length := math.Sqrt(squared(v)) * (1 + float64(at%3-1)*2.5e-7)
					for i := range v {
						v[i] = float32(float64(v[i]) / length)
					}
				} else {
					switch at % 25 {
					case 3:
						v = slices.Clone(query)
					case 4:
						clear(v)
					case 5:
						v[0] = math.MaxFloat32
					}
				}
				vectors[at] = v
				all = append(all, scored{at, float32(cosine(query, squared(query), v))})
			}
			for _, at := range r.Perm(len(vectors)) {
				x.see(at, vectors[at])
			}
			slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
			if got, want := x.best(), all[:min(n, len(all))]; !slices.Equal(got, want) || x.seen != len(vectors) {
				t.Errorf("%d values, %d wanted: %v of %d, want %v", dim, n, got, x.seen, want)
			}
		}
	}
}
