package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// Insert and Put process what they put in, so where they may wait for room they make it, instead of waiting for
// somebody who never comes.
func TestInsertMakesRoom(t *testing.T) {
	t.Parallel()
	o := testOptions(nil)
	o.Index.MaxPending, o.Index.WaitWhenFull = 2, true
	d := openTest(t, o)
	if _, err := d.Enqueue(ctx, index.Insert, doc("left", "E Left (behind)"), doc("too", "E Left (too)")); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if _, err := d.Insert(ctx, doc(fmt.Sprint(i), fmt.Sprintf("E Hub (fact %d)", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if e := entity(t, d, "Hub"); e == nil || e.SourceCount != 8 || entity(t, d, "Left") == nil {
		t.Errorf("Hub is %+v", e)
	}
	if _, err := d.Insert(ctx, doc("x", "x"), doc("y", "y"), doc("z", "z")); !errors.Is(err, db.ErrQueueFull) {
		t.Errorf("more than may ever wait: %v", err)
	}
}

// A worker in the background ends with the database.
func TestFollowEndsWithTheDatabase(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	done, ended := make(chan error), make(chan struct{})
	go func() {
		_, err := d.Process(context.Background(), index.ProcessOptions{Follow: true, Progress: func(p index.Progress) {
			if p.Stage == index.StageDone {
				close(ended)
			}
		}})
		done <- err
	}()
	if _, err := d.Enqueue(ctx, index.Put, doc("a", "E Ada (counts)")); err != nil {
		t.Fatal(err)
	}
	<-ended
	closeChecked(t, d)
	if err := <-done; !errors.Is(err, db.ErrClosed) {
		t.Errorf("the worker ended with %v", err)
	}
}

// A job's documents are found and deleted by its track, or by what their metadata say, after a dump as well.
func TestLivingDocuments(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	_, err := d.Insert(ctx,
		index.Document{ID: "a", Text: "E Ada (counts)", Track: "job 7", Metadata: map[string]any{"year": 1843, "tags": []string{"maths", "notes"}}},
		index.Document{ID: "b", Text: "E Bob (sings)", Track: "job 7", Metadata: map[string]any{"year": 1843.5}},
		index.Document{ID: "c", Text: "E Cole (sails)", Metadata: map[string]any{"tags": []string{"notes"}}})
	if err != nil {
		t.Fatal(err)
	}
	copied := openTest(t, testOptions(nil))
	if _, err := copied.Load(ctx, strings.NewReader(dumpOf(t, d, db.DumpOptions{}))); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*db.DB{d, copied} {
		ids := func(f index.Filter) (out []string) {
			for i, err := range d.Documents(ctx, f) {
				if err != nil {
					t.Fatal(err)
				}
				if !i.CreatedAt.Equal(clock()) || !i.UpdatedAt.Equal(clock()) {
					t.Errorf("%s was created %v, updated %v", i.ID, i.CreatedAt, i.UpdatedAt)
				}
				out = append(out, i.ID)
			}
			return out
		}
		for _, c := range []struct {
			f    index.Filter
			want []string
		}{
			{index.Filter{Track: "job 7"}, []string{"a", "b"}},
			{index.Filter{Metadata: map[string]any{"tags": "notes"}}, []string{"a", "c"}},
			{index.Filter{Metadata: map[string]any{"year": 1843}}, []string{"a"}},
		} {
			if got := ids(c.f); !slices.Equal(got, c.want) {
				t.Errorf("%+v selects %q, want %q", c.f, got, c.want)
			}
		}
		if r, err := d.DeleteMatching(ctx, index.Filter{Track: "job 7"}); err != nil || r.Documents != 2 || r.Entities != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err := d.DeleteMatching(ctx, index.Filter{Metadata: map[string]any{"tags": "notes"}}); err != nil || r.Documents != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		equalDumps(t, logical(t, d), logical(t, openTest(t, testOptions(nil))))
	}
}

// What a document cost is the sum of all its attempts and versions, failed ones included, of every model that worked for
// it, embeddings and summaries too; what caches answered costs nothing.
func TestSpentOnADocument(t *testing.T) {
	t.Parallel()
	chat := llmtest.NewChat(
		llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "fails", Usage: llm.Usage{PromptTokens: 1000}, Err: errors.New("no"), Times: 1},
		llmtest.Rule{Purpose: llm.PurposeExtract, Usage: llm.Usage{PromptTokens: 100, CompletionTokens: 10}, Func: func(r llm.Request) (string, error) { return reply(passage(r)), nil }},
		llmtest.Rule{Purpose: llm.PurposeSummary, Usage: llm.Usage{PromptTokens: 5, CompletionTokens: 50}, Text: "All of it."})
	o := modelled(chat, llmtest.NewEmbedder(8))
	o.Extract.Gleaning, o.Index.SummaryFragments = -1, 3
	o.Prices = llm.Prices{chat.ID(): {Prompt: 1e6, Completion: 2e6}} // 1 and 2 a token
	d := openTest(t, o)
	spent := func(id string) map[llm.Purpose]llm.Usage {
		sums := make(map[llm.Purpose]llm.Usage)
		for _, u := range get(t, d, id).Spent {
			sums[u.Purpose] = u.Usage
		}
		return sums
	}
	insert(t, d, doc("a", "E Hub (one)\n\nE Hub (two)"))
	insert(t, d, doc("other", "E Hub (three)"))
	if s := spent("a"); s[llm.PurposeExtract] != (llm.Usage{Calls: 2, PromptTokens: 200, CompletionTokens: 20}) || s[llm.PurposeEmbed].Calls == 0 {
		t.Errorf("spent %+v", s)
	}
	if s := spent("other"); s[llm.PurposeSummary] != (llm.Usage{Calls: 1, PromptTokens: 5, CompletionTokens: 50}) {
		t.Errorf("the summary that it made necessary is not the document's: %+v", s)
	}
	if i := get(t, d, "a"); i.Cost != 200+2*20 || len(i.Unpriced) != 0 {
		t.Errorf("cost %v, without a price %q", i.Cost, i.Unpriced)
	}
	if _, err := d.Put(ctx, doc("a", "E Hub (one)\n\nE Hub (fails)")); err == nil {
		t.Fatal("no failure")
	}
	if _, err := d.Retry(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Process(ctx, index.ProcessOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := spent("a"); s[llm.PurposeExtract].PromptTokens < 300 || s[llm.PurposeExtract].Calls != 3 {
		t.Errorf("after a failed replacement and a retry: %+v", s)
	}
	before := get(t, d, "a")
	if _, err := d.Put(ctx, doc("a", "E Hub (one)\n\nE Hub (two)")); err != nil { // all known
		t.Fatal(err)
	}
	after := get(t, d, "a")
	if after.Cost != before.Cost {
		t.Errorf("going back cost %v", after.Cost-before.Cost)
	}
	o.FS, o.Prices = vfs.NewMem(), llm.Prices{"another": {}}
	copied := openTest(t, o)
	if _, err := copied.Load(ctx, strings.NewReader(dumpOf(t, d, db.DumpOptions{}))); err != nil {
		t.Fatal(err)
	}
	if i := get(t, copied, "a"); !slices.Equal(i.Spent, after.Spent) || len(i.Unpriced) != 1 {
		t.Errorf("a dump made %+v of %+v", i.Spent, after.Spent)
	}
}

// An extractor of the caller's that asks models in its own way is taken at its word, once, and asked again as a model
// would be.
func TestExtractorOfTheCaller(t *testing.T) {
	t.Parallel()
	o := testOptions(nil)
	x := &busyExtractor{}
	o.Extractor = x
	d := openTest(t, o)
	insert(t, d, doc("a", "E Ada (counts)"))
	i := get(t, d, "a")
	want := llm.ModelUsage{Model: "busy", Purpose: llm.PurposeExtract, Usage: llm.Usage{Calls: 2, PromptTokens: 30}}
	if x.calls != 2 || !slices.Contains(i.Spent, want) {
		t.Errorf("%d calls, spent %+v", x.calls, i.Spent)
	}
}

// busyExtractor is refused once.
type busyExtractor struct{ calls int }

func (*busyExtractor) ID() string { return "busy" }

func (x *busyExtractor) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	if x.calls++; x.calls == 1 {
		return index.Extraction{}, &llm.Error{Provider: "busy", Op: "chat", Status: 429, RetryAfter: 1}
	}
	out := records(in.Text)
	out.Report = index.ExtractReport{Calls: 2, PromptTokens: 30}
	return out, nil
}
