package db_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// searched searches and returns the documents of the passages, in order.
func searched(t testing.TB, d *db.DB, text string, o query.TextOptions) string {
	t.Helper()
	r, err := d.SearchText(ctx, text, o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if !r.Complete || r.LSN != d.LSN() {
		t.Errorf("%q: %+v", text, r)
	}
	var docs []string
	for _, p := range r.Passages {
		docs = append(docs, p.Document)
	}
	return strings.Join(docs, " ")
}

func TestSearchText(t *testing.T) {
	d := openTest(t, db.Options{Extractor: scripted{}, LexicalDim: 64})
	old := doc("old", "The mill of the tide, and its wheels")
	old.Metadata = map[string]any{"year": 1850}
	insert(t, d, old, doc("new", "A tide mill turns when the tide falls"), doc("hyphen", "They built a tide-mill"),
		doc("light", "The lighthouse lights the reef; lightning struck"), doc("zh", "我们在东京塔附近"))
	for _, c := range []struct{ text, want string }{
		{"tide", "new old hyphen"},
		{`"tide mill"`, "new hyphen"},
		{`"tide-mill"`, "hyphen"},
		{`"mill of the tide"`, "old"},
		{`"mill the of tide"`, ""},
		{`"tide mill" reef`, "new hyphen"},
		{"+tide +wheel", "old"},
		{"+tide reef", "new old hyphen"},
		{"light*", "light"},
		{"+li* tide", "light"},
		{"zebra*", ""},
		{`"京塔附"`, "zh"},
		{"+reef +tide", ""},
	} {
		if got := searched(t, d, c.text, query.TextOptions{}); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if got := searched(t, d, `"tide mill"`, query.TextOptions{K: 1}); got != "new" {
		t.Errorf("the best: %q", got)
	}
	year := query.Filter{Where: []query.Condition{{Key: "year", In: []any{1850}}}}
	if got := searched(t, d, "tide", query.TextOptions{Filter: year}); got != "old" {
		t.Errorf("filtered: %q", got)
	}
	r, err := d.SearchText(ctx, "the lights* reefs zebra", query.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Passages[0]
	text, err := d.Text(ctx, p.Document)
	if err != nil || text[p.Start:p.End] != p.Content || !slices.Equal(p.Terms, []string{"light", "reef"}) ||
		!slices.Equal(r.Terms, []string{"light", "reef", "zebra"}) || !slices.Equal(r.Ignored, []string{"the"}) {
		t.Errorf("%+v, %v", r, err)
	}
	var many []string
	for i := range 1001 {
		many = append(many, fmt.Sprintf("q%04d", i))
	}
	insert(t, d, doc("many", strings.Join(many, " ")))
	_, err = d.SearchText(ctx, "q*", query.TextOptions{})
	if f, ok := errors.AsType[*query.FieldError](err); !ok || f.Field != "text" || f.Value != "q*" {
		t.Errorf("a beginning of too many: %v", err)
	}
}

// TestSearchTextFindsAll: what must be there is, in every passage that is found, and no other passage has it; while documents
// come, change and go.
func TestSearchTextFindsAll(t *testing.T) {
	d := openTest(t, db.Options{Extractor: scripted{}, LexicalDim: 64})
	rng := rand.New(rand.NewPCG(6, 1))
	vocabulary := strings.Fields("baba babu bibo coco cocu dodo dodu fufu")
	word := func() string { return vocabulary[min(rng.IntN(8), rng.IntN(8))] }
	write := func() string {
		var words []string
		for range 1 + rng.IntN(9) {
			words = append(words, word())
		}
		return strings.Join(words, " ")
	}
	texts := map[string]string{}
	var docs []index.Document
	for i := range 80 {
		id := fmt.Sprintf("d%02d", i)
		texts[id] = write()
		docs = append(docs, doc(id, texts[id]))
	}
	insert(t, d, docs...)
	for i := range 20 {
		id := fmt.Sprintf("d%02d", rng.IntN(80))
		if i%2 == 0 {
			if _, err := d.Delete(ctx, id); err != nil && !errors.Is(err, db.ErrNotFound) {
				t.Fatal(err)
			}
			delete(texts, id)
			continue
		}
		texts[id] = write()
		if _, err := d.Put(ctx, doc(id, texts[id])); err != nil {
			t.Fatal(err)
		}
	}
	nonempty := 0
	for range 300 {
		var parts []string
		var must, may []func(text string) bool
		for range 1 + rng.IntN(3) {
			w := word()
			one := func(text string) bool { return strings.Contains(" "+text+" ", " "+w+" ") }
			switch rng.IntN(5) {
			case 0:
				w += " " + word()
				parts, must = append(parts, `"`+w+`"`), append(must, one)
			case 1:
				parts, must = append(parts, "+"+w), append(must, one)
			case 2:
				w = w[:1+rng.IntN(3)]
				begins := func(text string) bool { return strings.Contains(" "+text, " "+w) }
				if rng.IntN(2) == 0 {
					parts, must = append(parts, "+"+w+"*"), append(must, begins)
				} else {
					parts, may = append(parts, w+"*"), append(may, begins)
				}
			default:
				parts, may = append(parts, w), append(may, one)
			}
		}
		var want []string
		for id, text := range texts {
			holds := func(f func(string) bool) bool { return f(text) }
			misses := func(f func(string) bool) bool { return !f(text) }
			if len(must) > 0 && !slices.ContainsFunc(must, misses) || len(must) == 0 && slices.ContainsFunc(may, holds) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		text := strings.Join(parts, " ")
		got := strings.Fields(searched(t, d, text, query.TextOptions{K: query.MaxTopK}))
		if best := searched(t, d, text, query.TextOptions{K: 3}); best != strings.Join(got[:min(3, len(got))], " ") {
			t.Fatalf("%s: the best are %q of %v", text, best, got)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
		if len(want) > 0 {
			nonempty++
		}
	}
	if nonempty < 100 {
		t.Errorf("%d of 300 searches had anything to find", nonempty)
	}
}

// TestSearchTextIncomplete: postings of another language are of no use; the result says so, and Settle ends it.
func TestSearchTextIncomplete(t *testing.T) {
	o := db.Options{FS: vfs.NewMem(), Extractor: scripted{}, LexicalDim: 64, Now: clock}
	d, err := db.Open("d", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("a", "Zwei Häuser"))
	closeChecked(t, d)
	o.Index.TextLanguage, o.ReadOnly = "german", true
	if d, err = db.Open("d", db.WithOptions(o)); err != nil {
		t.Fatal(err)
	}
	r, err := d.SearchText(ctx, "Haus", query.TextOptions{})
	if err != nil || r.Complete || len(r.Passages) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	closeChecked(t, d)
	o.ReadOnly = false
	if d, err = db.Open("d", db.WithOptions(o)); err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if got := searched(t, d, "Haus", query.TextOptions{}); got != "a" {
		t.Errorf("%q", got)
	}
	closeChecked(t, d)
}
