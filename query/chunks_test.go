package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

func candidates(via Via, ids string) (out []candidate) {
	for i, id := range strings.Fields(ids) {
		out = append(out, candidate{id, []Found{{Via: via, Rank: i + 1}}})
	}
	return out
}

func TestFuse(t *testing.T) {
	for _, c := range []struct {
		vector, text string
		share        float64
		want         string
	}{
		{"a b c", "c a d", 0.5, "a c b d"}, // 1/61+1/62, 1/63+1/61, 1/62, 1/63
		{"a b", "b a", 0.5, "a b"},         // equal: by id
		{"a b c", "c d", 1, "a b c d"},     // words count nothing, and are there
		{"a b c", "c d", 0, "c d a b"},
		{"", "b a", 0.5, "b a"},
		{"b a", "", 0.5, "b a"},
		{"", "", 0.5, ""},
	} {
		got := ""
		for _, x := range fuse(candidates(ViaVector, c.vector), candidates(ViaText, c.text), FuseRanks, c.share) {
			got += " " + x.id
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%q and %q with share %v: %q, want %q", c.vector, c.text, c.share, got, c.want)
		}
	}
	both := fuse(candidates(ViaVector, "a b"), candidates(ViaText, "b"), FuseRanks, 0.5)[0]
	if both.id != "b" || !slices.Equal(both.found, []Found{{Via: ViaVector, Rank: 2}, {Via: ViaText, Rank: 1}}) {
		t.Errorf("%+v", both)
	}
}

// TestFuseScores: scores count, not places, whatever scale a list has.
func TestFuseScores(t *testing.T) {
	scored := func(via Via, scores ...float32) (out []candidate) {
		for i, s := range scores {
			out = append(out, candidate{string(rune('a' + i)), []Found{{Via: via, Rank: i + 1, Score: Some(s)}}})
		}
		return out
	}
	text := scored(ViaText, 20, 19, 10) // worth 1, 0.9, 0
	text[0].id, text[1].id, text[2].id = "x", "b", "y"
	for _, c := range []struct {
		vector []candidate
		share  float64
		want   string
	}{
		{scored(ViaVector, 0.9, 0.5, 0.4), 0.5, "b a x c y"}, // a: 0.5, b: 0.5*0.2 + 0.45, x: 0.5
		{scored(ViaVector, 0.9, 0.5, 0.4), 0.9, "a b x c y"},
		{scored(ViaVector, 0.9, 0.5, 0.4), 0, "x b a c y"},
		{scored(ViaVector, 0.4), 0.2, "x b a y"}, // alone: 1
		{scored(ViaVector, -0.2, -0.2), 0.5, "b a x y"},
	} {
		got := ""
		for _, x := range fuse(c.vector, text, FuseScores, c.share) {
			got += " " + x.id
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%v with share %v: %q, want %q", c.vector, c.share, got, c.want)
		}
	}
}

// postings makes those of the chunks of documents, as the write side does, with the coverage given.
func (w *writer) postings(c record.Coverage, docs ...string) {
	w.s.t.Helper()
	words, err := analysis.New("")
	check(w.s.t, err)
	x, err := postings.Create(w.b, "", record.ChunkPostings, postings.Config{Analyser: words.ID()})
	check(w.s.t, err)
	check(w.s.t, x.SetMark(w.b, c.Encode()))
	for _, doc := range docs {
		for order := 0; ; order++ {
			v, err := w.b.Get(record.ChunkKey("", doc, order))
			if errors.Is(err, kv.ErrNotFound) {
				break
			}
			check(w.s.t, err)
			k, err := record.DecodeChunk(doc, order, v)
			check(w.s.t, err)
			check(w.s.t, x.Add(w.b, k.ID(), words.Counts(k.InContext())))
		}
	}
}

// wordy is a store whose chunks differ in words and in vectors.
func wordy(t *testing.T, c record.Coverage) *testStore {
	s := newStore(t, testDim)
	s.commit(func(w *writer) {
		for i, text := range []string{"the mill turns", "a tower stands", "mill and tower", "a river", "tide mills of the river mill"} {
			w.chunk("d", i, "d.txt", text, at(axisQuestion, 0.9-float64(i)/10, axisNone))
		}
		w.postings(c, "d")
	})
	return s
}

func TestSearches(t *testing.T) {
	for _, c := range []struct {
		question string
		o        Options
		want     string
		counts   [2]int
	}{
		{"mills?", Options{}, "000 001 002 003 004", [2]int{5, 0}},
		{"mills?", Options{Search: SearchVector}, "000 001 002 003 004", [2]int{5, 0}},
		{"mills?", Options{Search: SearchText}, "004 000 002", [2]int{0, 3}},
		{"mills?", Options{Search: SearchText, ChunkTopK: 2}, "004 000", [2]int{0, 2}},
		{"mills?", Options{Search: SearchHybrid, Fusion: FuseRanks}, "000 004 002 001 003", [2]int{5, 3}},
		{"mills?", Options{Search: SearchHybrid, Fusion: FuseRanks, VectorShare: Some(0.0)}, "004 000 002 001 003", [2]int{5, 3}},
		{"mills?", Options{Search: SearchHybrid}, "000 004 001 002 003", [2]int{5, 3}}, // by vector 1, 3/4, 1/2, 1/4, 0; by words 1, some, 0
		{"mills?", Options{Search: SearchHybrid, VectorShare: Some(0.0)}, "004 000 001 002 003", [2]int{5, 3}},
		{"mills?", Options{Search: SearchHybrid, ChunkTopK: 1}, "000", [2]int{1, 1}},
		{"mills?", Options{Search: SearchHybrid, CosineThreshold: Some(0.75)}, "000 004 001 002", [2]int{2, 3}},
	} {
		c.o.Mode, c.o.Want = Naive, WantData
		c.o.NoRerank = true
		s := wordy(t, record.Coverage{Whole: true})
		s.emb.Set(c.question, at(axisQuestion, 1, axisNone)...)
		r := ask(t, s.engine(), c.question, c.o)
		if got := chunkIDs(r.Data.Chunks); got != c.want || r.Counts.Chunks.Vector != c.counts[0] || r.Counts.Chunks.Text != c.counts[1] {
			t.Errorf("%+v: %q, %+v, want %q", c.o, got, r.Counts.Chunks, c.want)
		}
		if len(r.Fallbacks) > 0 {
			t.Errorf("%+v: %v", c.o, r.Fallbacks)
		}
	}
}

// seeing remembers what a reranker is shown, and puts the last first.
type seeing struct{ docs []string }

func (*seeing) ID() string { return "seeing" }

func (r *seeing) Rerank(_ context.Context, _ string, docs []string) ([]float64, error) {
	r.docs = docs
	scores := make([]float64, len(docs))
	for i := range docs {
		scores[i] = float64(i)
	}
	return scores, nil
}

// TestRerankerSeesBothLists: all that either search found goes to the reranker, though that is more than ChunkTopK passages; so
// many are kept of what it orders.
func TestRerankerSeesBothLists(t *testing.T) {
	s := wordy(t, record.Coverage{Whole: true})
	s.emb.Set("mills?", at(axisQuestion, 1, axisNone)...)
	rr := new(seeing)
	o := Options{Mode: Naive, Search: SearchHybrid, ChunkTopK: 2, Want: WantData}
	r := ask(t, s.engine(func(c *Config) { c.Reranker = rr }), "mills?", o)
	// By vector 000 001, by words 004 000; merged 000 004 001.
	if got := chunkIDs(r.Data.Chunks); len(rr.docs) != 3 || got != "001 004" {
		t.Errorf("%q of %q", got, rr.docs)
	}
}

// TestOfflineRerankerHeedsBothSearches: of two passages of the same words the one comes first that the vectors found, too.
func TestOfflineRerankerHeedsBothSearches(t *testing.T) {
	c := record.Coverage{Whole: true}
	s := newStore(t, testDim)
	s.commit(func(w *writer) {
		w.chunk("d", 0, "d.txt", "the mill turns", at(axisQuestion, 0.1, axisNone))
		w.chunk("d", 1, "d.txt", "the mill turns", at(axisQuestion, 0.9, axisNone))
		w.chunk("d", 2, "d.txt", "a river", at(axisQuestion, 0.5, axisNone))
		w.postings(c, "d")
	})
	s.emb.Set("mills?", at(axisQuestion, 1, axisNone)...)
	e := s.engine(func(c *Config) { c.Reranker = NewOfflineReranker() })
	for search, want := range map[Search]string{SearchText: "000 001", SearchHybrid: "001 000 002"} {
		r := ask(t, e, "mills?", Options{Mode: Naive, Search: search, Want: WantData})
		if got := chunkIDs(r.Data.Chunks); got != want {
			t.Errorf("%s: %q, want %q", search, got, want)
		}
	}
}

// TestSearchesWithoutPostings: postings that do not cover everything are not searched, which is told.
func TestSearchesWithoutPostings(t *testing.T) {
	for name, s := range map[string]*testStore{"behind": wordy(t, record.Coverage{UpTo: "a"}), "none": small(t)} {
		for _, search := range []Search{SearchText, SearchHybrid} {
			r := ask(t, s.engine(), question, Options{Mode: Naive, Search: search, Want: WantData, CosineThreshold: Some(-1.0)})
			want := ask(t, s.engine(), question, Options{Mode: Naive, Want: WantData, CosineThreshold: Some(-1.0)})
			if chunkIDs(r.Data.Chunks) != chunkIDs(want.Data.Chunks) || len(r.Fallbacks) != 1 || r.Fallbacks[0].From != string(search) {
				t.Errorf("%s, %s: %q, %v", name, search, chunkIDs(r.Data.Chunks), r.Fallbacks)
			}
		}
	}
	s := wordy(t, record.Coverage{Whole: true})
	german := s.engine(func(c *Config) { c.TextLanguage = "german" })
	if r := ask(t, german, "mill", Options{Mode: Naive, Search: SearchText, Want: WantData}); len(r.Fallbacks) != 1 {
		t.Errorf("another analyser: %v", r.Fallbacks)
	}
	// Nothing but function words is nothing to search by.
	if r := ask(t, s.engine(), "to be or not to be", Options{Mode: Naive, Search: SearchText, Want: WantData}); !hasReason(r, ReasonNoTerms) {
		t.Errorf("%v", r.Reasons)
	}
}

// TestTextSearchEmbedsNothing: a search by words needs no vector of the question.
func TestTextSearchEmbedsNothing(t *testing.T) {
	s := wordy(t, record.Coverage{Whole: true})
	before := len(s.emb.Calls())
	r := ask(t, s.engine(), "tower", Options{Mode: Naive, Search: SearchText, Want: WantData, Picker: PickWeight})
	if got := chunkIDs(r.Data.Chunks); got != "001 002" || len(s.emb.Calls()) != before {
		t.Errorf("%q after %d embedding calls", got, len(s.emb.Calls())-before)
	}
}

func TestSearchOptionsAreValidated(t *testing.T) {
	for _, o := range []Options{{Search: "words"}, {VectorShare: Some(1.5)}, {VectorShare: Some(-0.1)}} {
		var bad *FieldError
		if err := o.Validate(); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := New(Config{View: wordy(t, record.Coverage{Whole: true}).view}); err == nil {
		t.Error("an engine without an embedder")
	}
	var b strings.Builder
	r := ask(t, wordy(t, record.Coverage{Whole: true}).engine(), "mill tower", Options{Mode: Naive, Search: SearchHybrid, CosineThreshold: Some(-1.0), Want: WantData})
	check(t, r.Explain(&b))
	for _, want := range []string{"vector", "bm25", "terms 2", "chunks"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	for _, c := range r.Data.Chunks {
		for _, f := range c.Found {
			if f.Rank == 0 || f.Score.IsZero() {
				t.Errorf("%s: %+v", c.ID, f)
			}
		}
	}
}
