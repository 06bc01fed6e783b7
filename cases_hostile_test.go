package db_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// extractorFunc is an extractor of one function.
type extractorFunc func(context.Context, index.ExtractInput) (index.Extraction, error)

func (extractorFunc) ID() string { return "func/1" }

func (f extractorFunc) Extract(ctx context.Context, in index.ExtractInput) (index.Extraction, error) {
	return f(ctx, in)
}

// chatFunc is a chat model of one function.
type chatFunc func(context.Context, llm.Request) iter.Seq2[llm.Delta, error]

func (chatFunc) ID() string { return "func/1" }

func (f chatFunc) Generate(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return f(ctx, r)
}

// embedderFunc is an embedder of one function and eight dimensions.
type embedderFunc func(context.Context, []string) ([][]float32, error)

func (embedderFunc) ID() string { return "func/1" }
func (embedderFunc) Dim() int   { return 8 }

func (f embedderFunc) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	return f(ctx, texts)
}

// TestComponentsThatPanic: code of the caller's that panics on a goroutine of the library fails the one
// document, by name, instead of ending the process (P5); once it is mended the document goes through.
func TestComponentsThatPanic(t *testing.T) {
	var broken atomic.Bool
	trip := func(text string) {
		if broken.Load() && strings.Contains(text, "Bad Apple") {
			panic("out of order")
		}
	}
	good := llmtest.NewEmbedder(8)
	extract := extractorFunc(func(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
		trip(in.Text)
		return records(in.Text), nil
	})
	whole := chunk.Func("whole", func(_ context.Context, text string) ([]chunk.Span, error) {
		trip(text)
		return []chunk.Span{{End: len(text)}}, nil
	})
	embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
		trip(strings.Join(texts, "\n"))
		return good.Embed(ctx, texts, llm.ForDocument)
	})
	before := chatFunc(func(_ context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
		trip(passage(r))
		return saying(reply(passage(r)))
	})
	within := chatFunc(func(_ context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			trip(passage(r))
			saying(reply(passage(r)))(yield)
		}
	})
	none := chatFunc(func(_ context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
		if broken.Load() && strings.Contains(passage(r), "Bad Apple") {
			return nil
		}
		return saying(reply(passage(r)))
	})
	for name, set := range map[string]func(*db.Options){
		"extractor":     func(o *db.Options) { o.Extractor = extract },
		"chunker":       func(o *db.Options) { o.Index.Chunker = whole },
		"embedder":      func(o *db.Options) { o.Models.Embedder = embed },
		"chat":          func(o *db.Options) { o.Extractor, o.Models.Chat = nil, before },
		"chat sequence": func(o *db.Options) { o.Extractor, o.Models.Chat = nil, within },
		"chat nil":      func(o *db.Options) { o.Extractor, o.Models.Chat = nil, none },
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(nil)
			o.ModelRetries = -1
			set(&o)
			d := openTest(t, o)
			broken.Store(true)
			_, err := d.Insert(ctx,
				index.Document{ID: "bad", Text: "E Bad Apple (rots)"},
				index.Document{ID: "good", Text: "E Pear Tree (grows)"})
			if !errors.Is(err, llm.ErrPanic) {
				t.Errorf("got %v, want llm.ErrPanic", err)
			}
			bad, good := status(t, d, "bad"), status(t, d, "good")
			if bad.Status != "failed" || !strings.Contains(bad.Error, "panicked") {
				t.Errorf("bad is %s: %q", bad.Status, bad.Error)
			}
			if good.Status != "processed" {
				t.Errorf("good is %s: %q", good.Status, good.Error)
			}
			broken.Store(false)
			if _, err := d.Retry(ctx); err != nil {
				t.Fatal(err)
			}
			if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 {
				t.Errorf("after the repair: %+v, %v", s, err)
			}
		})
	}
}

// TestCallbackThatPanics: a panic of the progress callback is an error of the call; the document waits.
func TestCallbackThatPanics(t *testing.T) {
	for _, stage := range []index.Stage{index.StageChunk, index.StageExtract, index.StageMerge, index.StageDone} {
		t.Run(string(stage), func(t *testing.T) {
			d := openTest(t, testOptions(nil))
			if _, err := d.Enqueue(ctx, index.Insert, index.Document{ID: "a", Text: "E Ada (counts)"}); err != nil {
				t.Fatal(err)
			}
			s, err := d.Process(ctx, index.ProcessOptions{Progress: func(p index.Progress) {
				if p.Stage == stage {
					panic("no paper in the printer")
				}
			}})
			if !errors.Is(err, llm.ErrPanic) && s.Failed != 1 {
				t.Errorf("got %+v, %v", s, err)
			}
			if stage == index.StageDone {
				return // it was committed before the callback heard of it
			}
			if _, err := d.Retry(ctx); err != nil {
				t.Fatal(err)
			}
			if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 {
				t.Errorf("the next call: %+v, %v", s, err)
			}
		})
	}
}

// TestComponentsThatExit: code of the caller's that ends its goroutine is an error, never a result without what it
// was asked for.
func TestComponentsThatExit(t *testing.T) {
	for name, exit := range map[string]func(o *db.Options, p *index.ProcessOptions, broken *atomic.Bool){
		"extractor": func(o *db.Options, _ *index.ProcessOptions, broken *atomic.Bool) {
			o.Extractor = extractorFunc(func(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
				if broken.Load() {
					runtime.Goexit()
				}
				return records(in.Text), nil
			})
		},
		"embedder": func(o *db.Options, _ *index.ProcessOptions, broken *atomic.Bool) {
			good := llmtest.NewEmbedder(8)
			o.Models.Embedder = embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
				if broken.Load() {
					runtime.Goexit()
				}
				return good.Embed(ctx, texts, llm.ForDocument)
			})
		},
		"progress callback": func(_ *db.Options, p *index.ProcessOptions, broken *atomic.Bool) {
			p.Progress = func(index.Progress) {
				if broken.Load() {
					runtime.Goexit()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			o, p := testOptions(nil), index.ProcessOptions{}
			exit(&o, &p, &broken)
			d := openTest(t, o)
			broken.Store(true)
			if _, err := d.Enqueue(ctx, index.Insert, index.Document{ID: "a", Text: "E Ada (counts)"}); err != nil {
				t.Fatal(err)
			}
			s, err := d.Process(ctx, p)
			if s.Processed != 0 || !errors.Is(err, llm.ErrPanic) && s.Failed != 1 {
				t.Errorf("got %+v, %v", s, err)
			}
			broken.Store(false)
			if _, err := d.Retry(ctx); err != nil {
				t.Fatal(err)
			}
			if s, err := d.Process(ctx, p); err != nil || s.Processed != 1 || status(t, d, "a").Entities != 1 {
				t.Errorf("after the repair: %+v, %v", s, err)
			}
		})
	}
}

// TestReadingLoopThatPanics: a panic of the caller's own loop over an answer is the caller's.
func TestReadingLoopThatPanics(t *testing.T) {
	o := testOptions(nil)
	o.Models.Chat = extracting()
	d := openTest(t, o)
	res, err := d.Query(ctx, "who?", query.Options{Mode: query.Bypass, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if v := recover(); v != "mine" {
			t.Errorf("recovered %v", v)
		}
	}()
	for _, err := range res.Stream {
		if err == nil {
			panic("mine")
		}
		t.Error(err)
	}
	t.Error("no answer")
}

// TestReportsBeyondReason: whatever a component counts, the document can be read, dumped and deleted.
func TestReportsBeyondReason(t *testing.T) {
	for name, r := range map[string]index.ExtractReport{
		"negative": {Dropped: map[string]int{"x": -1}, Repaired: map[string]int{"y": math.MinInt}, Calls: -5, CachedCalls: -5,
			PromptTokens: -1, CompletionTokens: math.MinInt},
		"huge": {Dropped: map[string]int{"x": 1 << 40, "": 1}, Calls: math.MaxInt, PromptTokens: math.MaxInt, CompletionTokens: math.MaxInt},
		"odd":  {Dropped: map[string]int{"x\xff": 1}, Warnings: []string{"w\xff", strings.Repeat("w", 1<<20)}},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(nil)
			o.Extractor = extractorFunc(func(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
				x := records(in.Text)
				x.Report = r
				return x, nil
			})
			d := openTest(t, o)
			empty := logical(t, d)
			if _, err := d.Insert(ctx, index.Document{ID: "a", Text: "E Ada (counts)\n\nE Ada (sums)"}); err != nil {
				t.Fatal(err)
			}
			if i := status(t, d, "a"); i.Status != "processed" || i.Entities != 1 {
				t.Errorf("got %+v", i)
			}
			reload(t, d, o)
			if _, err := d.Delete(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			if after := logical(t, d); after != empty {
				t.Errorf("left behind: %s", after)
			}
		})
	}
}

func status(t testing.TB, d *db.DB, id string) index.Info {
	t.Helper()
	i, err := d.Document(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// reload loads d's dump into an empty database and compares.
func reload(t testing.TB, d *db.DB, o db.Options) {
	t.Helper()
	o.FS = nil
	e := openTest(t, o)
	if _, err := e.Load(ctx, strings.NewReader(dumpOf(t, d, db.DumpOptions{}))); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, e), logical(t, d))
}

// saying is a reply in one piece.
func saying(text string) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: -1, CompletionTokens: 1 << 40}}, nil)
	}
}
