package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
)

// plain is an extractor of lines: "E name|type|description" and "R a|b|keyword|weight|description".
type plain struct{}

func (plain) ID() string { return "plain/1" }

func (plain) Extract(_ context.Context, in index.ExtractInput) (x index.Extraction, _ error) {
	for line := range strings.Lines(in.Text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch f := strings.Split(rest, "|"); {
		case kind == "E" && len(f) == 3:
			x.Entities = append(x.Entities, index.EntityRecord{Name: f[0], Type: f[1], Description: f[2]})
		case kind == "R" && len(f) == 5:
			w, err := strconv.ParseFloat(f[3], 64)
			if err != nil {
				return x, err
			}
			x.Relations = append(x.Relations, index.RelationRecord{Src: f[0], Dst: f[1], Keywords: []string{f[2]}, Weight: w, Description: f[4]})
		}
	}
	return x, nil
}

// byName embeds what an entity or relation is called and nothing of what is said about it, so that its vector does not
// depend on which documents there are.
type byName struct{}

func (byName) ID() string { return "byname/1" }
func (byName) Dim() int   { return 16 }

func (byName) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if _, pair, ok := strings.Cut(text, "\t"); ok { // keywords, both names, description
			text = strings.Join(strings.SplitN(pair, "\n", 3)[:2], "\n")
		} else {
			text, _, _ = strings.Cut(text, "\n")
		}
		h := fnv.New64a()
		h.Write([]byte(text))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		for range (byName{}).Dim() {
			out[i] = append(out[i], rng.Float32()-0.3)
		}
	}
	return out, nil
}

func filterOptions() db.Options {
	o := testOptions(nil)
	o.Extractor, o.Models.Embedder = plain{}, byName{}
	return o
}

// corpus makes n documents about few names, so that most of these are shared, with metadata to select by: "n" is the
// place, "group" one of ten, "tags" odd texts.
func corpus(n int, seed uint64) []index.Document {
	rng := rand.New(rand.NewPCG(seed, seed))
	tags := []string{"é", "e\u0301", "👩‍🚀", "\u202eabc", "a\x00b", "漢字", "a\u2028b", "straße"}
	name := func() string {
		if rng.IntN(min(n/4, 50)) == 0 { // in fewer documents than the caps: above them a filtered view has no exact sums
			return "Hub"
		}
		return fmt.Sprintf("Name %d", rng.IntN(10+n/4))
	}
	docs := make([]index.Document, n)
	for i := range docs {
		var b strings.Builder
		fmt.Fprintf(&b, "Text of document %d.\n", i)
		for range 1 + rng.IntN(3) {
			fmt.Fprintf(&b, "E %s|%s|What document %d says. Fact %d.\n", name(), []string{"person", "place", "other"}[rng.IntN(3)], i, rng.IntN(5))
		}
		for range rng.IntN(4) {
			fmt.Fprintf(&b, "R %s|%s|k%d|%d|A link of document %d.\n", name(), name(), rng.IntN(4), 1+rng.IntN(3), i)
		}
		docs[i] = index.Document{ID: fmt.Sprintf("doc%04d", i), Path: fmt.Sprintf("p%d/%d.txt", i%7, i), Text: b.String(),
			Time: clock().AddDate(0, 0, i), Metadata: map[string]any{"n": i, "group": i % 10, "tags": []string{tags[i%len(tags)], "all"}}}
		if i%3 == 0 {
			docs[i].Metadata["third"] = true
		}
	}
	return docs
}

// comparable is what must be equal of two results: all but when and where it was found.
func comparable(t *testing.T, r *query.Result) string {
	t.Helper()
	c := *r
	c.LSN, c.Trace, c.Filter = 0, query.Trace{}, nil
	c.Reasons = slices.DeleteFunc(slices.Clone(c.Reasons), func(r query.Reason) bool { return r.Code == query.ReasonFilter })
	b, err := json.MarshalIndent(&c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func ask(t *testing.T, d *db.DB, question string, o query.Options) *query.Result {
	t.Helper()
	r, err := d.Query(ctx, question, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameAsAlone asks d with the filter and a database that holds the matching documents alone without it: both answer the
// same in all modes, word for word. what are the documents of d in order.
func sameAsAlone(t *testing.T, d *db.DB, what []index.Document, f query.Filter, match func(i int) bool) {
	t.Helper()
	alone := openTest(t, filterOptions())
	var list []index.Document
	for i := range what {
		if match(i) {
			list = append(list, what[i])
		}
	}
	insert(t, alone, list...)
	for _, mode := range []query.Mode{query.Naive, query.Local, query.Global, query.Hybrid, query.Mix} {
		for k, o := range []query.Options{
			{CosineThreshold: query.Some(-1.0)},
			{CosineThreshold: query.Some(-1.0), TopK: 3, ChunkTopK: 5, Picker: query.PickWeight, Budget: query.Budget{Relations: 300}},
			{TopK: 100, Picker: query.PickVector},
		} {
			o.Mode, o.Want = mode, query.WantContext
			o.LowKeywords, o.HighKeywords = []string{"Name 3"}, []string{"Hub\nName 2"}
			const question = "What links the Hub, Name 1 and Name 7?"
			want := ask(t, alone, question, o)
			o.Filter = f
			got := ask(t, d, question, o)
			if got.Filter == nil || got.Filter.Documents != len(list) {
				t.Fatalf("%s %d: filter %+v of %d documents", mode, k, got.Filter, len(list))
			}
			if want.Outcome == query.OutcomeNoResult && got.Outcome == query.OutcomeEmptyAfterFilter {
				got.Outcome = query.OutcomeNoResult // there is more in d
			}
			if g, w := comparable(t, got), comparable(t, want); g != w {
				t.Fatalf("%s %d, %d documents: %s", mode, k, len(list), firstDifference(g, w))
			}
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, lines := range [][]string{g, w} {
		for i, line := range lines {
			lines[i] = line[:min(len(line), 300)]
		}
	}
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			from := max(0, i-12)
			return fmt.Sprintf("line %d\ngot\n%s\nwant\n%s", i, strings.Join(g[from:min(len(g), i+3)], "\n"), strings.Join(w[from:min(len(w), i+3)], "\n"))
		}
	}
	return fmt.Sprintf("%d and %d lines", len(g), len(w))
}

// A filtered query answers as a database without the other documents would, whatever share the filter selects.
func TestFilterIsAStoreOfItsOwn(t *testing.T) {
	t.Parallel()
	n := 1000
	if testing.Short() {
		n = 100
	}
	docs := corpus(n, 1)
	d := openTest(t, filterOptions())
	insert(t, d, docs...)
	where := func(key string, c query.Condition) query.Filter {
		c.Key = key
		return query.Filter{Where: []query.Condition{c}}
	}
	for name, c := range map[string]struct {
		f     query.Filter
		match func(i int) bool
	}{
		"one document":   {query.Filter{IDs: []string{"doc0040", "unknown"}}, func(i int) bool { return i == 40 }},
		"a hundredth":    {where("n", query.Condition{Min: 70, Max: 69 + n/100}), func(i int) bool { return i >= 70 && i < 70+n/100 }},
		"a tenth":        {query.Filter{Metadata: map[string]any{"group": 3}}, func(i int) bool { return i%10 == 3 }},
		"two groups":     {where("group", query.Condition{In: []any{3, 8.0}}), func(i int) bool { return i%10 == 3 || i%10 == 8 }},
		"a path":         {query.Filter{PathPrefix: "p2/"}, func(i int) bool { return i%7 == 2 }},
		"an id prefix":   {query.Filter{IDPrefix: "doc00"}, func(i int) bool { return i < 100 }},
		"an odd tag":     {query.Filter{Metadata: map[string]any{"tags": "e\u0301"}}, func(i int) bool { return i%8 == 1 }},
		"a key":          {where("third", query.Condition{}), func(i int) bool { return i%3 == 0 }},
		"a time":         {query.Filter{Since: clock().AddDate(0, 0, 20), Until: clock().AddDate(0, 0, 60)}, func(i int) bool { return i >= 20 && i < 60 }},
		"half":           {where("n", query.Condition{Max: n/2 - 1}), func(i int) bool { return i < n/2 }},
		"all":            {query.Filter{Metadata: map[string]any{"tags": "all"}}, func(int) bool { return true }},
		"two conditions": {query.Filter{PathPrefix: "p1/", Metadata: map[string]any{"third": true}}, func(i int) bool { return i%7 == 1 && i%3 == 0 }},
	} {
		t.Run(name, func(t *testing.T) { sameAsAlone(t, d, docs, c.f, c.match) })
	}
}

// What is remembered of a filter follows the documents, and names that people decide on.
func TestFilterFollowsChanges(t *testing.T) {
	t.Parallel()
	docs := corpus(60, 2)
	d := openTest(t, filterOptions())
	f := query.Filter{Metadata: map[string]any{"third": true}}
	third := func(i int) bool { return docs[i].Metadata["third"] == true }
	insert(t, d, docs[:40]...)
	rest := docs
	docs = rest[:40]
	sameAsAlone(t, d, docs, f, third)
	docs = rest
	insert(t, d, docs[40:]...)
	sameAsAlone(t, d, docs, f, third)
	if _, err := d.Delete(ctx, docs[3].ID, docs[4].ID); err != nil {
		t.Fatal(err)
	}
	docs = slices.Delete(slices.Clone(docs), 3, 5)
	sameAsAlone(t, d, docs, f, third)
	docs[0].Text, docs[1].Text = "E Hub|person|Put anew.\nE Name 1|place|Also new.", "E Hub|place|Not to be seen."
	if _, err := d.Put(ctx, docs[0], docs[1]); err != nil {
		t.Fatal(err)
	}
	sameAsAlone(t, d, docs, f, third)
	docs[1].Metadata = map[string]any{"third": true} // from then on it matches
	if _, err := d.Put(ctx, docs[1]); err != nil {
		t.Fatal(err)
	}
	sameAsAlone(t, d, docs, f, third)
}

// A hub of many relations is put in order by their weights among the selected documents, with few of them derived.
func TestFilterOnAHub(t *testing.T) {
	t.Parallel()
	docs := make([]index.Document, 120)
	for i := range docs {
		docs[i] = index.Document{ID: fmt.Sprintf("d%03d", i), Metadata: map[string]any{"even": i%2 == 0}}
		for k := range 5 {
			docs[i].Text += fmt.Sprintf("R Hub|Name %d|k|%d|Spoke of %d.\n", i/2*5+k, 1+(i*7+k)%5, i)
		}
	}
	d := openTest(t, filterOptions())
	insert(t, d, docs...)
	f := query.Filter{Metadata: map[string]any{"even": true}}
	sameAsAlone(t, d, docs, f, func(i int) bool { return i%2 == 0 })
	o := query.Options{Mode: query.Local, LowKeywords: []string{"Name 3"}, Want: query.WantData, Filter: f, Budget: query.Budget{Relations: 200}}
	r := ask(t, d, "Hub", o)
	if !r.Counts.RelationsBounded || r.Counts.Relations.Found > 100 {
		t.Errorf("%+v of %+v: more was derived than the budget shows", r.Counts, r.Filter)
	}
}

// Nothing that other documents say is in a result, whatever is asked.
func TestFilterKeepsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "XYZZY"
	o := filterOptions()
	o.Index.SummaryFragments = 3
	d := openTest(t, o)
	docs := corpus(60, 3)
	for i := range docs {
		if i%2 == 1 { // they speak of the same names, and of some of their own
			x := fmt.Sprintf("%s%d", secret, i)
			docs[i] = index.Document{ID: x, Path: x + ".txt", Metadata: map[string]any{x: x}, Track: x, Text: docs[i].Text +
				fmt.Sprintf("E Hub|%s|Hub is %s.\nE %s|t|d.\nR Hub|%s|%s|3|d.\nR Hub|Name 1|%s|9|%s.\nE Vault|t|%s.", x, x, x, x, x, x, x, x)}
		} else {
			docs[i].Metadata["open"] = true
			docs[i].Text += "E Hub|person|Open.\nR Hub|Name 1|open|1|Open."
		}
	}
	insert(t, d, docs...)
	hand := secret + " by hand"
	if _, err := d.EditEntity(ctx, "Hub", index.EntityFields{Description: &hand}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.EditRelation(ctx, "Hub", "Name 1", index.RelationFields{Description: &hand, Keywords: []string{hand}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateEntity(ctx, index.NewEntity{Name: "Name 2", Description: hand}); err != nil && !errors.Is(err, db.ErrNameTaken) {
		t.Fatal(err)
	}
	if _, err := d.AddAlias(ctx, "Hub", "The Centre"); err != nil {
		t.Fatal(err)
	}
	f := query.Filter{Metadata: map[string]any{"open": true}}
	for _, mode := range query.Modes() {
		if mode == query.Bypass {
			continue
		}
		for _, want := range []query.Want{query.WantData, query.WantPrompt} {
			r := ask(t, d, "Do the centre, Name 1, Name 2 and the Vault hold all?", query.Options{Mode: mode, Want: want, Filter: f,
				CosineThreshold: query.Some(-1.0), LowKeywords: []string{"Hub"}, HighKeywords: []string{"Vault"}, TopK: 200, ChunkTopK: 100})
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if i := strings.Index(string(b), secret); i >= 0 {
				t.Errorf("%s: …%s…", mode, b[max(0, i-200):min(len(b), i+100)])
			}
			for _, e := range r.Data.Entities {
				if e.Name == "Vault" || e.Name == "Hub" && (e.Type != "person" || e.SourceCount > 30) {
					t.Errorf("%s: %+v", mode, e)
				}
			}
			if kg := mode != query.Naive; kg != (len(r.Data.Entities) > 0) || len(r.Data.Chunks) == 0 || kg && mode != query.Global && r.Data.Entities[0].Name != "Hub" {
				t.Errorf("%s: %d entities, %d chunks", mode, len(r.Data.Entities), len(r.Data.Chunks))
			}
		}
	}
	all := ask(t, d, "Vault", query.Options{Want: query.WantData})
	if b, err := json.Marshal(all); err != nil || !strings.Contains(string(b), secret) {
		t.Errorf("nothing is hidden without a filter: %v", err)
	}
}

func reasonsOf(r *query.Result) (codes []query.ReasonCode) {
	for _, r := range r.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// What a filter leaves empty is told apart from what is nowhere.
func TestEmptyAfterFilter(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	insert(t, d, doc("a", "E Harbour lamp (burns at night)"), doc("b", "E Tide mill (grinds corn)"))
	for _, c := range []struct {
		question string
		f        query.Filter
		outcome  query.Outcome
	}{
		{"Harbour lamp", query.Filter{}, query.OutcomeOK},
		{"Harbour lamp", query.Filter{IDs: []string{"a"}}, query.OutcomeOK},
		{"Harbour lamp", query.Filter{IDs: []string{"b"}}, query.OutcomeEmptyAfterFilter},
		{"Harbour lamp", query.Filter{IDs: []string{"gone"}}, query.OutcomeEmptyAfterFilter},
		{"zzzz qqqq", query.Filter{IDs: []string{"b"}}, query.OutcomeNoResult},
		{"zzzz qqqq", query.Filter{}, query.OutcomeNoResult},
	} {
		for _, mode := range []query.Mode{query.Naive, query.Local, query.Mix} {
			r := ask(t, d, c.question, query.Options{Mode: mode, Filter: c.f, CosineThreshold: query.Some(0.5)})
			if r.Outcome != c.outcome || slices.Contains(reasonsOf(r), query.ReasonFilter) != (c.outcome == query.OutcomeEmptyAfterFilter) {
				t.Errorf("%s %q %v: %s, %v, %+v", mode, c.question, c.f.IDs, r.Outcome, r.Reasons, r.Filter)
			}
			filtered := slices.ContainsFunc(r.Trace.Steps, func(s query.TraceStep) bool { return s.Name == query.StepFilter })
			if (r.Filter != nil) == c.f.IsZero() || filtered == c.f.IsZero() {
				t.Errorf("%s %q %v: %+v, %+v", mode, c.question, c.f.IDs, r.Filter, r.Trace)
			}
		}
	}
	_, err := d.Query(ctx, "x", query.Options{Filter: query.Filter{Status: "gone", Until: time.Unix(1, 0), Since: time.Unix(2, 0)}})
	if err == nil || !strings.Contains(err.Error(), "filter.status") || !strings.Contains(err.Error(), "filter.until") {
		t.Errorf("%v", err)
	}
}

// Above the caps of the index a view is that of the passages within them, and the result says so.
func TestFilterAndCaps(t *testing.T) {
	t.Parallel()
	for _, newest := range []bool{false, true} {
		o := filterOptions()
		o.Index.MaxSources, o.Index.KeepNewest = 3, newest
		d := openTest(t, o)
		var docs []index.Document
		for i := range 12 {
			docs = append(docs, index.Document{ID: fmt.Sprintf("d%02d", i), Metadata: map[string]any{"even": i%2 == 0}, Text: fmt.Sprintf("E Hub|t|Fact %d.", i)})
		}
		insert(t, d, docs...)
		ask := func(f query.Filter) (*query.Result, query.Entity) {
			r := ask(t, d, "Hub", query.Options{Mode: query.Local, Want: query.WantData, Filter: f})
			if len(r.Data.Entities) != 1 {
				t.Fatalf("%+v", r.Data)
			}
			return r, r.Data.Entities[0]
		}
		r, e := ask(query.Filter{Metadata: map[string]any{"even": true}})
		want := "Fact 0.<SEP>Fact 2.<SEP>Fact 4."
		if newest {
			want = "Fact 6.<SEP>Fact 8.<SEP>Fact 10."
		}
		if e.Description != want || len(e.Sources) != 3 || !slices.Contains(reasonsOf(r), query.ReasonFilterCut) {
			t.Errorf("%+v, %v", e, r.Reasons)
		}
		r, e = ask(query.Filter{IDs: []string{"d03", "d09"}})
		if e.Description != "Fact 3.<SEP>Fact 9." || e.SourceCount != 2 || slices.Contains(reasonsOf(r), query.ReasonFilterCut) {
			t.Errorf("%+v, %v", e, r.Reasons)
		}
	}
}
