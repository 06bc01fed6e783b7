package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glimdb/db/index"
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

func TestHC01_Delete(t *testing.T) {
	t.Run("a", func(t *testing.T) {
		s := newStore(t, index.Options{})
		s.put(doc("A", "E Mira Voss|person|Mira Voss repairs the bridge.", "E Lantern Bridge|place|A bridge.", "R Mira Voss - Lantern Bridge|repair|She repairs it."))
		s.put(doc("B", "E Mira Voss|person|Mira Voss teaches.", "E Oakhall|place|A school.", "R Mira Voss - Oakhall|teach|She teaches there."))
		s.delete("A")
		s.check()
		if s.entity("Lantern Bridge") != nil || s.relation("Lantern Bridge", "Mira Voss") != nil {
			t.Error("the bridge and its edge are still there")
		}
		e := s.entity("Mira Voss")
		if e.Description != "Mira Voss teaches." || !slices.Equal(e.Sources, []string{"B-chunk-000", "B-chunk-002"}) || !slices.Equal(e.Paths, []string{"B.txt"}) {
			t.Errorf("Mira Voss is %+v", e)
		}
		if last := s.embed.sent[len(s.embed.sent)-1]; last != "Mira Voss\nMira Voss teaches." {
			t.Errorf("the last text embedded is %q", last)
		}
		for _, l := range s.dump() {
			if strings.Contains(l, "repair") || strings.Contains(l, "Lantern") {
				t.Errorf("text of the deleted document is left: %s", l)
			}
		}
	})
	t.Run("b", func(t *testing.T) {
		build := func() (*store, []string) {
			s := newStore(t, index.Options{})
			var ids []string
			for i := range 20 {
				id := fmt.Sprintf("d%02d", i)
				s.enqueue(index.Insert, doc(id, fmt.Sprintf("E Grid Office|place|Fact %d.", i)))
				ids = append(ids, id)
			}
			s.process()
			return s, ids
		}
		s, ids := build()
		calls := len(s.summary.asked)
		if e := s.entity("Grid Office"); e.SourceCount != 20 {
			t.Fatalf("Grid Office has %d sources", e.SourceCount)
		}
		if r := s.delete(ids[:8]...); r.Rederived != 1 {
			t.Errorf("delete reports %+v", r)
		}
		if n := len(s.summary.asked) - calls; n != 1 {
			t.Errorf("%d summaries for one shared entity", n)
		}
		s.delete(ids[8:19]...)
		one, _ := build()
		for _, id := range ids[:19] {
			one.delete(id)
		}
		if d := diff(s.dump(), one.dump()); d != "" {
			t.Errorf("many at once differs from one by one:\n%s", d)
		}
	})
}

func TestHC02_Replace(t *testing.T) {
	s := newStore(t, index.Options{})
	head := []string{"E Lamp|device|A lamp.", "R Lamp - Red|mode|Red mode."}
	s.put(doc("handbook", append(slices.Clone(head), "R Lamp - Green|mode|Green mode.")...))
	s.put(doc("other", "E Lamp|device|Lamps shine."))
	calls, texts := s.extract.calls(), s.embed.calls()

	s.enqueue(index.Put, doc("handbook", append(slices.Clone(head), "R Lamp - Blue|mode|Blue mode.")...))
	if s.relation("Green", "Lamp") == nil {
		t.Error("the old version vanished before the new one is there")
	}
	s.process()
	if s.entity("Green") != nil || s.relation("Green", "Lamp") != nil {
		t.Error("Green is still in the graph")
	}
	if asked := s.extract.asked[calls:]; !slices.Equal(asked, []string{"R Lamp - Blue|mode|Blue mode."}) {
		t.Errorf("asked for %q", asked)
	}
	want := []string{"R Lamp - Blue|mode|Blue mode.", "Blue\nBlue mode.", "mode\tBlue\nLamp\nBlue mode."}
	if sent := s.embed.sent[texts:]; !slices.Equal(sent, want) {
		t.Errorf("embedded %q", sent)
	}
	if i := s.info("handbook"); i.ReusedChunks != 2 || i.Chunks != 3 || i.Status != "processed" {
		t.Errorf("status is %+v", i)
	}
	// A chunk moves: nothing is asked, and the state is that of a fresh store.
	s.put(doc("handbook", "note", head[0], head[1]))
	if n := s.extract.calls() - calls; n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	fresh := newStore(t, index.Options{})
	fresh.put(doc("handbook", "note", head[0], head[1]), doc("other", "E Lamp|device|Lamps shine."))
	if d := diff(s.dump(), fresh.dump()); d != "" {
		t.Errorf("replacing differs from inserting:\n%s", d)
	}
}

func TestHC05_Resume(t *testing.T) {
	lines := []string{"E A|t|a.", "E B|t|b.", "E C|t|c.", "E D|t|d.", "E F|t|f.", "E G|t|g."}
	undisturbed := newStore(t, index.Options{})
	undisturbed.put(doc("x", lines...))
	want := undisturbed.dump()

	for _, reopen := range []bool{false, true} {
		t.Run(fmt.Sprintf("reopen=%t", reopen), func(t *testing.T) {
			s := newStore(t, index.Options{ChunkWorkers: 1})
			s.enqueue(index.Insert, doc("x", lines...))
			ctx, cancel := context.WithCancel(context.Background())
			s.extract.before = func(ctx context.Context, text string) error {
				if text == lines[3] {
					cancel()
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
			_, err := s.Process(ctx, index.ProcessOptions{})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
			if i := s.info("x"); i.Status != "pending" || i.Visible || i.Chunks != 0 {
				t.Fatalf("status %+v", i)
			}
			s.check()
			if reopen {
				s.reopen()
			}
			s.extract.before = nil
			calls := s.extract.calls()
			if sum := s.process(); sum.Processed != 1 {
				t.Fatalf("summary %+v", sum)
			}
			if n := s.extract.calls() - calls; n > 3 {
				t.Errorf("%d calls to resume, want at most 3", n)
			}
			if d := diff(s.dump(), want); d != "" {
				t.Errorf("differs from an undisturbed run:\n%s", d)
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
		return kv.ErrReadOnly // the disk fails: the status cannot be written any more
	}
	if _, err := s.Process(context.Background(), index.ProcessOptions{}); !errors.Is(err, kv.ErrReadOnly) || !seen {
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

func TestHC06_FailingChunk(t *testing.T) {
	s := newStore(t, index.Options{ChunkWorkers: 1})
	lines := []string{"E A|t|a.", "E B|t|b.", "E C|t|c.", "E D|t|d.", "E F|t|f."}
	s.extract.before = func(_ context.Context, text string) error {
		if text == lines[2] {
			return context.DeadlineExceeded
		}
		return nil
	}
	s.put(doc("x", lines...), doc("y", "E Y|t|y."))
	i := s.info("x")
	if i.Status != "failed" || !strings.Contains(i.Error, "chunk 3 of 5 (x-chunk-002): context deadline exceeded") {
		t.Fatalf("status %+v", i)
	}
	if s.entity("A") != nil || s.entity("Y") == nil {
		t.Error("the failed document is visible, or the other is not")
	}
	s.check()
	s.extract.before = nil
	calls := s.extract.calls()
	if sum := s.process(); sum.Processed+sum.Failed != 0 {
		t.Errorf("a failed document was tried again unasked: %+v", sum)
	}
	if ids, err := s.Retry(context.Background()); err != nil || !slices.Equal(ids, []string{"x"}) {
		t.Fatalf("retry: %v, %v", ids, err)
	}
	s.process()
	if asked := s.extract.asked[calls:]; !slices.Equal(asked, lines[2:3]) {
		t.Errorf("the second run asked for %q", asked)
	}
	if i := s.info("x"); i.Status != "processed" || i.Error != "" {
		t.Errorf("status %+v", i)
	}
	// Giving a failed document again means trying again.
	s.extract.before = func(context.Context, string) error { return errors.New("") }
	s.put(doc("z", "E Z|t|z."))
	if i := s.info("z"); !strings.Contains(i.Error, "without a message") {
		t.Errorf("an error without a message became %q", i.Error)
	}
	s.extract.before = nil
	if r := s.enqueue(index.Insert, doc("z", "E Z|t|z.")); r.Documents[0].Result != index.Enqueued {
		t.Errorf("outcome %+v", r)
	}
	s.process()
	if i := s.info("z"); i.Status != "processed" {
		t.Errorf("status %+v", i)
	}
}

func TestHC09_ReplyCutOff(t *testing.T) {
	s := newStore(t, index.Options{})
	d := doc("key", "The spare key is under the blue pot.")
	s.extract.cut[d.Text] = true
	s.put(d)
	i := s.info("key")
	if i.Status != "processed" || i.Chunks != 1 || i.Truncated != 1 || !slices.Contains(i.Warnings, "0 entities of 1 chunk, reply cut off") {
		t.Fatalf("status %+v", i)
	}
	for n, again := range []func(){
		func() { s.enqueue(index.Insert, d) },
		func() {
			if ids, err := s.Retry(context.Background(), "key"); err != nil || len(ids) != 1 {
				t.Fatalf("retry: %v, %v", ids, err)
			}
		},
	} {
		calls := s.extract.calls()
		again()
		if i := s.info("key"); !i.Visible || i.Status != "pending" {
			t.Errorf("status %+v", i)
		}
		s.process()
		if got := s.extract.calls() - calls; got != 1 {
			t.Errorf("run %d made %d calls, want 1", n, got)
		}
	}
}

func TestHC10_Names(t *testing.T) {
	s := newStore(t, index.Options{})
	spellings := []string{`"Orbit Desk"`, "Orbit  Desk", "Orbit Desk ", "“Orbit Desk”"}
	var lines []string
	for i, name := range spellings {
		lines = append(lines, fmt.Sprintf("E %s|place|Fact %d.", name, i))
	}
	s.put(doc("x", lines...))
	if i := s.info("x"); i.Entities != 1 || i.Chunks != 4 {
		t.Errorf("status %+v", i)
	}
	for _, name := range spellings {
		if e := s.entity(index.NormalizeName(name)); e == nil || e.Name != "Orbit Desk" || e.SourceCount != 4 {
			t.Errorf("%q is %+v", name, e)
		}
	}
}

func TestHC10_Edges(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("x", "R Ada Pell - Brin Low|a|They met.", "R Brin Low - Ada Pell|b|They wrote.", "R Ada Pell - Ada Pell|c|Alone."))
	r := s.relation("Brin Low", "Ada Pell")
	if r == nil || r.Weight != 2 || r.Description != "They met.<SEP>They wrote." || !slices.Equal(r.Keywords, []string{"a", "b"}) {
		t.Errorf("relation %+v", r)
	}
	if i := s.info("x"); i.Dropped["self_loop"] != 1 || i.Relations != 1 || i.Entities != 2 {
		t.Errorf("status %+v", i)
	}
}

func TestHC12_Identity(t *testing.T) {
	s := newStore(t, index.Options{})
	north := index.Document{ID: "north/readme", Path: "north/readme", Text: "alpha note"}
	south := index.Document{ID: "south/readme", Path: "south/readme", Text: "beta note"}
	s.put(north, south)
	if s.info("north/readme").Path != "north/readme" || s.info("south/readme").Path != "south/readme" {
		t.Error("paths are not kept whole")
	}
	calls, texts := s.extract.calls(), s.embed.calls()
	for _, policy := range []index.Policy{index.Insert, index.Put} {
		if r := s.enqueue(policy, north); r.Documents[0].Result != index.Unchanged || len(r.IDs()) != 0 || r.Track == "" {
			t.Errorf("the same again: %+v", r)
		}
	}
	copied := north
	copied.ID = "copy"
	s.put(copied)
	if s.extract.calls() != calls || s.embed.calls() != texts {
		t.Error("equal text cost a call")
	}
	s.delete("north/readme")
	if i := s.info("copy"); !i.Visible || i.Chunks != 1 {
		t.Errorf("the copy is %+v", i)
	}
	_, err := s.Enqueue(context.Background(), []index.Document{{ID: "new", Text: "x"}, {ID: "copy", Text: "other"}}, index.Insert)
	var dup *index.DuplicateError
	if !errors.Is(err, index.ErrDuplicate) || !errors.As(err, &dup) || dup.ID != "copy" || dup.Status != "processed" {
		t.Errorf("insert over another text: %v", err)
	}
	v := s.view()
	defer v.Close()
	if _, err := index.GetInfo(v, "", "new"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a refused call left a document: %v", err)
	}
}

func TestHC16_BadVectors(t *testing.T) {
	for name, spoil := range map[string]func([][]float32) [][]float32{
		"a": func(v [][]float32) [][]float32 { return v[:len(v)-1] },
		"b": func(v [][]float32) [][]float32 { v[1][3] = float32(nan()); return v },
		"c": func(v [][]float32) [][]float32 { clear(v[2]); return v },
		"d": func(v [][]float32) [][]float32 { v[0] = v[0][:5]; return v },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.embed.answer = func(_ []string, v [][]float32) [][]float32 { return spoil(v) }
			var failed error
			s.enqueue(index.Insert, doc("x", "E A|t|a.", "E B|t|b.", "E C|t|c."))
			if _, err := s.Process(context.Background(), index.ProcessOptions{Progress: func(p index.Progress) {
				if p.Err != nil {
					failed = p.Err
				}
			}}); err != nil {
				t.Fatal(err)
			}
			var bad *index.EmbeddingError
			if !errors.Is(failed, index.ErrEmbedding) || !errors.As(failed, &bad) {
				t.Errorf("error %v", failed)
			}
			i := s.info("x")
			if i.Status != "failed" || i.Error == "" || i.Visible || i.Chunks != 0 {
				t.Errorf("status %+v", i)
			}
			s.embed.answer = nil
			if _, err := s.Retry(context.Background(), "x"); err != nil {
				t.Fatal(err)
			}
			if sum := s.process(); sum.Processed != 1 {
				t.Errorf("%+v", sum)
			}
		})
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestHC23_Parallel(t *testing.T) {
	docs := make([]index.Document, 32)
	for i := range docs {
		docs[i] = doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("E Harbor Office|place|Fact %d.", i%5), fmt.Sprintf("R Harbor Office - Pier %d|k%d|Link %d.", i%3, i, i))
	}
	one := newStore(t, index.Options{Workers: 1, ChunkWorkers: 1})
	for _, d := range docs {
		one.put(d)
	}
	want := one.dump()

	many := newStore(t, index.Options{Workers: 16})
	many.enqueue(index.Insert, docs...)
	many.process()
	if d := diff(many.dump(), want); d != "" {
		t.Errorf("16 workers differ from one by one:\n%s", d)
	}

	calls := newStore(t, index.Options{Workers: 4})
	many2 := calls
	var wg sync.WaitGroup
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(docs))
	for _, i := range order {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r, err := many2.Enqueue(context.Background(), []index.Document{docs[i]}, index.Insert)
			if err == nil {
				_, err = many2.Process(context.Background(), index.ProcessOptions{IDs: r.IDs()})
			}
			if err != nil {
				t.Error(err)
			}
			if i := many2.info(docs[i].ID); i.Status != "processed" {
				t.Errorf("%s is %s after its call", i.ID, i.Status)
			}
		}()
	}
	wg.Wait()
	if e := many2.entity("Harbor Office"); e.SourceCount != 64 {
		t.Errorf("Harbor Office has %d sources, want 64", e.SourceCount)
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
	}, index.Put)
	if !errors.Is(err, index.ErrEmptyDocument) || !errors.Is(err, index.ErrDuplicate) || !errors.Is(err, index.ErrDocument) || !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
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
	r := s.enqueue(index.Insert, index.Document{ID: "b", Text: "b", Path: "n/b", Metadata: map[string]string{"k": "v"}}, index.Document{ID: "a", Text: "a", Path: "m/a"},
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
		{index.Filter{Metadata: map[string]string{"k": "v"}}, []string{"b"}},
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

// TestEmbedLimit: chunks are cut and texts of objects shortened to what the embedding model takes.
func TestEmbedLimit(t *testing.T) {
	s := newStore(t, index.Options{EmbedTokens: 20})
	s.put(doc("x", "E A|t|"+strings.Repeat("long ", 3), strings.Repeat("word ", 30)))
	for _, text := range s.embed.sent {
		if n := len([]rune(text)); n > 20 {
			t.Errorf("%d tokens sent: %q", n, text)
		}
	}
	if i := s.info("x"); i.Chunks < 8 {
		t.Errorf("status %+v", i)
	}
	if _, err := index.New(index.Config{}); !errors.Is(err, index.ErrConfig) {
		t.Errorf("empty configuration: %v", err)
	}
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
