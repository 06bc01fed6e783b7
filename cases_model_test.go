package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// fiveChunks is a document of five chunks.
func fiveChunks(id string) index.Document {
	var parts []string
	for i := 1; i <= 5; i++ {
		parts = append(parts, fmt.Sprintf("E Step %d (of five)\nR Step %d - Ladder (leads up)", i, i))
	}
	return doc(id, strings.Join(parts, "\n\n"))
}

// A chunk that the provider refuses twice is asked again, the others once.
func TestHC06_ChunkRefusedTwice(t *testing.T) {
	for name, refusal := range map[string]error{
		"rate limited": &llm.Error{Provider: "fake", Op: "chat", Status: 429, RetryAfter: time.Millisecond},
		"overloaded":   &llm.Error{Provider: "fake", Op: "chat", Status: 503, RetryAfter: time.Millisecond},
		"dropped":      &llm.Error{Provider: "fake", Op: "chat", RetryAfter: time.Millisecond, Err: llm.ErrConnection},
	} {
		t.Run(name, func(t *testing.T) {
			chat := extracting(llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "Step 3", Times: 2, Err: refusal})
			d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
			insert(t, d, fiveChunks("ladder"))
			times := make(map[string]int)
			for _, p := range asked(chat) {
				times[p[:len("E Step 1")]]++
			}
			for i := 1; i <= 5; i++ {
				want := 1
				if i == 3 {
					want = 3
				}
				if n := times[fmt.Sprint("E Step ", i)]; n != want {
					t.Errorf("chunk %d was asked %d times, want %d", i, n, want)
				}
			}
			equalDumps(t, logical(t, d), onlyWith(t, stubbed(), fiveChunks("ladder")))
		})
	}
}

// A chunk that always fails fails its document, by name and with its cause, and no other; what the other
// chunks cost is kept.
func TestHC06_ChunkAlwaysFails(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		rule llmtest.Rule
		is   error
	}{
		{"times out", llmtest.Rule{Gate: make(chan struct{})}, llm.ErrTimeout},
		{"refused", llmtest.Rule{Err: &llm.Error{Provider: "fake", Op: "chat", Status: 401, Message: "no such key", Err: broken}}, broken},
		{"no message", llmtest.Rule{Err: errors.New("")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Purpose, c.rule.Contains = llm.PurposeExtract, "Step 3"
			chat := extracting()
			chat.First(c.rule)
			o := modelled(chat, llmtest.NewEmbedder(8))
			o.ModelRetries, o.ModelTimeout = -1, 30*time.Millisecond
			d := openTest(t, o)
			insert(t, d, doc("other", "E Ladder (leans)"))
			before := logical(t, d)
			_, err := d.Insert(ctx, fiveChunks("ladder"), doc("fine", "E Rung (wooden)"))
			var failed *db.ProcessError
			var chunk *index.ChunkError
			if !errors.As(err, &failed) || !errors.As(err, &chunk) || chunk.Number != 3 || chunk.Of != 5 || (c.is != nil && !errors.Is(err, c.is)) {
				t.Fatalf("got %v, want chunk 3 of 5 with its cause", err)
			}
			info := get(t, d, "ladder")
			if info.Status != "failed" || info.Visible || !strings.Contains(info.Error, "chunk 3 of 5 (ladder-chunk-002): ") || strings.HasSuffix(info.Error, ": ") {
				t.Errorf("status %+v", info)
			}
			if get(t, d, "fine").Status != "processed" || entity(t, d, "Step 1") != nil || relation(t, d, "Step 1", "Ladder") != nil {
				t.Error("the other document is not done, or the failed one shows")
			}
			if _, err := d.Delete(ctx, "fine"); err != nil {
				t.Fatal(err)
			}
			chat2 := extracting() // the fault is lifted
			d2 := reopenWith(t, d, o, chat2)
			if ids, err := d2.Retry(ctx); err != nil || !slices.Equal(ids, []string{"ladder"}) {
				t.Fatalf("retry: %v, %v", ids, err)
			}
			if s, err := d2.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 || s.Failed != 0 {
				t.Fatalf("second run: %+v, %v", s, err)
			}
			if got := asked(chat2); len(got) != 1 || !strings.Contains(got[0], "Step 3") {
				t.Errorf("the second run asked for %q", got)
			}
			equalDumps(t, logical(t, d2), onlyWith(t, stubbed(), doc("other", "E Ladder (leans)"), fiveChunks("ladder")))
			if _, err := d2.Delete(ctx, "ladder"); err != nil {
				t.Fatal(err)
			}
			equalDumps(t, logical(t, d2), before)
		})
	}
}

// reopenWith closes d and opens what it left with another model.
func reopenWith(t *testing.T, d *db.DB, o db.Options, chat llm.Chat) *db.DB {
	t.Helper()
	closeChecked(t, d)
	o.Models.Chat = chat
	return openTest(t, o)
}

// A reply without records is no silent success: the status says so, the chunk is found all the same, and a
// further run asks again.
func TestHC09_NoEntities(t *testing.T) {
	text := "The spare key is under the blue pot."
	chat := extracting()
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Finish: llm.FinishLength})
	d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	insert(t, d, doc("key", text))
	info := get(t, d, "key")
	if info.Status != "processed" || info.Truncated != 1 || info.Entities != 0 || !slices.Contains(info.Warnings, "0 entities of 1 chunk, reply cut off") {
		t.Fatalf("status %+v", info)
	}
	for _, mode := range []query.Mode{query.Mix, query.Naive} {
		res, err := d.Query(ctx, "where is the spare key", query.Options{Mode: mode, Want: query.WantContext})
		if err != nil || res.Outcome != query.OutcomeOK || len(res.Data.Chunks) != 1 || !strings.Contains(res.Context, "under the blue pot") {
			t.Errorf("%s: %+v, %v", mode, res, err)
		}
	}
	for _, mode := range []query.Mode{query.Local, query.Global, query.Hybrid} {
		res, err := d.Query(ctx, "where is the spare key", query.Options{Mode: mode, Want: query.WantContext})
		if err != nil || res.Outcome != query.OutcomeNoResult || len(res.Reasons) == 0 {
			t.Errorf("%s: %+v, %v, want no result with a reason", mode, res, err)
		}
	}
	for name, again := range map[string]func() error{
		"insert": func() error { _, err := d.Insert(ctx, doc("key", text)); return err },
		"put":    func() error { _, err := d.Put(ctx, doc("key", text)); return err },
		"retry": func() error {
			if _, err := d.Retry(ctx, "key"); err != nil {
				return err
			}
			_, err := d.Process(ctx, index.ProcessOptions{})
			return err
		},
	} {
		chat.Reset()
		if err := again(); err != nil || chat.Count(llm.PurposeExtract) != 1 {
			t.Errorf("%s: %d extraction calls, %v", name, chat.Count(llm.PurposeExtract), err)
		}
	}
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Text: reply("E Blue Pot (hides the key)")})
	if _, err := d.Insert(ctx, doc("key", text)); err != nil {
		t.Fatal(err)
	}
	if info := get(t, d, "key"); info.Truncated != 0 || info.Entities != 1 || entity(t, d, "Blue Pot") == nil {
		t.Errorf("after a whole reply: %+v", info)
	}
}

// Vectors that cannot be used fail their document with a typed error, wherever in a batch they are, and
// leave nothing of it.
func TestHC16_BadEmbeddings(t *testing.T) {
	five := fiveChunks("five")
	for name, fault := range map[string]llmtest.Fault{
		"too few":   llmtest.Drop,
		"NaN":       llmtest.NaN,
		"zero":      llmtest.Zero,
		"short":     llmtest.Short,
		"none":      func(llmtest.EmbedCall, [][]float32) ([][]float32, error) { return nil, nil },
		"too many":  func(_ llmtest.EmbedCall, v [][]float32) ([][]float32, error) { return append(v, v[0]), nil },
		"long":      func(_ llmtest.EmbedCall, v [][]float32) ([][]float32, error) { v[0] = append(v[0], 1); return v, nil },
		"empty row": func(_ llmtest.EmbedCall, v [][]float32) ([][]float32, error) { v[0] = nil; return v, nil },
	} {
		for _, batch := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(name, " ", batch), func(t *testing.T) {
				emb := llmtest.NewEmbedder(8)
				o := modelled(extracting(), emb)
				o.EmbedBatch, o.ModelRetries = batch, -1
				d := openTest(t, o)
				insert(t, d, doc("before", "E Ladder (leans)"))
				before := logical(t, d)
				emb.Break(0, fault)
				_, err := d.Insert(ctx, five)
				var bad *llm.VectorError
				if !errors.Is(err, db.ErrEmbedding) || !errors.As(err, &bad) {
					t.Fatalf("insert: %v, want ErrEmbedding", err)
				}
				if info := get(t, d, "five"); info.Status != "failed" || info.Error == "" || info.Visible || info.Chunks != 0 {
					t.Errorf("status %+v", info)
				}
				checkDB(t, d)
				res, err := d.Query(ctx, "a question", query.Options{Mode: query.Naive, Want: query.WantData})
				switch nothing := err == nil && res.Outcome == query.OutcomeNoResult; {
				case name == "zero" && !nothing: // a question without direction is near to nothing
					t.Errorf("query: %+v, %v, want no result", res, err)
				case name != "zero" && !errors.Is(err, db.ErrEmbedding):
					t.Errorf("query: %v, want ErrEmbedding", err)
				}
				emb.Heal()
				if _, err := d.Delete(ctx, "five"); err != nil {
					t.Fatal(err)
				}
				equalDumps(t, logical(t, d), before)
				insert(t, d, five)
				equalDumps(t, logical(t, d), onlyWith(t, stubbed(), doc("before", "E Ladder (leans)"), five))
			})
		}
	}
}

// Small and odd searches are no errors: fewer vectors than asked for, none at all, a query without
// direction; equal scores are in order of id.
func TestHC16_SmallSearches(t *testing.T) {
	d := openTest(t, testOptions(nil))
	for _, metric := range []vector.Metric{vector.Cosine, vector.Dot, vector.L2} {
		update(t, d, func(tx *db.Tx) error {
			v, err := tx.CreateVectors(metric.String(), vector.Config{Metric: metric, Dim: 2})
			if err != nil {
				return err
			}
			search := func(q []float32, want ...string) {
				t.Helper()
				hits, err := v.Search(q, vector.SearchOptions{K: 10})
				var ids []string
				for _, h := range hits {
					ids = append(ids, h.ID)
				}
				if err != nil || !slices.Equal(ids, want) {
					t.Errorf("%v: %q, %v; want %q", metric, ids, err, want)
				}
			}
			search([]float32{1, 0})
			for _, id := range []string{"c", "a", "b"} {
				if err := v.Put(id, []float32{0, 1}); err != nil {
					return err
				}
			}
			search([]float32{1, 0}, "a", "b", "c")
			if metric == vector.Cosine {
				search([]float32{0, 0}) // no direction, no neighbours
			} else {
				search([]float32{0, 0}, "a", "b", "c")
			}
			for name, q := range map[string][]float32{"short": {1}, "long": {1, 2, 3}, "empty": nil} {
				if _, err := v.Search(q, vector.SearchOptions{K: 1}); !errors.Is(err, db.ErrDimension) {
					t.Errorf("%s query: %v, want ErrDimension", name, err)
				}
			}
			return nil
		})
	}
	for _, mode := range retrieving {
		res, err := d.Query(ctx, "is anybody there", query.Options{Mode: mode, TopK: 10, Want: query.WantContext})
		if err != nil || res.Outcome != query.OutcomeNoResult || len(res.Reasons) == 0 {
			t.Errorf("%s of an empty database: %+v, %v", mode, res, err)
		}
	}
}

// zeroEmbedder answers queries with a vector that has no direction.
type zeroEmbedder struct{ *llmtest.Embedder }

func (e zeroEmbedder) Embed(ctx context.Context, texts []string, kind llm.Kind) ([][]float32, error) {
	v, err := e.Embedder.Embed(ctx, texts, kind)
	if kind == llm.ForQuery {
		for i := range v {
			clear(v[i])
		}
	}
	return v, err
}

// A question whose vector has no direction is near to nothing: every mode says that it found nothing and why, and
// a name that stands in the question is found all the same.
func TestHC16_ZeroQueryVector(t *testing.T) {
	o := modelled(extracting(), nil)
	o.Models.Embedder = zeroEmbedder{llmtest.NewEmbedder(8)}
	d := openTest(t, o)
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	for _, mode := range retrieving {
		res, err := d.Query(ctx, "who runs the mill", query.Options{Mode: mode, Want: query.WantContext})
		if err != nil || res.Outcome != query.OutcomeNoResult || res.Context != "" ||
			!slices.ContainsFunc(res.Reasons, func(r query.Reason) bool { return r.Code == query.ReasonNoDirection && r.Count == 1 }) ||
			len(res.Data.Chunks)+len(res.Data.Entities)+len(res.Data.Relations)+len(res.Data.References) != 0 {
			t.Errorf("%s: %+v, %v; want no result, because of no_direction", mode, res, err)
		}
		res, err = d.Query(ctx, "what does Ines Calder do", query.Options{Mode: mode, Want: query.WantContext})
		named := mode != query.Naive // which looks for no entities
		if err != nil || (res.Outcome == query.OutcomeOK) != named || named != (len(res.Data.Entities) == 1 && res.Data.Entities[0].Name == "Ines Calder") {
			t.Errorf("%s, by name: %+v, %v; want the entity: %v", mode, res, err, named)
		}
	}
}

// An answer is cached for as long as neither the data nor the question, model or parameters change.
func TestHC21_AnswerCache(t *testing.T) {
	const question = "who runs the mill"
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":["running"],"low_level_keywords":["mill"]}`})
	chat.First(llmtest.Rule{Purpose: llm.PurposeAnswer, Func: func(r llm.Request) (string, error) {
		for _, m := range r.Messages {
			if strings.Contains(m.Content, "Ines Calder") {
				return "Ines Calder", nil
			}
		}
		return "nobody knows", nil
	}})
	o := modelled(chat, llmtest.NewEmbedder(8))
	d := openTest(t, o)
	ask := func(d *db.DB, o query.Options) (answer string, calls int) {
		t.Helper()
		before := len(chat.Calls())
		res, err := d.Query(ctx, question, o)
		if err != nil {
			t.Fatal(err)
		}
		return res.Answer, len(chat.Calls()) - before
	}
	if answer, _ := ask(d, query.Options{}); strings.Contains(answer, "Ines") {
		t.Errorf("empty database: %q", answer)
	}
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	if answer, _ := ask(d, query.Options{}); answer != "Ines Calder" {
		t.Errorf("after the insert: %q", answer)
	}
	if answer, calls := ask(d, query.Options{}); answer != "Ines Calder" || calls != 0 {
		t.Errorf("again: %q with %d calls", answer, calls)
	}
	variants := []query.Options{{TopK: 7}, {Mode: query.Naive}, {Mode: query.Local}, {ChunkTopK: 3}, {Reply: query.Reply{UserPrompt: "Be brief."}}}
	for _, v := range variants {
		if _, calls := ask(d, v); calls == 0 {
			t.Errorf("%+v was answered from another entry", v)
		}
		if _, calls := ask(d, v); calls != 0 {
			t.Errorf("%+v: %d calls the second time", v, calls)
		}
	}
	// What changes the data ends the entry; what does not, does not; a reopening is no change.
	update(t, d, func(tx *db.Tx) error { return tx.KV("own").Put([]byte("k"), []byte("v")) })
	if _, calls := ask(d, query.Options{}); calls != 0 {
		t.Errorf("%d calls after a write beside the documents", calls)
	}
	closeChecked(t, d)
	d = openTest(t, o)
	if answer, calls := ask(d, query.Options{}); answer != "Ines Calder" || calls != 0 {
		t.Errorf("after reopening: %q with %d calls", answer, calls)
	}
	if _, err := d.Put(ctx, doc("mill", "E Tom Reed (runs the mill)")); err != nil {
		t.Fatal(err)
	}
	if answer, _ := ask(d, query.Options{}); answer != "nobody knows" {
		t.Errorf("after the replacement: %q", answer)
	}
	if _, err := d.Put(ctx, doc("mill", "E Ines Calder (runs the mill)")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(ctx, "mill"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := ask(d, query.Options{}); strings.Contains(answer, "Ines") {
		t.Errorf("after the delete: %q", answer)
	}
	// Another model has its own entries.
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	ask(d, query.Options{})
	closeChecked(t, d)
	chat.SetID("fake/other")
	d = openTest(t, o)
	if _, calls := ask(d, query.Options{}); calls == 0 {
		t.Error("another model was answered for from the cache")
	}
	if answer, calls := ask(d, query.Options{}); answer != "Ines Calder" || calls != 0 {
		t.Errorf("another model, the second time: %q with %d calls", answer, calls)
	}
}
