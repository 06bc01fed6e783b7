package db_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// gate is a summary model that tells when it is first asked about a topic, once armed, and answers when it is let, or never
// when the call ends before.
type gate struct {
	armed   atomic.Bool
	once    sync.Once
	entered chan struct{}
	open    chan struct{}
}

func newGate() *gate { return &gate{entered: make(chan struct{}), open: make(chan struct{})} }

func (g *gate) rule() llmtest.Rule {
	return llmtest.Rule{Purpose: llm.PurposeSummary, Func: func(r llm.Request) (string, error) {
		if g.armed.Load() {
			g.once.Do(func() { close(g.entered) })
			<-g.open
		}
		return "Summary of " + fenced(r), nil
	}}
}

// gated is a database with documents of a few topics whose summaries go through a gate.
func gated(t *testing.T) (*db.DB, *gate) {
	g := newGate()
	o := modelled(extracting(g.rule()), llmtest.NewEmbedder(64))
	o.Models.Embedder, o.LexicalDim = nil, 256
	d := openTest(t, o)
	insert(t, d, topical(24, 4)...)
	return d, g
}

// A load that comes while clusters are tended in the background is told about the store, not about work that nobody asked
// for.
func TestLoadBesideTending(t *testing.T) {
	d, g := gated(t)
	if _, err := d.BuildClusters(ctx, cluster.Options{K: 6}); err != nil {
		t.Fatal(err)
	}
	var dump strings.Builder
	if err := d.Dump(ctx, &dump, db.DumpOptions{}); err != nil {
		t.Fatal(err)
	}
	g.armed.Store(true)
	for _, doc := range topical(48, 4)[24:] { // half as many again make clusters outdated
		doc.ID = "more-" + doc.ID
		insert(t, d, doc)
	}
	<-g.entered
	if _, err := d.Load(ctx, strings.NewReader(dump.String())); !errors.Is(err, db.ErrNotEmpty) {
		t.Errorf("load beside tending: %v, want ErrNotEmpty", err)
	}
	close(g.open)
	// Clusters are no part of a dump: what is loaded has none, and can have its own.
	o := testOptions(nil)
	o.Models.Chat, o.Extractor, o.LexicalDim = extracting(), nil, 256
	loaded := openTest(t, o)
	if _, err := loaded.Load(ctx, strings.NewReader(dump.String())); err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Clusters(ctx); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("clusters of a loaded database: %v", err)
	}
	if rep, err := loaded.BuildClusters(ctx, cluster.Options{K: 6}); err != nil || rep.Chunks != 96 {
		t.Errorf("%d chunks, %v", rep.Chunks, err)
	}
}

// A build that ends early leaves the clusters that there were, whatever ends it.
func TestBuildEndsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(d *db.DB, cancel func()) error
		want error
	}{
		"cancelled": {func(_ *db.DB, cancel func()) error { cancel(); return nil }, context.Canceled},
		"dropped":   {func(d *db.DB, _ func()) error { return d.DropWorkspace(ctx, "") }, db.ErrDropped},
		"closed":    {nil, db.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			d, g := gated(t)
			first, err := d.BuildClusters(ctx, cluster.Options{K: 6, Summary: cluster.SummaryExtractive})
			if err != nil {
				t.Fatal(err)
			}
			g.armed.Store(true)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			built := make(chan error)
			go func() { _, err := d.BuildClusters(ctx, cluster.Options{K: 4}); built <- err }()
			<-g.entered
			closed := make(chan error, 1)
			if c.end == nil {
				checkDB(t, d)
				go func() { closed <- d.Close() }()
				for !errors.Is(d.View(t.Context(), func(*db.Tx) error { return nil }), db.ErrClosed) {
				}
			} else if err := c.end(d, cancel); err != nil {
				t.Fatal(err)
			}
			close(g.open)
			if err := <-built; !errors.Is(err, c.want) {
				t.Errorf("the build ended with %v, want %v", err, c.want)
			}
			switch now, err := d.Clusters(t.Context()); {
			case c.end == nil:
				if err := <-closed; err != nil {
					t.Error(err)
				}
			case name == "dropped":
				if !errors.Is(err, db.ErrNotFound) {
					t.Errorf("clusters of a dropped workspace: %v", err)
				}
			case err != nil || now.Generation != first.Generation || len(now.Clusters) != len(first.Clusters):
				t.Errorf("generation %d with %d clusters, %v", now.Generation, len(now.Clusters), err)
			}
		})
	}
}

// Clusters of another embedding model are not used, and can be built anew.
func TestReembedLeavesClustersBehind(t *testing.T) {
	old, next := llmtest.NewEmbedder(64), llmtest.NewEmbedder(48)
	next.SetID("m2")
	d := openTest(t, modelled(extracting(), old))
	insert(t, d, topical(12, 4)...)
	first, err := d.BuildClusters(ctx, cluster.Options{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reembed(ctx, db.ReembedOptions{Embedder: next}); err != nil {
		t.Fatal(err)
	}
	insert(t, d, topical(14, 4)[12:]...)
	route := query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1, Threshold: query.Some(-1.0)}
	if r := routedBy(t, d, "Which crane lifts cargo?", route).Routing; r.Used || r.Fallback != query.FallbackNoLayer {
		t.Errorf("routed by clusters of another model: %+v", r)
	}
	if rep, err := d.TendClusters(ctx); err != nil {
		t.Errorf("%+v, %v", rep, err)
	}
	checkDB(t, d)
	rep, err := d.BuildClusters(ctx, cluster.Options{K: 4})
	if err != nil || rep.Generation <= first.Generation || rep.Chunks != 56 || rep.Dim != 48 {
		t.Fatalf("generation %d of %d chunks in %d dimensions, %v", rep.Generation, rep.Chunks, rep.Dim, err)
	}
	if r := routedBy(t, d, "Which crane lifts cargo?", route).Routing; r.Fallback == query.FallbackNoLayer {
		t.Errorf("not routed by clusters of the present model: %+v", r)
	}
}

// Options out of range are told by name before anything is done; nothing is built in a database that is only read.
func TestBuildRefuses(t *testing.T) {
	fs := vfs.NewMem()
	d := openTest(t, testOptions(fs))
	for field, o := range map[string]cluster.Options{
		"Method": {Method: "magic"}, "K": {K: -1}, "Rounds": {Rounds: -1}, "Reduce": {Reduce: 1}, "Radius": {Radius: math.NaN()}, "Near": {Near: -2},
		"Replicas": {Replicas: 9}, "Epsilon": {Epsilon: math.Inf(1)}, "Summary": {Summary: "long"}, "Centroid": {Centroid: "median"},
		"Resolution": {Resolution: -1}, "Representatives": {Representatives: 51}, "Keywords": {Keywords: -1},
	} {
		var bad *cluster.OptionError
		if _, err := d.BuildClusters(ctx, o); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	insert(t, d, index.Document{ID: "one", Text: "E Mira Voss (repairs the bridge)"})
	rep, err := d.BuildClusters(ctx, cluster.Options{K: 1000})
	if err != nil || rep.Chunks != 1 || rep.Pays {
		t.Errorf("%+v, %v", rep, err)
	}
	closeChecked(t, d)
	o := testOptions(fs)
	o.ReadOnly = true
	d = openTest(t, o)
	for name, f := range map[string]func() error{
		"build": func() error { _, err := d.BuildClusters(ctx, cluster.Options{}); return err },
		"tend":  func() error { _, err := d.TendClusters(ctx); return err },
		"tune":  func() error { _, err := d.TuneClusters(ctx, cluster.TuneOptions{}); return err },
		"drop":  func() error { return d.DropClusters(ctx) },
	} {
		if err := f(); !errors.Is(err, db.ErrReadOnly) {
			t.Errorf("%s of a database that is only read: %v", name, err)
		}
	}
}
