package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// reopened checks what a database left behind that was closed in the middle of things.
func reopened(t *testing.T, o db.Options, f func(d *db.DB)) {
	t.Helper()
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	checkDB(t, d)
	f(d)
	closeChecked(t, d)
}

// Calls of every kind run in loops while the database is closed: each ends with ErrClosed and nothing else,
// and every acknowledged change is there afterwards.
func TestCloseDuringCalls(t *testing.T) {
	for round := range 3 {
		o := testOptions(vfs.NewMem())
		o.Models.Reranker = lengths{}
		d, err := db.Open("glim.db", db.WithOptions(o))
		if err != nil {
			t.Fatal(err)
		}
		insert(t, d, doc("first", "E Mira Voss (repairs the bridge)\nE Lantern Bridge (old)\nR Mira Voss - Lantern Bridge (works on)\n"))
		var (
			mu    sync.Mutex
			acked = map[string]bool{}
		)
		ack := func(id string, there bool) { mu.Lock(); acked[id] = there; mu.Unlock() }
		calls := map[string]func(i int) error{
			"insert": func(i int) error {
				id := fmt.Sprint("doc-", i)
				_, err := d.Insert(ctx, doc(id, fmt.Sprintf("E Mira Voss (fact %d)\nE Pier %d (new)\n", i, i)))
				if err == nil {
					ack(id, true)
				}
				return err
			},
			"put": func(i int) error {
				_, err := d.Put(ctx, doc("first", fmt.Sprintf("E Mira Voss (version %d)\n", i)))
				return err
			},
			"delete": func(i int) error {
				id := fmt.Sprint("short-", i)
				if _, err := d.Insert(ctx, doc(id, "E Mira Voss (for now)\n")); err != nil {
					return err
				}
				_, err := d.Delete(ctx, id)
				if err == nil {
					ack(id, false)
				}
				return err
			},
			"enqueue": func(i int) error {
				id := fmt.Sprint("later-", i%20)
				_, err := d.Enqueue(ctx, index.Insert, doc(id, "E Mira Voss (waits)\n"))
				if err == nil {
					ack(id, true)
				}
				return err
			},
			"process": func(int) error { _, err := d.Process(ctx, index.ProcessOptions{}); return err },
			"query":   func(int) error { _, err := d.Query(ctx, "who repairs the bridge", query.Options{}); return err },
			"update": func(i int) error {
				key := []byte(fmt.Sprint(i))
				return d.Update(ctx, func(tx *db.Tx) error { return tx.KV("log").Put(key, key) })
			},
			"view": func(int) error {
				return d.View(ctx, func(tx *db.Tx) error {
					for _, err := range tx.KV("log").Scan(nil, nil) {
						if err != nil {
							return err
						}
					}
					return nil
				})
			},
			"documents": func(int) error { return drain(d.Documents(ctx, index.Filter{})) },
			"changes":   func(int) error { return drain(d.Changes(ctx, 0)) },
			"check":     func(int) error { return drain(d.Check(ctx)) },
			"dump":      func(int) error { return d.Dump(ctx, io.Discard, db.DumpOptions{}) },
			"stats":     func(int) error { _, err := d.Stats(ctx); return err },
			"settle":    func(int) error { return d.Settle(ctx) },
		}
		var done sync.WaitGroup
		busy := make(chan struct{})
		for name, f := range calls {
			done.Go(func() {
				for i := 0; ; i++ {
					err := f(i)
					if name == "insert" && i == 3+round {
						close(busy)
					}
					if errors.Is(err, db.ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("round %d: %s: %v, want ErrClosed", round, name, err)
						return
					}
				}
			})
		}
		<-busy
		var closers sync.WaitGroup
		for range 3 {
			closers.Go(func() {
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		closers.Wait()
		done.Wait()
		reopened(t, o, func(d *db.DB) {
			for id, there := range acked {
				if _, err := d.Document(ctx, id); there && err != nil || !there && !errors.Is(err, db.ErrNotFound) {
					t.Errorf("document %s, acknowledged as there=%v: %v", id, there, err)
				}
			}
			if _, err := d.Process(ctx, index.ProcessOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// lengths is a reranker that prefers long texts.
type lengths struct{}

func (lengths) ID() string { return "lengths" }

func (lengths) Rerank(ctx context.Context, _ string, docs []string) ([]float64, error) {
	out := make([]float64, len(docs))
	for i, d := range docs {
		out[i] = float64(len(d))
	}
	return out, ctx.Err()
}

func drain[T any](s iter.Seq2[T, error]) error {
	for _, err := range s {
		if err != nil {
			return err
		}
	}
	return nil
}

// A model that never answers holds neither its call nor Close.
func TestCloseEndsModelCalls(t *testing.T) {
	for _, purpose := range []llm.Purpose{llm.PurposeExtract, llm.PurposeKeywords, llm.PurposeAnswer} {
		t.Run(string(purpose), func(t *testing.T) {
			entered := make(chan struct{})
			chat := extracting(llmtest.Rule{Purpose: purpose, Entered: entered, Gate: make(chan struct{})})
			o := testOptions(vfs.NewMem())
			o.Extractor, o.Models.Chat = nil, chat
			if purpose != llm.PurposeExtract {
				o.Extractor = scripted{}
			}
			d, err := db.Open("glim.db", db.WithOptions(o))
			if err != nil {
				t.Fatal(err)
			}
			result := make(chan error, 1)
			if purpose == llm.PurposeExtract {
				go func() { _, err := d.Insert(ctx, doc("slow", "E Mira Voss (waits)\n")); result <- err }()
			} else {
				insert(t, d, doc("mill", "E Ines Calder (runs the mill)\n"))
				go func() { _, err := d.Query(ctx, "who runs the mill", query.Options{}); result <- err }()
			}
			<-entered
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if err := <-result; !errors.Is(err, db.ErrClosed) {
				t.Errorf("the call returned %v, want ErrClosed", err)
			}
			o.Models.Chat, o.Extractor = nil, scripted{}
			reopened(t, o, func(d *db.DB) {
				if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Failed > 0 {
					t.Errorf("resume: %+v, %v", s, err)
				}
			})
		})
	}
}

func TestCloseEndsAStream(t *testing.T) {
	between := make(chan struct{})
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":[],"low_level_keywords":["mill"]}`},
		llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "Ines Calder runs it.", Piece: 4, Between: between})
	o := testOptions(vfs.NewMem())
	o.Models.Chat = chat
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)\n"))
	ask := func() *query.Result {
		res, err := d.Query(ctx, "who runs the mill", query.Options{Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	unread, res := ask(), ask()
	checkDB(t, d)
	got := make(chan error, 1)
	first := make(chan struct{})
	go func() {
		var last error
		for piece, err := range res.Stream {
			if last = err; piece == "Ines" {
				close(first)
			}
		}
		got <- last
	}()
	<-first
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-got; !errors.Is(err, db.ErrClosed) {
		t.Errorf("the stream ended with %v, want ErrClosed", err)
	}
	if err := drain(unread.Stream); !errors.Is(err, db.ErrClosed) {
		t.Errorf("a stream first read after Close ends with %v, want ErrClosed", err)
	}
}

// What the caller left open does not hold Close for ever: it is named, and of no use afterwards.
func TestCloseNamesWhatIsLeftOpen(t *testing.T) {
	o := testOptions(vfs.NewMem())
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("a", "E A (one)\n"), doc("b", "E B (two)\n"))
	checkDB(t, d)
	next, stop := iter.Pull2(d.Documents(ctx, index.Filter{}))
	if _, err, ok := next(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	err = d.View(ctx, func(tx *db.Tx) error {
		err := d.Close()
		if err == nil {
			t.Error("close says nothing of a loop and a view that are open")
			return nil
		}
		for _, want := range []string{"1 Documents", "1 View", fmt.Sprintf("at LSN %d", tx.LSN())} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("close: %v, want it to name %q", err, want)
			}
		}
		if err := d.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
		_, err = tx.Graph(db.KnowledgeGraph)
		return err
	})
	if !errors.Is(err, db.ErrClosed) {
		t.Errorf("a read in the view after Close: %v", err)
	}
	if _, err, ok := next(); !ok || !errors.Is(err, db.ErrClosed) {
		t.Errorf("a step of the loop after Close: %v, %v", ok, err)
	}
	stop()
	reopened(t, o, func(*db.DB) {})
}

// A nil context is refused by every call, and none of them keeps Close waiting.
func TestNilContext(t *testing.T) {
	d := openTest(t, testOptions(vfs.NewMem()))
	var none context.Context
	calls := map[string]func() error{
		"Insert":  func() error { _, err := d.Insert(none, doc("a", "E A (one)\n")); return err },
		"Put":     func() error { _, err := d.Put(none, doc("a", "E A (one)\n")); return err },
		"Enqueue": func() error { _, err := d.Enqueue(none, index.Insert, doc("a", "E A (one)\n")); return err },
		"Process": func() error { _, err := d.Process(none, index.ProcessOptions{}); return err },
		"Delete":  func() error { _, err := d.Delete(none, "a"); return err },
		"DeleteMatching": func() error {
			_, err := d.DeleteMatching(none, index.Filter{IDPrefix: "a"})
			return err
		},
		"Retry":     func() error { _, err := d.Retry(none, "a"); return err },
		"Document":  func() error { _, err := d.Document(none, "a"); return err },
		"Chunks":    func() error { return firstError(d.Chunks(none, "a", 0)) },
		"Text":      func() error { _, err := d.Text(none, "a"); return err },
		"Query":     func() error { _, err := d.Query(none, "who", query.Options{}); return err },
		"Stats":     func() error { _, err := d.Stats(none); return err },
		"Settle":    func() error { return d.Settle(none) },
		"Dump":      func() error { return d.Dump(none, io.Discard, db.DumpOptions{}) },
		"Load":      func() error { _, err := d.Load(none, strings.NewReader("")); return err },
		"View":      func() error { return d.View(none, func(*db.Tx) error { return nil }) },
		"Update":    func() error { return d.Update(none, func(*db.Tx) error { return nil }) },
		"Truncate":  func() error { return d.TruncateChanges(none, 0) },
		"Documents": func() error { return firstError(d.Documents(none, index.Filter{})) },
		"Changes":   func() error { return firstError(d.Changes(none, 0)) },
		"Check":     func() error { return firstError(d.Check(none)) },
	}
	for name, call := range calls {
		var opt *db.OptionError
		if err := call(); !errors.As(err, &opt) || opt.Field != "ctx" {
			t.Errorf("%s: %v, want an OptionError of ctx", name, err)
		}
	}
}

func firstError[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// A panic in a loop body, or a loop that is left, releases what the loop held.
func TestLoopsReleaseTheirView(t *testing.T) {
	d := openTest(t, testOptions(nil)) // its Close fails when a view is open
	insert(t, d, doc("a", "E A (one)\n"), doc("b", "E B (two)\n"))
	loops := map[string]func(body func()){
		"documents": func(body func()) {
			for _, err := range d.Documents(ctx, index.Filter{}) {
				if err != nil {
					t.Error(err)
				}
				body()
				break
			}
		},
		"changes": func(body func()) {
			for _, err := range d.Changes(ctx, 0) {
				if err != nil {
					t.Error(err)
				}
				body()
				break
			}
		},
		"view": func(body func()) {
			_ = d.View(ctx, func(*db.Tx) error { body(); return nil })
		},
		"dump": func(body func()) {
			_ = d.Dump(ctx, writerFunc(func(p []byte) (int, error) { body(); return len(p), nil }), db.DumpOptions{})
		},
	}
	for name, loop := range loops {
		ran := 0
		loop(func() { ran++ })
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic was swallowed", name)
				}
			}()
			loop(func() { ran++; panic(name) })
		}()
		if ran < 2 {
			t.Errorf("%s: the body ran %d times", name, ran)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Load meets no writer, and a writer no Load.
func TestLoadRunsAlone(t *testing.T) {
	d := openTest(t, testOptions(nil))
	var dump strings.Builder
	if err := d.Dump(ctx, &dump, db.DumpOptions{}); err != nil {
		t.Fatal(err)
	}
	err := d.Update(ctx, func(*db.Tx) error {
		if _, err := d.Load(ctx, strings.NewReader(dump.String())); !errors.Is(err, db.ErrBusy) {
			t.Errorf("load beside a write: %v, want ErrBusy", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rest := strings.NewReader(dump.String())
	during := sync.OnceFunc(func() {
		for name, f := range map[string]func() error{
			"insert":  func() error { _, err := d.Insert(ctx, doc("a", "E A (one)\n")); return err },
			"put":     func() error { _, err := d.Put(ctx, doc("a", "E A (one)\n")); return err },
			"delete":  func() error { _, err := d.Delete(ctx, "a"); return err },
			"process": func() error { _, err := d.Process(ctx, index.ProcessOptions{}); return err },
			"retry":   func() error { _, err := d.Retry(ctx); return err },
			"update":  func() error { return d.Update(ctx, func(*db.Tx) error { return nil }) },
			"load":    func() error { _, err := d.Load(ctx, strings.NewReader(dump.String())); return err },
		} {
			if err := f(); !errors.Is(err, db.ErrBusy) {
				t.Errorf("%s beside a load: %v, want ErrBusy", name, err)
			}
		}
		if err := d.View(ctx, func(*db.Tx) error { return nil }); err != nil {
			t.Errorf("reading beside a load: %v", err)
		}
	})
	if _, err := d.Load(ctx, readerFunc(func(p []byte) (int, error) { during(); return rest.Read(p) })); err != nil {
		t.Error(err)
	}
	insert(t, d, doc("a", "E A (one)\n"))
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
