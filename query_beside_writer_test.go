package db_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// barrier holds those who pass while it is shut, and tells that one has come.
type barrier struct {
	shut    atomic.Bool
	entered chan struct{}
	open    chan struct{}
}

func newBarrier() *barrier { return &barrier{entered: make(chan struct{}), open: make(chan struct{})} }

func (g *barrier) pass() {
	if g.shut.CompareAndSwap(true, false) { // one is enough
		g.entered <- struct{}{}
		<-g.open
	}
}

// stuckFS holds a sync of the engine's log at its barrier.
type stuckFS struct {
	vfs.FS
	*barrier
}

func (f *stuckFS) held(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err
	}
	return &stuckFile{file, f.barrier}, nil
}

func (f *stuckFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.held(name, file, err)
}

func (f *stuckFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(old, name, c)
	return f.held(name, file, err)
}

type stuckFile struct {
	vfs.File
	at *barrier
}

func (f *stuckFile) Sync() error     { f.at.pass(); return f.File.Sync() }
func (f *stuckFile) SyncData() error { f.at.pass(); return f.File.SyncData() }
func (f *stuckFile) SyncTo(n int64) (bool, error) {
	f.at.pass()
	return f.File.SyncTo(n)
}

// stuckEmbedder holds a call for passages, not for questions.
type stuckEmbedder struct {
	llm.Embedder
	*barrier
}

func (e stuckEmbedder) Embed(ctx context.Context, texts []string, kind llm.Kind) ([][]float32, error) {
	if kind == llm.ForDocument {
		e.pass()
	}
	return e.Embedder.Embed(ctx, texts, kind)
}

// No query waits for a writer, wherever that is held: in the sync of its commit, or by a model that extracts,
// summarises or embeds for it. A query that did would never end here. All that is asked of the database without a
// question answers, too. The question is a new one: what models say to it is stored behind it.
func TestQueriesBesideAStuckWriter(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"sync", string(llm.PurposeExtract), string(llm.PurposeSummary), "embed"} {
		t.Run(where, func(t *testing.T) {
			g := newBarrier()
			chat := extracting()
			for _, p := range []llm.Purpose{llm.PurposeExtract, llm.PurposeSummary} {
				if string(p) == where {
					chat.First(llmtest.Rule{Purpose: p, Func: func(r llm.Request) (string, error) {
						g.pass()
						if p == llm.PurposeSummary {
							return "In short.", nil
						}
						return reply(passage(r)), nil
					}})
				}
			}
			o := modelled(chat, nil)
			o.Models.Embedder = llmtest.NewEmbedder(8)
			o.Index.SummaryFragments = 3
			switch where {
			case "sync":
				o.FS = &stuckFS{vfs.NewMem(), g}
			case "embed":
				o.Models.Embedder = stuckEmbedder{o.Models.Embedder, g}
			}
			d := openTest(t, o)
			for i := range 4 {
				insert(t, d, doc(fmt.Sprint("mill ", i), fmt.Sprintf("E Ines Calder (runs mill %d)\nE Tide Mill (grinds %d)\nR Ines Calder - Tide Mill (runs it %d)", i, i, i)))
			}
			queries(t, d, "Who runs Tide Mill?")
			g.shut.Store(true)
			done := make(chan error)
			go func() {
				_, err := d.Put(ctx, doc("mill 9", "E Ines Calder (sold the mill)\nE Tide Mill (stands still)"))
				done <- err
			}()
			<-g.entered
			queries(t, d, "Who runs the Tide Mill now?")
			if n, err := countDocuments(d); err != nil || n < 4 {
				t.Errorf("%d documents, %v", n, err)
			}
			if get(t, d, "mill 0").Status != "processed" || entity(t, d, "Ines Calder") == nil {
				t.Error("what was stored before is not there")
			}
			if _, err := d.Stats(ctx); err != nil {
				t.Error(err)
			}
			select {
			case err := <-done:
				t.Errorf("the writer was not held: %v", err)
			default:
			}
			close(g.open)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if r := ask(t, d, "Who runs Tide Mill?", query.Options{Mode: query.Naive, Want: query.WantContext}); !strings.Contains(r.Context, "sold the mill") {
				t.Errorf("what was written is not found: %q", r.Context)
			}
		})
	}
}

// queries asks in all modes, with and without a filter.
func queries(t *testing.T, d *db.DB, question string) {
	t.Helper()
	for _, mode := range retrieving {
		for _, f := range []query.Filter{{}, {IDPrefix: "mill"}} {
			for _, want := range []query.Want{query.WantContext, query.WantPrompt} {
				r, err := d.Query(ctx, question, query.Options{Mode: mode, Filter: f, Want: want})
				if err != nil || r.Outcome != query.OutcomeOK || !strings.Contains(r.Context+r.Prompt, "runs mill 0") && mode == query.Naive {
					t.Errorf("%s: %+v, %v", mode, r, err)
				}
			}
		}
	}
}

func countDocuments(d *db.DB) (n int, err error) {
	for _, err := range d.Documents(ctx, index.Filter{}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
