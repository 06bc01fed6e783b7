package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

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

		"none":       func([][]float32) [][]float32 { return nil },
		"one more":   func(v [][]float32) [][]float32 { return append(v, v[0]) },
		"Inf":        func(v [][]float32) [][]float32 { v[1][0] = float32(math.Inf(-1)); return v },
		"longer":     func(v [][]float32) [][]float32 { v[2] = append(v[2], 1); return v },
		"nil vector": func(v [][]float32) [][]float32 { v[len(v)-1] = nil; return v },
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

func TestHC14_OddText(t *testing.T) {
	s := newStore(t, index.Options{})
	before := s.dump()
	pump := index.Document{ID: "1", Text: "Pump\x00 A\x01 \xff\xfe end"}
	names := index.Document{ID: "odd", Text: strings.Join([]string{
		"E \x1b[31mRed\x1b[0m|t|coloured", "E a\x00\x01b|t|separator of keys", "E " + strings.Repeat("x", 70_000) + "|t|long",
		"R a - b<SEP>c|k|joined", "E ab|t|plain"}, "\n")}
	s.put(pump, names, doc("2", "E Clean|t|clean."))
	v := s.view()
	text, err := index.Text(v, "", "1")
	v.Close()
	if err != nil || text != "Pump A  end" {
		t.Errorf("stored %q, %v", text, err)
	}
	if i := s.info("1"); i.Status != "processed" || i.Removed != 4 || len(i.Warnings) == 0 {
		t.Errorf("status %+v", i)
	}
	if s.entity("Red") == nil || s.entity("ab") == nil || s.entity("b<SEP>c") == nil || s.entity("Clean") == nil {
		t.Error("an entity is missing")
	}
	s.check()
	s.delete("1", "odd", "2")
	if d := diff(s.dump(), before); d != "" {
		t.Errorf("left over:\n%s", d)
	}
}
