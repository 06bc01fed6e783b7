package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
)

// TestNamesInQuestion: entities that the question names come first, in every mode that searches entities.
func TestNamesInQuestion(t *testing.T) {
	s := newStore(t, testDim)
	far := func() []float32 { return at(axisNone, 1, axisNone-1) }
	s.emb.Set("ll", at(axisLow, 1, axisNone)...)
	s.emb.Set("hl", at(axisHigh, 1, axisNone)...)
	s.commit(func(w *writer) {
		for _, name := range []string{"Rock", "Skarn", "Skarn Rock", "WHO", "Who", "the", "Scrooge", "SCROOGE", "Fezziwig & Co.", "café",
			"林薇", "林", "薇是", "青石港灯塔", "灯塔", "서울", "x", "Ｇｌｉｍ"} {
			w.entity(name, "t", "d", far(), "d-chunk-000")
		}
		w.entity("near", "t", "d", at(axisLow, .9, axisNone), "d-chunk-000")
		w.entity("linked", "t", "d", far(), "d-chunk-000")
		w.relation("linked", "near", 1, "d", at(axisHigh, .9, axisNone), "d-chunk-000")
		w.relation("Skarn Rock", "Rock", 1, "d", far(), "d-chunk-000")
	})
	e := s.engine()
	for _, c := range []struct{ question, want string }{
		{"Who built on Skarn Rock?", "Skarn Rock"},
		{"who built on skarn  ROCK", "Skarn Rock"},
		{"Is Skarn's rock on Skarn Rock?", "Skarn Rock|Skarn|Rock"},
		{"what does the WHO say?", "WHO"},
		{"Who is Scrooge?", "Scrooge|SCROOGE"},
		{"is SCROOGE’S partner alive?", "SCROOGE|Scrooge"},
		{"did Fezziwig & Co. pay?", "Fezziwig & Co."},
		{"the CAFÉ", "café"},
		{"a cafe", ""},
		{"林薇是谁？", "林薇"},
		{"誰在青石港灯塔工作", "青石港灯塔"},
		{"森林里", ""},
		{"林", "林"},
		{"서울에서는 무엇을", "서울"},
		{"what is glim?", "Ｇｌｉｍ"},
		{"x", "x"},
		{"scroo", ""},
		{strings.Repeat("漢", maxNamesRead) + " Scrooge", ""}, // past what is read; cut inside a character
	} {
		for _, mode := range []Mode{Local, Hybrid, Mix} {
			o := Options{Mode: mode, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}, Want: WantData}
			r := ask(t, e, c.question, o)
			var got []string
			for i, x := range r.Data.Entities {
				if x.Named == "" {
					continue
				}
				if i != len(got) || x.Via != ViaName || !strings.Contains(c.question, x.Named) {
					t.Errorf("%s %.20q: entity %d is %q via %q, named %q", mode, c.question, i, x.Name, x.Via, x.Named)
				}
				got = append(got, x.Name)
			}
			if strings.Join(got, "|") != c.want || r.Counts.Named != len(got) {
				t.Errorf("%s %.20q: named %q of %d counted, want %q", mode, c.question, got, r.Counts.Named, c.want)
			}
			if !strings.Contains(names(r.Data.Entities), "near") {
				t.Errorf("%s %.20q: what the vectors find is lost: %s", mode, c.question, names(r.Data.Entities))
			}
			o.NoNames = true
			if r = ask(t, e, c.question, o); r.Counts.Named != 0 || strings.HasPrefix(names(r.Data.Entities), "Skarn") {
				t.Errorf("%s %.20q: without names: %s", mode, c.question, names(r.Data.Entities))
			}
		}
		if r := ask(t, e, c.question, Options{Mode: Global, HighKeywords: []string{"hl"}, Want: WantData}); r.Counts.Named != 0 {
			t.Errorf("global %.20q: %d named", c.question, r.Counts.Named)
		}
	}
}

// TestNamedRelations: relations of named entities take turns with those of the others, and what several paths
// find is told once.
func TestNamedRelations(t *testing.T) {
	s := small(t)
	s.emb.Set("Where is D?", at(axisQuestion, 1, axisNone)...)
	e := s.engine()
	r := ask(t, e, "Where is D?", with(given, func(o *Options) { o.Mode = Mix }))
	if got, want := names(r.Data.Entities), "D A B E C"; got != want {
		t.Errorf("entities %s, want %s", got, want)
	}
	if x := r.Data.Entities[0]; x.Via != ViaHigh || x.Named != "D" {
		t.Errorf("D is found via %q, named %q; want both its relation and its name told", x.Via, x.Named)
	}
	if got, want := pairs(r.Data.Relations), "B-D D-E C-D A-B A-C"; got != want {
		t.Errorf("relations %s, want %s", got, want)
	}
	if x := r.Data.Relations[0]; x.Via != ViaLow || x.Rank != 5 {
		t.Errorf("B-D is found via %q, rank %d", x.Via, x.Rank)
	}
	r = ask(t, e, "Is B or C or D nearer?", with(given, func(o *Options) { o.Mode = Local; o.TopK = 2 }))
	if names(r.Data.Entities) != "B C A" || r.Counts.Named != 2 || !hasReason(r, ReasonNamesCut) {
		t.Errorf("top_k 2: entities %s, %d named, reasons %v", names(r.Data.Entities), r.Counts.Named, r.Reasons)
	}
}

// TestNameLookupsBounded: the number of look-ups follows the length of the question and has an end.
func TestNameLookupsBounded(t *testing.T) {
	for _, word := range []string{"word ", "林", "서울에서는 ", "a's ", "-"} {
		for _, n := range []int{1, 10, 100, 10_000} {
			question := strings.Repeat(word, n)
			pieces := len(piecesOf(question[:min(len(question), maxNamesRead)]))
			if got := len(spellings(question)); got > pieces*max(maxNamePieces*(1+maxEndings), maxNameRunes) {
				t.Errorf("%d times %q: %d look-ups of %d pieces", n, word, got, pieces)
			}
			for _, s := range spellings(question) {
				if s.start >= s.end || s.end > min(len(question), maxNamesRead) {
					t.Fatalf("%d times %q: spelling %s", n, word, fmt.Sprint(s))
				}
			}
		}
	}
}

// TestAliasesInQuestion: an entity is found by its aliases in any spelling, one that is deleted by none.
func TestAliasesInQuestion(t *testing.T) {
	s := newStore(t, testDim)
	far := func() []float32 { return at(axisNone, 1, axisNone-1) }
	s.emb.Set("ll", at(axisLow, 1, axisNone)...)
	s.emb.Set("hl", at(axisHigh, 1, axisNone)...)
	s.commit(func(w *writer) {
		w.entity("Ebenezer Scrooge", "person", "d", far(), "d-chunk-000")
		w.entity("Marley", "person", "d", far(), "d-chunk-000")
		for alias, name := range map[string]string{"Old Scrooge": "Ebenezer Scrooge", "Marley": "Ebenezer Scrooge", "WHO": "Marley", "us": "Marley", "Gone": "Deleted"} {
			if err := w.b.Set(record.AliasKey("", graph.Fold(alias), alias), []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
	})
	e := s.engine()
	for question, want := range map[string]string{
		"does old  SCROOGE's nephew visit?": "Ebenezer Scrooge",
		"Old Scrooge, Ebenezer Scrooge":     "Ebenezer Scrooge",
		"marley":                            "Ebenezer Scrooge|Marley",
		"is the WHO there?":                 "Marley",
		"who are us?":                       "",
		"Is it gone?":                       "",
		"scrooge":                           "",
	} {
		r := ask(t, e, question, Options{Mode: Local, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}, Want: WantData})
		var got []string
		for _, x := range r.Data.Entities {
			if x.Named != "" {
				got = append(got, x.Name)
			}
		}
		if slices.Sort(got); strings.Join(got, "|") != want {
			t.Errorf("%q names %q, want %q", question, got, want)
		}
	}
}
