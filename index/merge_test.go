package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/record"
)

// The worked examples of LightRAG, as far as they are about merging. Ours differ where noted:
//
//   - fragments stand in order of (document, chunk, record); the reference sorts those of one document
//     by time, longer first;
//   - the type is a vote of all records; the reference counts the stored type as one vote, so that its
//     result depends on how records are spread over documents;
//   - an entity that is only named takes the text of the first relation that names it; the reference
//     joins them all, or takes whichever ran first;
//   - caps limit the view: weights, votes and counts are over all records;
//   - paths are those of all chunks behind the entity, of relations, too.
type example struct {
	t    *testing.T
	all  []record.Source
	caps Caps
}

func newExample(t *testing.T) *example {
	return &example{t: t, caps: Options{MaxSources: 200, MaxPaths: 75}.caps()}
}

// chunk adds what one chunk of document seq yielded.
func (x *example) chunk(seq uint64, order int, path string, ex Extraction) {
	c := &record.Chunk{Doc: fmt.Sprintf("d%d", seq), Order: order, Path: path}
	x.all = append(x.all, sourcesFrom(seq, c, accept(ex))...)
}

func (x *example) merge(o record.Object) (record.Tally, merged) {
	var tally record.Tally
	var of []record.Source
	for i := range x.all {
		if x.all[i].Object == o {
			of = append(of, x.all[i])
			tally.Add(&x.all[i], 1)
		}
	}
	tally.Chunks = distinctChunks(of)
	slices.SortFunc(of, compareSources)
	within := func(k record.Kind) []record.Source {
		list := slices.Clone(ofKind(of, k))
		if x.caps.KeepNewest {
			slices.Reverse(list)
		}
		var out []record.Source
		seen := make(map[record.Mark]bool)
		for _, s := range list {
			if !seen[s.Mark()] && len(seen) == x.caps.Sources {
				break
			}
			seen[s.Mark()] = true
			out = append(out, s)
		}
		if x.caps.KeepNewest {
			slices.Reverse(out)
		}
		return out
	}
	if o.IsRelation() {
		return tally, mergeRelation(&tally, within(record.KindRelation), x.caps)
	}
	return tally, mergeEntity(&tally, within(record.KindEntity), within(record.KindEndpoint), x.caps)
}

func (x *example) want(o record.Object, want string) {
	x.t.Helper()
	_, m := x.merge(o)
	got := fmt.Sprintf("description %s; source %s; count %d; path %s", strings.Join(m.fragments, "+"), strings.Join(m.sources, "+"), m.count, strings.Join(m.paths, "+"))
	if o.IsRelation() {
		got = fmt.Sprintf("weight %g; keywords %s; ", m.weight, strings.Join(m.keywords, ",")) + got
	} else {
		got = "type " + m.typ + "; " + got
	}
	if got != want {
		x.t.Errorf("%v:\n got %s\nwant %s", o, got, want)
	}
}

func e(name, typ, text string) Extraction {
	return Extraction{Entities: []EntityRecord{{name, typ, text}}}
}

func r(a, b, kw, text string) Extraction {
	return Extraction{Relations: []RelationRecord{{Src: a, Dst: b, Description: text, Keywords: strings.Split(kw, ","), Weight: 1}}}
}

func both(list ...Extraction) (out Extraction) {
	for _, x := range list {
		out.Entities = append(out.Entities, x.Entities...)
		out.Relations = append(out.Relations, x.Relations...)
	}
	return out
}

func ent(name string) record.Object   { return record.EntityObject(name) }
func rel(a, b string) record.Object   { return record.RelationObject(a, b) }
func first(t *testing.T) (x *example) { return twoChunks(newExample(t)) }
func twoChunks(x *example) *example {
	x.chunk(1, 0, "f", both(e("Alice", "person", "A one"), e("Bob", "person", "B one"), r("Bob", "Alice", "trust,work", "works with")))
	x.chunk(1, 1, "f", both(e("Alice", "artist", "A two long"), r("Alice", "Bob", "friend,work", "friends"), r("Alice", "Carl", "", "knows")))
	return x
}

func TestMergeFirstDocument(t *testing.T) {
	x := first(t)
	x.want(ent("Alice"), "type person; description A one+A two long; source d1-chunk-000+d1-chunk-001; count 2; path f")
	x.want(ent("Bob"), "type person; description B one; source d1-chunk-000+d1-chunk-001; count 2; path f")
	x.want(ent("Carl"), "type UNKNOWN; description knows; source d1-chunk-001; count 1; path f")
	x.want(rel("Alice", "Bob"), "weight 2; keywords friend,trust,work; description works with+friends; source d1-chunk-000+d1-chunk-001; count 2; path f")
	x.want(rel("Carl", "Alice"), "weight 1; keywords ; description knows; source d1-chunk-001; count 1; path f")
	_, m := x.merge(rel("Alice", "Bob"))
	v := m.relation(rel("Alice", "Bob"))
	v.Description = "works with<SEP>friends"
	if got := record.RelationText(&v); got != "friend,trust,work\tAlice\nBob\nworks with<SEP>friends" {
		t.Errorf("text of the relation's vector: %q", got)
	}
	v = record.Relation{Src: "Alice", Dst: "Carl", Description: "knows"}
	if got := record.RelationText(&v); got != "\tAlice\nCarl\nknows" {
		t.Errorf("text without keywords: %q", got)
	}
	if got := record.EntityText(&record.Entity{Name: "Alice", Description: "A"}); got != "Alice\nA" {
		t.Errorf("text of the entity's vector: %q", got)
	}
}

func TestMergeSecondDocument(t *testing.T) {
	x := first(t)
	x.chunk(2, 0, "g", both(e("Alice", "artist", "A one"), r("Alice", "Bob", "z", "met later"), r("Bob", "Alice", "z", "met later 2")))
	x.want(ent("Alice"), "type artist; description A one+A two long; source d1-chunk-000+d1-chunk-001+d2-chunk-000; count 3; path f+g")
	x.want(rel("Alice", "Bob"), "weight 4; keywords friend,trust,work,z; description works with+friends+met later+met later 2; source d1-chunk-000+d1-chunk-001+d2-chunk-000; count 3; path f+g")
	x.want(ent("Bob"), "type person; description B one; source d1-chunk-000+d1-chunk-001+d2-chunk-000; count 3; path f+g")
}

func TestMergeCaps(t *testing.T) {
	for _, newest := range []bool{false, true} {
		for _, oneDocument := range []bool{false, true} {
			x := newExample(t)
			x.caps = Caps{Sources: 2, Paths: 2, KeepNewest: newest}
			for n := 1; n <= 4; n++ {
				seq, order := uint64(n), 0
				if oneDocument {
					seq, order = 1, n-1
				}
				x.chunk(seq, order, fmt.Sprintf("f%d", n), both(e("A", fmt.Sprintf("t%d", n), fmt.Sprintf("desc %d", n)),
					r("A", "B", fmt.Sprintf("k%d", n), fmt.Sprintf("rd %d", n))))
			}
			a, b := 1, 2
			if newest {
				a, b = 3, 4
			}
			id := func(n int) string {
				if oneDocument {
					return record.ChunkID("d1", n-1)
				}
				return record.ChunkID(fmt.Sprintf("d%d", n), 0)
			}
			tail := fmt.Sprintf("source %s+%s; count 4; path f%d+f%d", id(a), id(b), a, b)
			x.want(ent("A"), fmt.Sprintf("type t%d; description desc %d+desc %d; %s", a, a, b, tail))
			x.want(ent("B"), fmt.Sprintf("type UNKNOWN; description rd %d; %s", a, tail))
			x.want(rel("A", "B"), fmt.Sprintf("weight 4; keywords k%d,k%d; description rd %d+rd %d; %s", a, b, a, b, tail))
		}
	}
}

func TestMergeSurvivor(t *testing.T) {
	x := newExample(t)
	x.chunk(1, 0, "f1", both(e("A", "person", "A from one"), r("A", "B", "k1", "rd one")))
	first := len(x.all)
	x.chunk(2, 0, "f2", both(e("A", "band", "A from two, longer"), e("B", "org", "B from two"), r("B", "A", "k2,k3", "rd two")))
	x.chunk(2, 1, "f2", both(e("A", "artist", "A from three"), r("A", "B", "k3", "rd three")))
	// The reference keeps B's text of the relation from before it was described.
	x.want(ent("B"), "type org; description B from two; source d1-chunk-000+d2-chunk-000+d2-chunk-001; count 3; path f1+f2")
	x.want(rel("A", "B"), "weight 3; keywords k1,k2,k3; description rd one+rd two+rd three; source d1-chunk-000+d2-chunk-000+d2-chunk-001; count 3; path f1+f2")
	x.all = x.all[first:] // document 1 is deleted
	x.want(ent("A"), "type band; description A from two, longer+A from three; source d2-chunk-000+d2-chunk-001; count 2; path f2")
	x.want(ent("B"), "type org; description B from two; source d2-chunk-000+d2-chunk-001; count 2; path f2")
	x.want(rel("A", "B"), "weight 2; keywords k2,k3; description rd two+rd three; source d2-chunk-000+d2-chunk-001; count 2; path f2")
}

// TestSummaryDecision has the first three rows of the reference's table; the others are the summarizer's.
func TestSummaryDecision(t *testing.T) {
	o, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pipeline{cfg: Config{Options: o, Tokenizer: byteTokens{}}}
	for _, c := range []struct {
		count, tokens int
		want          bool
	}{
		{0, 0, false}, {1, 5000, false},
		{7, 10, false}, {7, 171, false}, {2, 599, false},
		{8, 10, true}, {7, 172, true}, {2, 600, true}, {3, 5000, true},
	} {
		var list []string
		for range c.count {
			list = append(list, strings.Repeat("x", c.tokens))
		}
		if got := p.needsSummary(list); got != c.want {
			t.Errorf("%d x %d tokens: %t", c.count, c.tokens, got)
		}
	}
}

type byteTokens struct{}

func (byteTokens) ID() string                        { return "bytes" }
func (byteTokens) Count(s string) int                { return len(s) }
func (byteTokens) Encode(dst []int, s string) []int  { return append(dst, make([]int, len(s))...) }
func (byteTokens) Decode(tokens []int) (text []byte) { return make([]byte, len(tokens)) }

// TestMergeOrderFree: another order of enqueue gives the same sets, votes but for ties, and weights.
func TestMergeOrderFree(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		docs := make([]Extraction, 6)
		for i := range docs {
			docs[i] = both(e("A", fmt.Sprint("t", rng.IntN(2)), fmt.Sprint("x", rng.IntN(5))), r("A", "B", fmt.Sprint("k", rng.IntN(3)), fmt.Sprint("y", rng.IntN(5))))
		}
		sets := func(perm []int) string {
			x := newExample(t)
			for seq, i := range perm {
				x.chunk(uint64(seq+1), 0, fmt.Sprint("f", i), docs[i])
			}
			tally, m := x.merge(ent("A"))
			_, rm := x.merge(rel("A", "B"))
			slices.Sort(m.fragments)
			slices.Sort(m.paths)
			slices.Sort(rm.fragments)
			return fmt.Sprint(tally.Types, m.fragments, m.paths, m.count, rm.weight, rm.keywords, rm.fragments)
		}
		if a, b := sets([]int{0, 1, 2, 3, 4, 5}), sets(rng.Perm(6)); a != b {
			t.Errorf("seed %d:\n%s\n%s", seed, a, b)
		}
	}
}
