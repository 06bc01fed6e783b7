package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/postings"
)

func TestParseWords(t *testing.T) {
	a, err := analysis.New("")
	check(t, err)
	for _, c := range []struct {
		text string
		want words
	}{
		{"Lamps", words{may: []string{"lamp"}}},
		{"+lamps the keeper +", words{may: []string{"keeper"}, all: []string{"lamp"}, ignored: []string{"the", "+"}}},
		{`"the tide mills" x`, words{may: []string{"x"}, all: []string{"mill", "tide"}, phrases: [][]string{{"the", "tide", "mill"}}}},
		{`+"Mill"`, words{all: []string{"mill"}}}, // one word is no phrase
		{"light* +Universities*", words{beginnings: []beginning{{"light*", "light", "light", false}, {"Universities*", "universities", "univers", true}}}},
		{`5" pipe`, words{may: []string{"5", "pipe"}}},
		{"* ** ?", words{ignored: []string{"*", "**", "?"}}},
		{"东京塔*", words{may: []string{"东京", "京塔"}}},
	} {
		got, err := parseWords(c.text, a)
		if (err != nil) != (len(c.want.may)+len(c.want.all)+len(c.want.beginnings) == 0) {
			t.Errorf("%q: %v", c.text, err)
		}
		if c.want.ignored == nil {
			c.want.ignored = []string{}
		}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.text, *got, c.want)
		}
	}
}

func TestSearchTextRefuses(t *testing.T) {
	e := newStore(t, testDim).engine()
	for _, c := range []struct {
		text    string
		o       TextOptions
		field   string
		noWords bool
	}{
		{" ", TextOptions{}, "text", true},
		{"the of", TextOptions{}, "text", true},
		{`lamp "of the"`, TextOptions{}, "text", true},
		{`lamp "keeper`, TextOptions{}, "text", false},
		{"\xff", TextOptions{}, "text", false},
		{strings.Repeat("a", maxQuestionRunes+1), TextOptions{}, "text", false},
		{"lamp", TextOptions{K: -1}, "k", false},
		{"lamp", TextOptions{K: MaxTopK + 1}, "k", false},
		{"lamp", TextOptions{BM25: postings.BM25{K1: -1}}, "bm25", false},
		{"lamp", TextOptions{Filter: Filter{Status: "new"}}, "filter.status", false},
	} {
		r, err := e.SearchText(t.Context(), c.text, c.o)
		f, ok := errors.AsType[*FieldError](err)
		if r != nil || !ok || f.Field != c.field || errors.Is(err, ErrNoWords) != c.noWords {
			t.Errorf("%.20q %+v: %+v, %v", c.text, c.o, r, err)
		}
	}
	r, err := e.SearchText(t.Context(), "lamp", TextOptions{})
	if err != nil || !r.Complete || len(r.Passages) > 0 {
		t.Errorf("empty store: %+v, %v", r, err)
	}
}

// FuzzParseWords: any text is read or refused, and all that is looked for are terms.
func FuzzParseWords(f *testing.F) {
	a, err := analysis.New("")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{`+a "b c" d* `, `"`, "+\"x*", "东*", "\xff+ *"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWords(text, a)
		if err != nil {
			if _, ok := errors.AsType[*FieldError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		for _, term := range append(w.may, w.all...) {
			if term == "" || len(term) > postings.MaxTermBytes {
				t.Fatalf("%q", term)
			}
		}
		for _, b := range w.beginnings {
			if b.prefix == "" {
				t.Fatalf("%+v", b)
			}
		}
	})
}
