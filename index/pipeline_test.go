package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/kv"
)

func TestInsertAndDelete(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("keep", "E Ada|person|Ada writes.", "R Ada - Brin|work|Ada helps Brin."))
	before := s.dump()
	s.put(doc("x", "E Ada|artist|Ada paints.", "E Brin|person|Brin sings.", "R Brin - Ada|play|They play.", "R Brin - Cole|know|Brin knows Cole."))
	s.check()
	if e := s.entity("Brin"); e == nil || e.Type != "person" || e.Description != "Brin sings." {
		t.Fatalf("Brin is %+v: a real record upgrades the placeholder", e)
	}
	if e := s.entity("Ada"); e.Description != "Ada writes.<SEP>Ada paints." || e.Type != "person" || e.SourceCount != 5-1 {
		t.Fatalf("Ada is %+v", e)
	}
	r := s.delete("x")
	if r.Documents != 1 || r.Chunks != 4 || r.Entities != 1 || r.Relations != 1 || r.Rederived != 3 {
		t.Fatalf("delete reports %+v", r)
	}
	if d := diff(s.dump(), before); d != "" {
		t.Fatalf("after insert and delete:\n%s", d)
	}
	s.delete("keep")
	if d := s.dump(); len(d) != 0 {
		t.Fatalf("an empty store holds\n%s", strings.Join(d, "\n"))
	}
}

// TestDocumentIDOfText: a document without an id is named after its cleaned text, as LightRAG names it
// (spec/indexing.md §13), and neither what cleaning drops nor the path changes the name.
func TestDocumentIDOfText(t *testing.T) {
	const hello = "doc-5d41402abc4b2a76b9719d911017c592"
	for _, tc := range []struct {
		name, text, path, id string
	}{
		{"as it is", "hello", "", hello},
		{"white space around", " \n\thello\r\n", "", hello},
		{"controls, a broken byte and an entity", "\x00h\x1b[1mel\xfflo&#32;", "notes/hello.txt", hello},
		{"a byte order mark is text", "\ufeffhello", "", "doc-86c56c004b157e0e2b43d9561bada3b5"},
		{"another text", "Hello", "", "doc-8b1a9953c4611296a827abf8c47804d7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.put(index.Document{Text: tc.text, Path: tc.path})
			if i := s.info(tc.id); i.Status != "processed" || i.Path != tc.path {
				t.Errorf("the document is %+v", i)
			}
		})
	}
}

// TestProcessingSurvives: a document left in status processing by a kill is picked up.
func TestProcessingSurvives(t *testing.T) {
	s := newStore(t, index.Options{})
	s.enqueue(index.Insert, doc("x", "E A|t|a."))
	seen := false
	s.extract.before = func(context.Context, string) error {
		seen = true
		if i := s.info("x"); i.Status != "processing" || i.Attempts != 1 {
			t.Errorf("status while processing: %+v", i)
		}
		return s.log.Close() // the status cannot be written any more
	}
	if _, err := s.Process(context.Background(), index.ProcessOptions{}); !errors.Is(err, kv.ErrClosed) || !seen {
		t.Fatalf("error %v", err)
	}
	s.reopen()
	if i := s.info("x"); i.Status != "processing" {
		t.Fatalf("status after reopening: %+v", i)
	}
	s.extract.before = nil
	s.process()
	if i := s.info("x"); i.Status != "processed" || i.Attempts != 2 {
		t.Fatalf("status after resuming: %+v", i)
	}
}

func TestRefusedDocuments(t *testing.T) {
	s := newStore(t, index.Options{})
	_, err := s.Enqueue(context.Background(), []index.Document{
		{ID: "ok", Text: "fine"},
		{ID: "empty", Text: " \n\t"},
		{ID: "ok", Text: "again"},
		{ID: "\x01", Text: "x"},
		{ID: strings.Repeat("x", index.MaxIDBytes+1), Text: "x"},
		{ID: "year", Text: "x", Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{ID: "years", Text: "x", Time: time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)},
	}, index.Put)
	if !errors.Is(err, index.ErrEmptyDocument) || !errors.Is(err, index.ErrDuplicate) || !errors.Is(err, index.ErrDocument) || !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 6 {
		t.Errorf("%d errors, want one for each refused document:\n%v", n, err)
	}
	if d := s.dump(); len(d) != 0 {
		t.Errorf("a refused call left %q", d)
	}
	if _, err := s.Delete(context.Background(), "nobody"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("delete of an unknown id: %v", err)
	}
	s.put(doc("a", "x"))
	s.embed.dim = 6
	s.reopen()
	var model *index.ModelError
	if _, err := s.Enqueue(context.Background(), []index.Document{{Text: "y"}}, index.Put); !errors.As(err, &model) || model.StoredDim != 8 || model.GivenDim != 6 {
		t.Errorf("another embedder: %v", err)
	}
	if _, err := s.Delete(context.Background(), "a"); !errors.As(err, &model) {
		t.Errorf("another embedder: %v", err)
	}
}

func TestSupersededWhileProcessing(t *testing.T) {
	s := newStore(t, index.Options{})
	s.enqueue(index.Insert, doc("x", "E Old|t|old."), doc("y", "E Y|t|y."))
	s.extract.before = func(ctx context.Context, text string) error {
		switch {
		case strings.Contains(text, "Old"):
			s.enqueue(index.Put, doc("x", "E New|t|new."))
			<-ctx.Done()
			return ctx.Err()
		case strings.Contains(text, "Y"):
			s.delete("y")
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	if sum := s.process(); sum.Processed != 1 || sum.Failed != 0 {
		t.Errorf("summary %+v", sum)
	}
	if s.entity("Old") != nil || s.entity("New") == nil || s.entity("Y") != nil {
		t.Error("the replaced version won, or the deleted document did")
	}
}

func TestTrackAndFilters(t *testing.T) {
	s := newStore(t, index.Options{})
	s.now = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	r := s.enqueue(index.Insert, index.Document{ID: "b", Text: "b", Path: "n/b", Metadata: map[string]any{"k": "v"}}, index.Document{ID: "a", Text: "a", Path: "m/a"},
		index.Document{Text: "same"}, index.Document{Text: "same"})
	if r.Track != "insert_20260506_070809_0000abcd" {
		t.Errorf("track %q", r.Track)
	}
	if r.Documents[3].Result != index.Repeated || r.Documents[3].ID != r.Documents[2].ID {
		t.Errorf("outcomes %+v", r.Documents)
	}
	s.process()
	ids := func(f index.Filter) (out []string) {
		v := s.view()
		defer v.Close()
		for i, err := range index.Documents(v, "", f) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, i.ID)
		}
		return out
	}
	same := r.Documents[2].ID
	for _, c := range []struct {
		f    index.Filter
		want []string
	}{
		{index.Filter{}, []string{"a", "b", same}},
		{index.Filter{Track: r.Track}, []string{"b", "a", same}},
		{index.Filter{IDPrefix: "doc-"}, []string{same}},
		{index.Filter{PathPrefix: "n/"}, []string{"b"}},
		{index.Filter{Metadata: map[string]any{"k": "v"}}, []string{"b"}},
		{index.Filter{Status: "failed"}, nil},
	} {
		if got := ids(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v selects %q, want %q", c.f, got, c.want)
		}
	}
}

// TestOvertaken: a document whose shared objects keep moving under it redoes these alone, and is let
// through alone before long.
func TestOvertaken(t *testing.T) {
	s := newStore(t, index.Options{})
	tries := 0
	var late sync.WaitGroup
	s.embed.before = func(texts []string) {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "slow") }) || s.info("slow").Visible {
			return
		}
		tries++
		id := fmt.Sprintf("fast%d", tries)
		late.Add(1)
		overtake := func() {
			defer late.Done()
			r, err := s.Enqueue(context.Background(), []index.Document{doc(id, "E Hub|t|"+id)}, index.Insert)
			if err == nil {
				_, err = s.Process(context.Background(), index.ProcessOptions{IDs: r.IDs()})
			}
			if err != nil {
				t.Error(err)
			}
		}
		if tries <= 3 {
			overtake()
		} else {
			go overtake() // has to wait until slow is through
		}
	}
	s.enqueue(index.Insert, doc("slow", "E Hub|t|slow", "E Own|t|slow own"))
	s.process()
	late.Wait()
	s.embed.before = nil
	if tries != 4 {
		t.Errorf("%d tries, want 3 in company and 1 alone", tries)
	}
	if e := s.entity("Hub"); e.Description != "slow<SEP>fast1<SEP>fast2<SEP>fast3<SEP>fast4" {
		t.Errorf("Hub is %+v", e)
	}
	sent := 0
	for _, text := range s.embed.sent {
		if text == "Own\nslow own" {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("what nobody touched was embedded %d times", sent)
	}
}

// TestSummaries: long descriptions are summarised; the same fragments are never asked for again, and a
// failing summarizer fails the document and nothing else.
func TestSummaries(t *testing.T) {
	s := newStore(t, index.Options{SummaryFragments: 3})
	s.put(doc("a", "E Hub|t|one", "E Hub|t|two", "E Hub|t|three"))
	s.put(doc("b", "E Hub|t|one", "R Hub - Pier|k|to"))
	if !slices.Equal(s.summary.asked, []string{"Hub"}) {
		t.Fatalf("asked for %q", s.summary.asked)
	}
	if e := s.entity("Hub"); !strings.HasPrefix(e.Description, "entity Hub in 3 fragments") || e.SourceCount != 5 {
		t.Fatalf("Hub is %+v", e)
	}
	s.delete("b")
	s.check()
	if len(s.summary.asked) != 1 {
		t.Errorf("asked again after a delete that left the fragments: %q", s.summary.asked)
	}
	before := s.dump()
	s.summary.err = errors.New("no model")
	if _, err := s.Delete(context.Background(), "a"); err != nil {
		t.Errorf("delete that needs no summary: %v", err)
	}
	s.put(doc("c", "E Hub|t|one", "E Hub|t|two", "E Hub|t|four"))
	if i := s.info("c"); i.Status != "failed" || !strings.Contains(i.Error, "no model") || !strings.Contains(i.Error, "Hub") {
		t.Errorf("status %+v", i)
	}
	s.summary.err = nil
	s.delete("c")
	s.put(doc("a", "E Hub|t|one", "E Hub|t|two", "E Hub|t|three"))
	if d := diff(s.dump(), before); d != "" {
		t.Errorf("after delete and insert:\n%s", d)
	}
}

// TestBadExtractor: what a caller's extractor makes up is capped and counted.
func TestBadExtractor(t *testing.T) {
	s := newStore(t, index.Options{})
	long := strings.Repeat("名", 23_000)
	s.put(doc("x", "E |t|no name", "E "+long+"|t|long name", "R A - |k|no end", "R A - B||no keywords", "E \xff|t|bad"))
	i := s.info("x")
	if i.Dropped["empty_name"] != 3 || i.Status != "processed" {
		t.Errorf("status %+v", i)
	}
	if s.entity(index.NormalizeName(long)) == nil {
		t.Error("the long name was not cut at a character")
	}
	if r := s.relation("A", "B"); r == nil || len(r.Keywords) != 0 {
		t.Errorf("relation %+v", r)
	}
}

// TestTimes: a document keeps its own time whatever it is, through a dump as well; the epoch is a time.
func TestTimes(t *testing.T) {
	s := newStore(t, index.Options{})
	for i, when := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(0, 1), time.Unix(-1, 999_999_999), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1066, 10, 14, 9, 0, 0, 0, time.UTC), time.Date(2300, 2, 28, 23, 59, 59, 5, time.FixedZone("", 3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Now(),
	} {
		d := doc(fmt.Sprint(i), "E A|t|x")
		d.Time = when
		s.put(d)
		if got := s.info(d.ID).Time; !got.Equal(when) || got.IsZero() != when.IsZero() || got.Location() != time.UTC {
			t.Errorf("%v became %v", when, got)
		}
		if r := s.enqueue(index.Put, d); r.Documents[0].Result != index.Unchanged {
			t.Errorf("%v given again: %+v", when, r)
		}
	}
	c := newStore(t, index.Options{})
	s.copyTo(c)
	if d := diff(c.dump(), s.dump()); d != "" {
		t.Error(d)
	}
}

// TestAbsurdOptions: what no text can need is refused by name.
func TestAbsurdOptions(t *testing.T) {
	for field, o := range map[string]index.Options{
		"ChunkTokens":      {ChunkTokens: math.MaxInt},
		"ChunkOverlap":     {ChunkTokens: 10, ChunkOverlap: math.MaxInt},
		"Workers":          {Workers: math.MaxInt},
		"ChunkWorkers":     {ChunkWorkers: math.MaxInt},
		"CommitBytes":      {CommitBytes: 1},
		"MaxSources":       {MaxSources: math.MaxInt},
		"MaxPaths":         {MaxPaths: math.MinInt},
		"SummaryFragments": {SummaryFragments: 1},
		"SummaryTokens":    {SummaryTokens: math.MaxInt},
		"EmbedTokens":      {EmbedTokens: math.MaxInt},
	} {
		var bad *index.OptionError
		if err := o.Validate(runes{}); !errors.Is(err, index.ErrConfig) || !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := (index.Options{ChunkTokens: chunk.MaxSize, EmbedTokens: chunk.MaxSize}).Validate(runes{}); err != nil {
		t.Error(err)
	}
}

// TestEmbedLimit: chunks are cut and texts of objects shortened to what the embedding model takes, at whole characters,
// and what is stored is not.
func TestEmbedLimit(t *testing.T) {
	const limit = 20
	long := strings.Repeat("长long длинный👨‍👩‍👧 ", 3) + "end"
	s := newStore(t, index.Options{EmbedTokens: limit})
	s.real = fixedReply{index.Extraction{
		Entities:  []index.EntityRecord{{Name: "A", Type: "t", Description: long}, {Name: "B", Type: "t", Description: "short"}},
		Relations: []index.RelationRecord{{Src: "A", Dst: "B", Keywords: []string{"k"}, Description: long, Weight: 1}}}}
	s.reopen()
	s.put(doc("x", "A and B", strings.Repeat("word ", 30)))
	var cut []string
	for _, text := range s.embed.sent {
		n := len([]rune(text))
		if n > limit || !utf8.ValidString(text) {
			t.Errorf("%d tokens sent: %q", n, text)
		}
		if strings.Contains(text, "长") {
			cut = append(cut, text)
		}
	}
	whole := []string{"A\n" + long, "k\tA\nB\n" + long}
	for i, w := range whole {
		if prefix := string([]rune(w)[:limit]); len(cut) != 2 || cut[i] != prefix {
			t.Errorf("embedded %q, want the first %d characters of %q", cut, limit, w)
		}
	}
	if e, r := s.entity("A"), s.relation("A", "B"); e.Description != long || r.Description != long {
		t.Errorf("stored %+v and %+v", e, r)
	}
	if i := s.info("x"); i.Chunks < 9 {
		t.Errorf("status %+v", i)
	}
	if _, err := index.New(index.Config{}); !errors.Is(err, index.ErrConfig) {
		t.Errorf("empty configuration: %v", err)
	}
}

// fixedReply finds the same in every chunk.
type fixedReply struct{ x index.Extraction }

func (fixedReply) ID() string { return "fixed" }

func (f fixedReply) Extract(context.Context, index.ExtractInput) (index.Extraction, error) {
	return f.x, nil
}

// TestDownModel: when every call fails, a long document is given up before each chunk was tried.
func TestDownModel(t *testing.T) {
	s := newStore(t, index.Options{ChunkWorkers: 1})
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("E N%d|t|x", i))
	}
	s.extract.before = func(context.Context, string) error { return errors.New("unreachable") }
	s.put(doc("x", lines...))
	if n := s.extract.calls(); n != 8 {
		t.Errorf("%d calls to a model that is down", n)
	}
	if i := s.info("x"); !strings.Contains(i.Error, "chunk 1 of 40") || !strings.Contains(i.Error, "7 more chunks") {
		t.Errorf("error %q", i.Error)
	}
}

// TestChangedBeforeCommit: what commits in the last moment before an attempt or a delete does is seen in
// the writer turn.
func TestChangedBeforeCommit(t *testing.T) {
	const old, next = "E Old|t|old.", "E New|t|new."
	t.Run("replaced", func(t *testing.T) {
		s := newStore(t, index.Options{})
		other := s.pipeline(s.log)
		s.enqueue(index.Insert, doc("x", old))
		s.hook = func(kind string) {
			if kind == "index" {
				s.hook = nil
				if _, err := other.Enqueue(context.Background(), []index.Document{doc("x", next)}, index.Put); err != nil {
					t.Error(err)
				}
			}
		}
		s.process()
		if s.entity("Old") != nil || s.entity("New") == nil || s.info("x").Status != "processed" {
			t.Error("the replaced version was stored")
		}
	})
	t.Run("deleted", func(t *testing.T) {
		s := newStore(t, index.Options{})
		other := s.pipeline(s.log)
		s.put(doc("x", old))
		s.enqueue(index.Put, doc("x", next))
		s.hook = func(kind string) {
			if kind == "index" {
				s.hook = nil
				if _, err := other.Delete(context.Background(), "x"); err != nil {
					t.Error(err)
				}
			}
		}
		if sum := s.process(); sum.Processed != 0 || sum.Failed != 0 {
			t.Errorf("summary %+v", sum)
		}
		if d := s.dump(); len(d) != 0 {
			t.Errorf("a deleted document came back: %q", d)
		}
	})
	t.Run("replaced under a delete", func(t *testing.T) {
		s := newStore(t, index.Options{})
		other := s.pipeline(s.log)
		s.put(doc("x", old, "E A|t|a."), doc("y", "E A|t|b."))
		s.hook = func(kind string) {
			if kind == "delete" {
				s.hook = nil
				if _, err := other.Enqueue(context.Background(), []index.Document{doc("x", next)}, index.Put); err != nil {
					t.Error(err)
				}
				if _, err := other.Process(context.Background(), index.ProcessOptions{}); err != nil {
					t.Error(err)
				}
			}
		}
		s.delete("x")
		if s.entity("Old") != nil || s.entity("New") != nil || s.entity("A").Description != "b." {
			t.Error("something of the deleted document is left")
		}
	})
}

// TestProgress: events tell of each document and add up.
func TestProgress(t *testing.T) {
	s := newStore(t, index.Options{Workers: 1, ChunkWorkers: 1})
	s.extract.before = func(_ context.Context, text string) error {
		if text == "bad" {
			return errors.New("no")
		}
		return nil
	}
	s.enqueue(index.Insert, doc("a", "E A|t|a", "R A - B|k|x"), doc("b", "bad"), doc("c", "c"))
	var got []string
	sum, err := s.Process(context.Background(), index.ProcessOptions{Progress: func(p index.Progress) {
		got = append(got, fmt.Sprintf("%s %s chunks %d/%d documents %d/%d objects %d+%d %v", p.Document, p.Stage, p.ChunksDone, p.Chunks,
			p.DocumentsDone, p.Documents, p.Entities, p.Relations, p.Err != nil))
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a chunk chunks 0/2 documents 0/3 objects 0+0 false",
		"a extract chunks 1/2 documents 0/3 objects 0+0 false",
		"a extract chunks 2/2 documents 0/3 objects 0+0 false",
		"a merge chunks 2/2 documents 0/3 objects 0+0 false",
		"a done chunks 2/2 documents 1/3 objects 2+1 false",
		"b chunk chunks 0/1 documents 1/3 objects 0+0 false",
		"b failed chunks 0/1 documents 2/3 objects 0+0 true",
		"c chunk chunks 0/1 documents 2/3 objects 0+0 false",
		"c extract chunks 1/1 documents 2/3 objects 0+0 false",
		"c merge chunks 1/1 documents 2/3 objects 0+0 false",
		"c done chunks 1/1 documents 3/3 objects 0+0 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events:\n%s", strings.Join(got, "\n"))
	}
	if sum.Processed != 2 || sum.Failed != 1 || !strings.Contains(sum.Errors["b"], "chunk 1 of 1") {
		t.Errorf("summary %+v", sum)
	}
}
