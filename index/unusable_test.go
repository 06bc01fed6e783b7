package index_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// cacheStore is a reply cache in memory.
type cacheStore map[string][]byte

func (c cacheStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := c[key]
	return v, ok, nil
}

func (c cacheStore) Put(_ context.Context, key string, value []byte) error {
	c[key] = value
	return nil
}

// TestHC09_RepliesOfNoUse: whatever makes a reply useless, the document tells, the reply is not kept, and giving
// the document again asks again. A reply that says that there is nothing is a reply.
func TestHC09_RepliesOfNoUse(t *testing.T) {
	const good = "entity<|#|>Blue Pot<|#|>artifact<|#|>It hides a key.\n<|COMPLETE|>"
	for _, c := range []struct {
		name, reply string
		finish      llm.Finish
		warning     string
		again       int // calls that the second run makes
	}{
		{"cut off at once", "", llm.FinishLength, "0 entities of 1 chunk, reply cut off", 1},
		{"cut off while thinking", "<think>Let me see, entity<|#|>Blue Pot<|#|>artifact<|#|>x", llm.FinishLength, "0 entities of 1 chunk, reply cut off", 1},
		{"empty", "", llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"white space", " \n\t ", llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"reasoning alone", "<think>nothing here</think>", llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"apology", "I'm sorry, but I cannot help with that.", llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"page", "<html><body>502 Bad Gateway</body></html>", llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"other JSON", `{"error": "overloaded"}`, llm.FinishStop, "0 entities of 1 chunk, reply of no use", 1},
		{"filter", "", llm.FinishFilter, "0 entities of 1 chunk, reply of no use", 1},
		{"nothing found", "<|COMPLETE|>", llm.FinishStop, "0 entities of 1 chunk", 0},
		{"nothing found, in JSON", "```json\n{\"entities\": [], \"relationships\": []}\n```", llm.FinishStop, "0 entities of 1 chunk", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := llmtest.NewChat(llmtest.Rule{Times: 1, Text: c.reply, Finish: c.finish}, llmtest.Rule{Text: good})
			x, err := index.NewModelExtractor(llm.Cache(model, cacheStore{}, llm.CacheOptions{}), runes{}, index.ModelOptions{Gleaning: -1})
			if err != nil {
				t.Fatal(err)
			}
			s := newStore(t, index.Options{})
			s.real = x
			s.reopen()
			d := doc("key", "The spare key is under the blue pot.")
			s.put(d)
			i := s.info("key")
			if i.Status != "processed" || i.Chunks != 1 || i.Entities != 0 || !slices.Contains(i.Warnings, c.warning) {
				t.Fatalf("status %+v", i)
			}
			want := index.Unchanged
			if c.again > 0 {
				want = index.Enqueued
			}
			calls := model.Count("")
			if ids, err := s.Retry(context.Background()); err != nil || len(ids) != c.again {
				t.Errorf("retried %q, %v, want %d", ids, err, c.again)
			}
			if r := s.enqueue(index.Insert, d); r.Documents[0].Result != want {
				t.Errorf("given again it is %q, want %q", r.Documents[0].Result, want)
			}
			s.process()
			if got := model.Count("") - calls; got != c.again {
				t.Errorf("%d calls, want %d", got, c.again)
			}
			if ids, err := s.Retry(context.Background()); err != nil || len(ids) != 0 {
				t.Errorf("retried %q, %v, and nothing is missing", ids, err)
			}
			if i := s.info("key"); (i.Entities == 1) != (c.again > 0) || c.again > 0 && i.Truncated+i.Unusable > 0 {
				t.Errorf("status %+v", i)
			}
		})
	}
}

// TestHC13_CallersLargeChunks: chunks of a caller's own chunker that are over the limit are cut before any call.
func TestHC13_CallersLargeChunks(t *testing.T) {
	whole := chunk.Func("whole", func(_ context.Context, text string) ([]chunk.Span, error) {
		return []chunk.Span{{End: len(text)}}, nil
	})
	s := newStore(t, index.Options{Chunker: whole, ChunkTokens: 40, ChunkOverlap: -1})
	text := strings.Repeat("The lantern burns on. ", 12)
	s.put(index.Document{ID: "x", Text: text})
	if i := s.info("x"); i.Status != "processed" || i.Chunks != 7 {
		t.Errorf("status %+v", i)
	}
	for _, asked := range s.extract.asked {
		if n := len([]rune(asked)); n > 40 {
			t.Errorf("a chunk of %d tokens reached the extractor", n)
		}
	}
	bad := chunk.Func("bad", func(context.Context, string) ([]chunk.Span, error) { return []chunk.Span{{Start: 1, End: 900}}, nil })
	s = newStore(t, index.Options{Chunker: bad})
	var cause error
	s.enqueue(index.Insert, doc("y", "short"))
	if _, err := s.Process(context.Background(), index.ProcessOptions{Progress: func(p index.Progress) { cause = errors.Join(cause, p.Err) }}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(cause, chunk.ErrSpan) || s.extract.calls() != 0 {
		t.Errorf("error %v after %d calls", cause, s.extract.calls())
	}
}

// TestTypesThatSayNothing: other and unknown never outvote a record that knows the type.
func TestTypesThatSayNothing(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("x", "E A|other|one.", "E A|person|two.", "E A|UNKNOWN|three.", "E A|Other|four.", "E B|other|one."))
	if e := s.entity("A"); e.Type != "person" {
		t.Errorf("A is a %s", e.Type)
	}
	if e := s.entity("B"); e.Type != "other" {
		t.Errorf("B is a %s", e.Type)
	}
	s.put(doc("y", "R B - C|k|They met."))
	if e := s.entity("C"); e.Type != index.UnknownType {
		t.Errorf("C, an end only, is a %s", e.Type)
	}
	s.put(doc("z", "E C|ship|It sails."))
	if e := s.entity("C"); e.Type != "ship" || e.Description != "It sails." || e.SourceCount != 2 {
		t.Errorf("C, now described, is %+v", e)
	}
	s.delete("z")
	if e := s.entity("C"); e.Type != index.UnknownType || e.Description != "They met." {
		t.Errorf("C, an end again, is %+v", e)
	}
}

// TestCancelKeepsWhatIsPaid cancels at every chunk in turn, with one or several chunks at the model: the call ends
// with the context's error, nothing is visible, and the next run asks only for what was not answered.
func TestCancelKeepsWhatIsPaid(t *testing.T) {
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("E N%d|t|d.", i))
	}
	for _, workers := range []int{1, 3} {
		for at := range lines {
			s := newStore(t, index.Options{ChunkWorkers: workers})
			s.enqueue(index.Insert, doc("x", lines...))
			ctx, cancel := context.WithCancel(context.Background())
			s.extract.before = func(ctx context.Context, text string) error {
				if text == lines[at] {
					cancel()
				}
				return ctx.Err()
			}
			var (
				mu     sync.Mutex
				stages []index.Stage
			)
			_, err := s.Process(ctx, index.ProcessOptions{Progress: func(p index.Progress) {
				mu.Lock()
				defer mu.Unlock()
				stages = append(stages, p.Stage)
			}})
			cancel()
			if !errors.Is(err, context.Canceled) || stages[len(stages)-1] != index.StageGivenUp {
				t.Fatalf("error %v, stages %v", err, stages)
			}
			if i := s.info("x"); i.Status != "pending" || i.Visible {
				t.Errorf("status %+v", i)
			}
			v := s.view()
			for c, err := range index.Chunks(v, "", "x", 0) {
				t.Errorf("chunk %s is visible, %v", c.ID, err)
			}
			_ = v.Close()
			paid := len(s.extract.memo)
			s.extract.before = nil
			calls := s.extract.calls()
			s.reopen()
			s.process()
			if got := s.extract.calls() - calls; got != len(lines)-paid {
				t.Errorf("cancelled at %d with %d workers: %d calls to go on, %d were paid", at, workers, got, paid)
			}
		}
	}
}
