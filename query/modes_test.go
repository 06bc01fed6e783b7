package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// Axes of the vectors of the small graph below.
const (
	axisLow, axisHigh, axisQuestion, axisNone = 0, 1, 2, 7
)

const question = "who mends the lamps of the harbour?"

var given = Options{LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}, Want: WantContext}

// small is five entities in a line with a chord, eight chunks, and vectors that put them in known orders:
//
//	A-B 1, A-C 2, B-D 5, C-D 1, D-E 1; degrees A 2, B 2, C 2, D 3, E 1
//	low keywords:  A .9, B .8, C .7            high keywords: D-E .9, A-B .8
//	question:      chunks 6 .9, 1 .8, 4 .7, 0 .6, then 2, 3, 5, 7 below the threshold
func small(t testing.TB) *testStore {
	s := newStore(t, testDim)
	for axis, text := range []string{"ll", "hl", question} {
		s.emb.Set(text, at(axis, 1, axisNone)...)
	}
	s.commit(func(w *writer) {
		c := make([]string, 8)
		for i, cos := range []float64{.6, .8, .19, .18, .7, .17, .9, .16} {
			c[i] = w.chunk("d", i, "d.txt", "chunk number "+strconv.Itoa(i), at(axisQuestion, cos, axisNone))
		}
		none := func() []float32 { return at(axisNone, 1, axisNone-1) }
		w.entity("A", "person", "a is here", at(axisLow, .9, axisNone), c[0], c[1])
		w.entity("B", "person", "b is here", at(axisLow, .8, axisNone), c[1], c[2])
		w.entity("C", "place", "c is here", at(axisLow, .7, axisNone), c[3])
		w.entity("D", "place", "d is here", none(), c[4])
		w.entity("E", "place", "e is here", none(), c[5])
		w.relation("B", "A", 1, "a knows b", at(axisHigh, .8, axisNone), c[1], c[6])
		w.relation("A", "C", 2, "a lives in c", none(), c[0])
		w.relation("B", "D", 5, "b lives in d", none(), c[2], c[4])
		w.relation("C", "D", 1, "c is near d", none(), c[7])
		w.relation("D", "E", 1, "d is near e", at(axisHigh, .9, axisNone), c[5])
	})
	return s
}

func with(o Options, edit func(*Options)) Options {
	edit(&o)
	return o
}

func TestModes(t *testing.T) {
	e := small(t).engine()
	for _, c := range []struct {
		mode                        Mode
		entities, relations, chunks string
	}{
		// relations of A, B, C by degree sum, then weight: B-D 5/5, C-D 5/1, A-C 4/2, A-B 4/1
		{Local, "A B C", "B-D C-D A-C A-B", ""},
		{Global, "D E A B", "D-E A-B", ""},
		{Hybrid, "A D B E C", "B-D D-E C-D A-B A-C", ""},
		{Mix, "A D B E C", "B-D D-E C-D A-B A-C", ""},
		{Naive, "", "", "006 001 004 000"},
	} {
		r := ask(t, e, question, with(given, func(o *Options) { o.Mode = c.mode }))
		if names(r.Data.Entities) != c.entities || pairs(r.Data.Relations) != c.relations {
			t.Errorf("%s: entities %q relations %q, want %q and %q", c.mode, names(r.Data.Entities), pairs(r.Data.Relations), c.entities, c.relations)
		}
		if c.chunks != "" && chunkIDs(r.Data.Chunks) != c.chunks {
			t.Errorf("%s: chunks %q, want %q", c.mode, chunkIDs(r.Data.Chunks), c.chunks)
		}
		if r.Outcome != OutcomeOK || r.Ran != c.mode || r.LSN != 1 {
			t.Errorf("%s: outcome %q, ran %q, LSN %d", c.mode, r.Outcome, r.Ran, r.LSN)
		}
		if len(r.Fallbacks) > 0 {
			t.Errorf("%s: unexpected fallbacks %v", c.mode, r.Fallbacks)
		}
	}
}

func TestChunksOfGraph(t *testing.T) {
	e := small(t).engine()
	for _, c := range []struct {
		name string
		edit func(*Options)
		want string
	}{
		// Local, vector: entities A(0,1) B(2 after losing 1) C(3): N = 5*3/2 = 7, all four by cosine 1 0 2 3;
		// relations B-D(2,4) C-D(7) A-C(0) A-B(1,6), less those of the entity step: B-D(4) C-D(7) A-B(6):
		// N = 7, by cosine 6 4 7; interleaved.
		{"vector", func(o *Options) { o.Mode, o.Picker = Local, PickVector }, "001 006 000 004 002 007 003"},
		// Local, weight: quotas 5 3 1 give A(1 0: 1 occurs twice) B(2) C(3); relations 5 3 1: 4, 7, 6.
		{"weight", func(o *Options) { o.Mode, o.Picker = Local, PickWeight }, "001 004 000 007 002 006 003"},
		{"auto without a reranker is weight", func(o *Options) { o.Mode, o.Picker = Local, PickAuto }, "001 004 000 007 002 006 003"},
		{"one related chunk, weight", func(o *Options) {
			o.Mode, o.Picker, o.RelatedChunks = Local, PickWeight, Some(1)
		}, "001 004 002 007 003 000 006"}, // relations that keep a chunk: B-D(4) C-D(7) A-C(0) A-B(6)
		{"no related chunks", func(o *Options) { o.Mode, o.RelatedChunks = Local, Some(0) }, ""},
		{"two chunks", func(o *Options) { o.Mode, o.ChunkTopK = Local, 2 }, "001 006"},
		{"cap of one", func(o *Options) { o.Mode, o.Picker, o.RelatedChunkCap = Local, PickWeight, 1 }, "001 004 002 007 003 000 006"},
	} {
		r := ask(t, e, question, with(given, c.edit))
		if got := chunkIDs(r.Data.Chunks); got != c.want {
			t.Errorf("%s: chunks %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMixInterleavesVectorFirst(t *testing.T) {
	r := ask(t, small(t).engine(), question, given)
	// vector 6 1 4 0; entities A D B E C: N = 12: all of 0 1 4 2 5 3 by cosine: 1 4 0 2 3 5;
	// relations B-D D-E C-D A-B A-C less those: C-D(7) A-B(6): N = 5: 6 7
	if got, want := chunkIDs(r.Data.Chunks), "006 001 004 007 000 002 003 005"; got != want {
		t.Errorf("chunks %q, want %q", got, want)
	}
	first := r.Data.Chunks[0]
	if len(first.Found) != 2 || first.Found[0].Via != ViaVector || first.Found[1].Via != ViaRelation || first.Found[1].Owner != "A - B" {
		t.Errorf("chunk 6 was found by %+v, want vector, then relation A - B", first.Found)
	}
	if got := first.Found[0].Score.Or(0); got < .899 || got > .901 {
		t.Errorf("score %v, want 0.9", got)
	}
	if first.Document != "d" || first.Path != "d.txt" || first.Start != 600 || first.End != 614 || first.Reference != "1" {
		t.Errorf("chunk 6 is %+v", first)
	}
	want := ChunkCounts{Vector: 4, Entities: 6, Relations: 2, Merged: 8, Reranked: 8, AboveScore: 8, WithinTopK: 8, Kept: 8}
	if r.Counts.Chunks != want {
		t.Errorf("counts %+v, want %+v", r.Counts.Chunks, want)
	}
	if ref := r.Data.References; len(ref) != 1 || ref[0].Path != "d.txt" || ref[0].Chunks != 8 || !slices.Equal(ref[0].Documents, []string{"d"}) {
		t.Errorf("references %+v", ref)
	}
	if !slices.Equal(r.Data.Entities[0].References, []string{"1"}) {
		t.Errorf("entity A refers to %v, want reference 1", r.Data.Entities[0].References)
	}
	if r.Data.Entities[0].Via != ViaBoth || r.Data.Entities[4].Via != ViaLow || r.Data.Entities[1].Via != ViaHigh {
		t.Errorf("paths of entities are wrong: %+v", r.Data.Entities)
	}
}

func TestEmbeddingBatch(t *testing.T) {
	// Appendix C: embedding batch. Ours: a text whose own index is crossed over to is in the batch too, the
	// question only where something needs its vector, and naive uses the same call.
	for _, c := range []struct {
		name string
		o    Options
		want []string
	}{
		{"local", Options{Mode: Local, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}}, []string{question, "ll"}},
		{"global", Options{Mode: Global, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}}, []string{question, "hl"}},
		{"hybrid", Options{Mode: Hybrid, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}}, []string{question, "ll", "hl"}},
		{"mix", Options{Mode: Mix, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}}, []string{question, "ll", "hl"}},
		{"several keywords are one text", Options{Mode: Mix, LowKeywords: []string{"a", "b, c"}, HighKeywords: []string{"d"}}, []string{question, "a, b, c", "d"}},
		{"naive", Options{Mode: Naive}, []string{question}},
		{"local by weight", Options{Mode: Local, Picker: PickWeight, LowKeywords: []string{"ll"}}, []string{"ll"}},
		{"local without low", Options{Mode: Local, HighKeywords: []string{"hl"}}, []string{question, "hl"}},
		{"global without high", Options{Mode: Global, LowKeywords: []string{"ll"}}, []string{question, "ll"}},
		{"mix without high", Options{Mode: Mix, LowKeywords: []string{"ll"}}, []string{question, "ll"}},
	} {
		s := small(t)
		ask(t, s.engine(), question, with(c.o, func(o *Options) { o.Want = WantData }))
		calls := s.emb.Calls()
		n := len(calls)
		if n == 0 || !slices.Equal(calls[n-1].Texts, c.want) || calls[n-1].Kind != llm.ForQuery {
			t.Errorf("%s: embedded %+v, want one call for a query: %q", c.name, calls, c.want)
		}
		for _, call := range calls[:max(n-1, 0)] {
			if call.Kind == llm.ForQuery {
				t.Errorf("%s: a second embedding call: %q", c.name, call.Texts)
			}
		}
	}
}

func TestKeywordFallback(t *testing.T) {
	s := small(t)
	none := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords": [], "low_level_keywords": []}`})
	e := s.engine(func(c *Config) { c.Keyword = none })
	// Appendix C: both lists empty. 49 characters: the question is a low keyword. 50: ours degrades to naive.
	short, long := strings.Repeat("é", 49), strings.Repeat("é", 50)
	s.emb.Set(short, at(axisLow, .9, axisQuestion)...)
	s.emb.Set(long, at(axisLow, .9, axisQuestion)...)

	r := ask(t, e, short, Options{Mode: Hybrid, Want: WantContext})
	if r.Keywords.Origin != OriginQueryText || !slices.Equal(r.Keywords.Low, []string{short}) || names(r.Data.Entities) == "" {
		t.Errorf("short question: keywords %+v, entities %q", r.Keywords, names(r.Data.Entities))
	}
	if !fellBack(r, StepKeywords, string(OriginQueryText)) {
		t.Errorf("short question: fallbacks %v do not say so", r.Fallbacks)
	}
	r = ask(t, e, long, Options{Mode: Hybrid, Want: WantContext})
	if r.Mode != Hybrid || r.Ran != Naive || !fellBack(r, StepKeywords, string(Naive)) || len(r.Data.Chunks) == 0 || len(r.Data.Entities) > 0 {
		t.Errorf("long question: mode %q ran %q, fallbacks %v, %d chunks", r.Mode, r.Ran, r.Fallbacks, len(r.Data.Chunks))
	}
	r = ask(t, e, short, Options{Mode: Global, Want: WantContext})
	if r.Ran != Local || !fellBack(r, StepKeywords, string(Local)) || names(r.Data.Entities) == "" {
		t.Errorf("short question in global: ran %q, fallbacks %v", r.Ran, r.Fallbacks)
	}
	r = ask(t, e, question, Options{Mode: Mix, HighKeywords: []string{"hl"}, Want: WantContext})
	if r.Ran != Mix || !hasReason(r, ReasonNoLowKeywords) || names(r.Data.Entities) != "D E A B" {
		t.Errorf("mix with high keywords only: ran %q, reasons %v, entities %q", r.Ran, r.Reasons, names(r.Data.Entities))
	}
	r = ask(t, e, question, Options{Mode: Local, HighKeywords: []string{"hl"}, Want: WantContext})
	if r.Ran != Global || pairs(r.Data.Relations) != "D-E A-B" || !fellBack(r, StepKeywords, string(Global)) {
		t.Errorf("local with high keywords only: ran %q, relations %q", r.Ran, pairs(r.Data.Relations))
	}
}

func TestThreshold(t *testing.T) {
	e := small(t).engine()
	for _, c := range []struct {
		cosine Optional[float64]
		want   string
	}{
		{Optional[float64]{}, "006 001 004 000"},
		{Some(0.0), "006 001 004 000 002 003 005 007"},
		{Some(0.75), "006 001"},
		{Some(0.95), ""},
	} {
		r := ask(t, e, question, Options{Mode: Naive, CosineThreshold: c.cosine, Want: WantData})
		if got := chunkIDs(r.Data.Chunks); got != c.want {
			t.Errorf("threshold %v: chunks %q, want %q", c.cosine.Or(-9), got, c.want)
		}
	}
	r := ask(t, e, question, Options{Mode: Naive, CosineThreshold: Some(0.95), Want: WantContext})
	if r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNoChunkHits) || r.Context != "" {
		t.Errorf("nothing above the threshold: outcome %q, reasons %v, context %q", r.Outcome, r.Reasons, r.Context)
	}
}

func TestEmptyStore(t *testing.T) {
	s := newStore(t, testDim)
	for _, mode := range Modes() {
		r := ask(t, s.engine(), question, Options{Mode: mode})
		if mode == Bypass {
			continue
		}
		if r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNothingIndexed) {
			t.Errorf("%s: outcome %q, reasons %v", mode, r.Outcome, r.Reasons)
		}
		b, err := json.Marshal(r)
		check(t, err)
		if strings.Contains(string(b), "null") {
			t.Errorf("%s: lists must be [] in JSON: %s", mode, b)
		}
	}
}

func TestOneView(t *testing.T) {
	// Q1: chunks committed after the embedding call, and by a writer during the search, are not seen in part.
	s := small(t)
	e := s.engine()
	before := ask(t, e, question, given)
	s.commit(func(w *writer) {
		w.chunk("d", 8, "d.txt", "new chunk", at(axisQuestion, 1, axisNone))
		w.entity("F", "person", "f", at(axisLow, 1, axisNone), "d-chunk-008")
	})
	after := ask(t, e, question, given)
	if before.LSN != 1 || after.LSN != 2 {
		t.Errorf("LSNs %d and %d, want 1 and 2", before.LSN, after.LSN)
	}
	if after.Data.Entities[0].Name != "F" || chunkIDs(after.Data.Chunks)[:3] != "008" {
		t.Errorf("the second query does not see the second commit: %q, %q", names(after.Data.Entities), chunkIDs(after.Data.Chunks))
	}
}

func TestDangling(t *testing.T) {
	s := small(t)
	s.commit(func(w *writer) {
		check(t, w.entities.Put(w.b, "ghost", at(axisLow, .95, axisNone)))
		check(t, w.relations.Put(w.b, record.PairID("A", "ghost"), at(axisHigh, .95, axisNone)))
		check(t, w.relations.Put(w.b, "no pair", at(axisHigh, .94, axisNone)))
		check(t, w.b.Delete(record.ChunkKey("", "d", 6)))
		check(t, w.chunks.Put(w.b, "no chunk id", at(axisQuestion, .99, axisNone)))
	})
	r := ask(t, s.engine(), question, given)
	if names(r.Data.Entities) != "A D B E C" || r.Data.Chunks[0].ID != "d-chunk-001" {
		t.Errorf("entities %q, chunks %q", names(r.Data.Entities), chunkIDs(r.Data.Chunks))
	}
	for code, n := range map[ReasonCode]int{ReasonDanglingEntities: 1, ReasonDanglingRelations: 2, ReasonDanglingChunks: 2} {
		if !slices.ContainsFunc(r.Reasons, func(x Reason) bool { return x.Code == code && x.Count == n }) {
			t.Errorf("no reason %s with count %d in %v", code, n, r.Reasons)
		}
	}
}

func TestVectorPickerFallsBack(t *testing.T) {
	s := small(t)
	s.commit(func(w *writer) {
		check(t, w.chunks.Delete(w.b, "d-chunk-003"))
	})
	o := with(given, func(o *Options) { o.Mode = Local })
	r := ask(t, s.engine(), question, o)
	// entity candidates 0 1 2 3: a quarter is missing, more than a fifth
	if !fellBack(r, StepPick, string(PickWeight)) || !hasReason(r, ReasonVectorsMissing) {
		t.Errorf("fallbacks %v, reasons %v", r.Fallbacks, r.Reasons)
	}
	if got, want := chunkIDs(r.Data.Chunks), "001 006 000 004 002 007 003"; got != want {
		t.Errorf("chunks %q, want %q: entities by weight, relations by vector", got, want)
	}
	r = ask(t, s.engine(), question, with(o, func(o *Options) { o.TopK, o.RelatedChunks = 1, Some(1) }))
	if !fellBack(r, StepPick, string(PickWeight)) || chunkIDs(r.Data.Chunks) != "000 001" {
		t.Errorf("quota below one chunk: fallbacks %v, chunks %q", r.Fallbacks, chunkIDs(r.Data.Chunks))
	}
}

func TestEmbedderFailures(t *testing.T) {
	down := errors.New("down")
	s := small(t)
	s.emb.Break(1, llmtest.Fail(down))
	r := ask(t, s.engine(), question, given)
	if !fellBack(r, StepEmbed, "one call a text") || r.Outcome != OutcomeOK {
		t.Errorf("one failed batch: fallbacks %v, outcome %q", r.Fallbacks, r.Outcome)
	}
	for name, f := range map[string]llmtest.Fault{"error": llmtest.Fail(down), "one vector less": llmtest.Drop, "NaN": llmtest.NaN, "another length": llmtest.Short} {
		s := small(t)
		e := s.engine()
		s.emb.Break(-1, f)
		r, err := e.Query(context.Background(), question, given)
		var up *UpstreamError
		if r != nil || !errors.As(err, &up) || up.Step != StepEmbed || up.Model != s.emb.ID() {
			t.Errorf("%s: result %v, error %v, want an UpstreamError of the embedder", name, r, err)
		}
		if name == "error" && !errors.Is(err, down) {
			t.Errorf("%v does not wrap its cause", err)
		}
		if name != "error" && !errors.Is(err, llm.ErrVectors) {
			t.Errorf("%s: %v is not llm.ErrVectors", name, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := small(t).engine().Query(ctx, question, given); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want the context's error", r, err)
	}
}

func TestDeterministic(t *testing.T) {
	s := small(t)
	e := s.engine()
	first := ask(t, e, question, given)
	first.Trace = Trace{}
	want, err := json.Marshal(first)
	check(t, err)
	for range 20 {
		r := ask(t, e, question, given)
		r.Trace = Trace{}
		got, err := json.Marshal(r)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("two runs differ:\n%s\n%s", got, want)
		}
	}
}
