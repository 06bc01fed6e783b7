package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// oddStores are stores on which clustering is known to fail elsewhere.
func oddStores() map[string][]index.Document {
	nodes := func(n int, text func(i int) string) (out []index.Document) {
		for i := range n {
			out = append(out, index.Document{ID: fmt.Sprintf("d%02d", i), Text: text(i)})
		}
		return out
	}
	return map[string][]index.Document{
		"empty":         nil,
		"one node":      nodes(1, func(int) string { return "E Mira Voss (repairs the bridge)" }),
		"without edges": nodes(40, func(i int) string { return fmt.Sprintf("E Ship %d (sails to port %d)", i, i%7) }),
		"two components": nodes(40, func(i int) string {
			what, of := "mill", i
			if i >= 20 {
				what, of = "light", i-20
			}
			return fmt.Sprintf("R The %s %d - The %s %d (stands beside the %s)", what, of, what, (of+1)%20, what)
		}),
		"same vectors": {{ID: "same", Text: strings.TrimSpace(strings.Repeat("E Tide Mill (grinds barley)\n\n", 50))}},
	}
}

// Clusters of odd stores: found in no time, the same each time, and of no influence on so few chunks.
func TestHC25_ClusteringOddGraphs(t *testing.T) {
	for name, docs := range oddStores() {
		t.Run(name, func(t *testing.T) {
			for _, method := range []cluster.Method{cluster.KMeans, cluster.DBSCAN, cluster.Communities, cluster.Hierarchical} {
				t.Run(string(method), func(t *testing.T) { clusterOdd(t, docs, method) })
			}
		})
	}
}

func clusterOdd(t *testing.T, docs []index.Document, method cluster.Method) {
	o := testOptions(nil)
	o.Index.Chunker = paragraphs()
	d := openTest(t, o)
	if len(docs) > 0 {
		insert(t, d, docs...)
	}
	const question = "What stands beside the mill?"
	exhaustive := routedBy(t, d, question, query.RoutingOptions{})
	var first string
	for range 2 {
		before := d.LSN()
		rep, err := d.BuildClusters(ctx, cluster.Options{Seed: 7, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Data != before {
			t.Errorf("made from commit %d, want %d", rep.Data, before)
		}
		if got := described(t, rep); first == "" {
			first = got
		} else if got != first {
			t.Errorf("a second build with the same seed differs:\n%s\n%s", first, got)
		}
		checkAssignment(t, d, rep)
		for _, mode := range []query.Routing{query.RoutingVector, query.RoutingKeyword, query.RoutingHybrid, query.RoutingAuto} {
			for _, least := range []int{0, 1} {
				r := routedBy(t, d, question, query.RoutingOptions{Mode: mode, MinChunks: least})
				if len(docs) > 0 && r.Routing == nil {
					t.Fatalf("%s: the result does not tell about routing", mode)
				}
				if r.Routing != nil && r.Routing.Used && (least == 0 || r.Routing.Generation != rep.Generation || r.Routing.Data != rep.Data) {
					t.Errorf("%s: %+v", mode, r.Routing)
				}
				if least == 0 && chunkList(r) != chunkList(exhaustive) {
					t.Errorf("%s: chunks %s, want %s", mode, chunkList(r), chunkList(exhaustive))
				}
			}
		}
	}
}

func routedBy(t *testing.T, d *db.DB, question string, o query.RoutingOptions) *query.Result {
	t.Helper()
	r, err := d.Query(ctx, question, query.Options{Mode: query.Naive, Want: query.WantData, Routing: o, CosineThreshold: query.Some(-1.0), ChunkTopK: 10, NoRerank: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func chunkList(r *query.Result) string {
	var ids []string
	for _, c := range r.Data.Chunks {
		ids = append(ids, fmt.Sprint(c.ID, " ", c.Found[0].Score.Or(0)))
	}
	return strings.Join(ids, ", ")
}

// described is what a build must find again.
func described(t *testing.T, rep cluster.Report) string {
	t.Helper()
	b, err := json.Marshal([]any{rep.Clusters, rep.Quality, rep.Limits}) // fails for a NaN
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkAssignment holds that each chunk is in one cluster, or is always searched.
func checkAssignment(t *testing.T, d *db.DB, rep cluster.Report) {
	t.Helper()
	s, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, c := range rep.Clusters {
		ids, err := d.ClusterMembers(ctx, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s is in two clusters", id)
			}
			seen[id] = true
		}
	}
	if len(seen)+rep.Always != s.Chunks {
		t.Errorf("%d chunks in clusters, %d in none, %d there are", len(seen), rep.Always, s.Chunks)
	}
}

// topical are documents about a few subjects, with a paragraph a chunk.
func topical(docs, paras int) (out []index.Document) {
	subjects := []string{"harbour ships cargo crane pilot", "bakery bread oven flour yeast", "orchard apples pruning grafting cider", "lighthouse lamp lens keeper fog", "railway signal track locomotive timetable",
		"theatre stage curtain actor applause", "garden spade seed hedge lawn", "school chalk pupil lesson slate", "hospital nurse ward fever bandage",
		"market stall butter scales coin", "quarry stone chisel cart dust", "brewery malt hops barrel yeast"}
	for i := range docs {
		words := strings.Fields(subjects[i%len(subjects)])
		var b strings.Builder
		for p := range paras {
			b.WriteString("Here ")
			for w := range 12 {
				fmt.Fprintf(&b, "%s ", words[(w*(p+2)+i)%len(words)])
			}
			fmt.Fprintf(&b, "number%d.\n\n", i*paras+p)
		}
		out = append(out, index.Document{ID: fmt.Sprintf("doc%03d", i), Text: b.String()})
	}
	return out
}

func topicalDB(t *testing.T) *db.DB {
	t.Helper()
	o := testOptions(nil)
	o.Index.Chunker, o.LexicalDim = paragraphs(), 256
	d := openTest(t, o)
	insert(t, d, topical(48, 8)...)
	return d
}

func TestRoutingFindsWhatExhaustiveSearchFinds(t *testing.T) {
	d := topicalDB(t)
	rep, err := d.BuildClusters(ctx, cluster.Options{K: 12})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Pays || len(rep.Clusters) != 12 || rep.Quality.Recall < 0.95 {
		t.Fatalf("%d clusters, quality %+v", len(rep.Clusters), rep.Quality)
	}
	for _, question := range []string{"Which crane lifts the cargo of ships?", "How hot is the oven for bread?", "When is pruning of apples?"} {
		want := routedBy(t, d, question, query.RoutingOptions{})
		for _, o := range []query.RoutingOptions{{Mode: query.RoutingVector}, {Mode: query.RoutingKeyword}, {Mode: query.RoutingAuto},
			{Mode: query.RoutingHybrid}, {Mode: query.RoutingHybrid, Fuse: query.FuseWeighted}, {Mode: query.RoutingHybrid, Fuse: query.FuseRRF}} {
			o.MinChunks = 1
			got := routedBy(t, d, question, o)
			r := got.Routing
			if !r.Used || r.Fallback != "" || len(r.Clusters) == 0 || r.Scanned >= r.Total || r.Total != 384 {
				t.Errorf("%s %s: %+v", o.Mode, o.Fuse, r)
			}
			if chunkList(got) != chunkList(want) {
				t.Errorf("%s %s, %q: %s, want %s", o.Mode, o.Fuse, question, chunkList(got), chunkList(want))
			}
			var b strings.Builder
			if err := got.Explain(&b); err != nil || !strings.Contains(b.String(), "route") {
				t.Errorf("explained without the route: %s %v", b.String(), err)
			}
		}
	}
	// Routing in mix leaves the graph's part alone.
	o := query.Options{Mode: query.Mix, Want: query.WantData, Routing: query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}}
	if r, err := d.Query(ctx, "Which crane lifts cargo?", o); err != nil || r.Routing == nil || !r.Routing.Used {
		t.Errorf("mix: %+v, %v", r, err)
	}
	// A filter holds within the clusters.
	o = query.Options{Mode: query.Naive, Want: query.WantData, CosineThreshold: query.Some(-1.0), ChunkTopK: 4, Filter: query.Filter{IDPrefix: "doc00"}, Routing: query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}}
	r, err := d.Query(ctx, "Which crane lifts cargo?", o)
	if err != nil || r.Routing.Fallback != query.FallbackNarrow {
		t.Errorf("a narrow filter: %+v, %v", r.Routing, err)
	}
}

// Each cause for which all chunks are searched after all, with what they then are.
func TestRoutingFallbacks(t *testing.T) {
	d := topicalDB(t)
	const question = "Which crane lifts the cargo of ships?"
	want := routedBy(t, d, question, query.RoutingOptions{})
	check := func(cause query.RouteFallback, o query.RoutingOptions) {
		t.Helper()
		got := routedBy(t, d, question, o)
		r := got.Routing
		if r.Used || r.Fallback != cause || r.Reason == "" || len(got.Fallbacks) != 1 || got.Fallbacks[0].Step != query.StepRoute {
			t.Errorf("want %s, got %+v, fallbacks %+v", cause, r, got.Fallbacks)
		}
		if chunkList(got) != chunkList(want) {
			t.Errorf("%s: %s, want %s", cause, chunkList(got), chunkList(want))
		}
	}
	vector := query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}
	check(query.FallbackNoLayer, vector)
	if _, err := d.Clusters(ctx); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("clusters that do not exist: %v", err)
	}
	if _, err := d.BuildClusters(ctx, cluster.Options{K: 10}); err != nil {
		t.Fatal(err)
	}
	if off := routedBy(t, d, question, query.RoutingOptions{Mode: query.RoutingOff}); chunkList(off) != chunkList(want) || off.Routing != nil {
		t.Errorf("off with clusters: %s, want %s; %+v", chunkList(off), chunkList(want), off.Routing)
	}
	with := func(f func(*query.RoutingOptions)) query.RoutingOptions {
		o := vector
		f(&o)
		return o
	}
	check(query.FallbackUncovered, with(func(o *query.RoutingOptions) { o.Threshold = query.Some(0.999) }))
	check(query.FallbackEven, with(func(o *query.RoutingOptions) { o.Slack, o.Clusters, o.MaxClusters = query.Some(2.0), 1, 3 }))
	check(query.FallbackSmall, with(func(o *query.RoutingOptions) { o.MinChunks = 0 }))
	keyword := query.RoutingOptions{Mode: query.RoutingKeyword, MinChunks: 1}
	if r := routedBy(t, d, "Quid est veritas?", keyword); r.Routing.Fallback != query.FallbackUncovered {
		t.Errorf("a question without a keyword: %+v", r.Routing)
	}
	o := query.Options{Mode: query.Naive, Want: query.WantData, CosineThreshold: query.Some(0.6), ChunkTopK: 200, Routing: vector}
	if r, err := d.Query(ctx, question, o); err != nil || r.Routing.Fallback != query.FallbackTooFew || !r.Routing.Widened || len(r.Routing.Clusters) == 0 {
		t.Errorf("fewer chunks than asked for: %+v, %v", r.Routing, err)
	}
	if err := d.DropClusters(ctx); err != nil {
		t.Fatal(err)
	}
	check(query.FallbackNoLayer, vector)
	if err := d.DropClusters(ctx); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
}

// One scattered collection: routing has to notice that it does not pay.
func TestRoutingAutoLeavesScatteredChunksAlone(t *testing.T) {
	o := testOptions(nil)
	o.Index.Chunker = paragraphs()
	d := openTest(t, o)
	var docs []index.Document
	for i := range 300 {
		docs = append(docs, index.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("%x %x %x %x", i*7919, i*104729, i*1299709, i*15485863)})
	}
	insert(t, d, docs...)
	rep, err := d.BuildClusters(ctx, cluster.Options{})
	if err != nil || rep.Pays {
		t.Fatalf("%+v, %v", rep.Quality, err)
	}
	if r := routedBy(t, d, "1eef", query.RoutingOptions{Mode: query.RoutingAuto, MinChunks: 1}); r.Routing.Fallback != query.FallbackNoGain {
		t.Errorf("%+v", r.Routing)
	}
}

// Summaries that a model writes are asked for once each, and again only for clusters that changed; a hypothetical answer
// is asked for once a question.
func TestClusterModels(t *testing.T) {
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeHypothesis, Text: "Loaves are baked in the oven with flour and yeast."})
	o := modelled(chat, llmtest.NewEmbedder(64))
	o.Models.Embedder = nil
	o.LexicalDim = 256
	d := openTest(t, o)
	insert(t, d, topical(24, 4)...)
	rep, err := d.BuildClusters(ctx, cluster.Options{K: 12})
	if err != nil {
		t.Fatal(err)
	}
	asked := chat.Count(llm.PurposeSummary)
	if asked == 0 || asked > 12 || !strings.HasPrefix(rep.Clusters[0].Summary, "Summary of ") || rep.Summarizer == "" {
		t.Fatalf("%d summaries asked for, by %s: %q", asked, rep.Summarizer, rep.Clusters[0].Summary)
	}
	if _, err := d.BuildClusters(ctx, cluster.Options{K: 12}); err != nil || chat.Count(llm.PurposeSummary) != asked {
		t.Errorf("the same clusters again: %d calls, %v", chat.Count(llm.PurposeSummary)-asked, err)
	}
	r := routedBy(t, d, "Who makes loaves?", query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1, HyDE: true, Threshold: query.Some(-1.0), Slack: query.Some(0.0), Clusters: 1, MaxClusters: 1})
	if len(r.Routing.Clusters) != 1 || !strings.Contains(r.Data.Chunks[0].Content, "bread") || chat.Count(llm.PurposeHypothesis) != 1 {
		t.Errorf("routed by a hypothesis to %+v, %d calls", r.Routing, chat.Count(llm.PurposeHypothesis))
	}
	for range 2 {
		routedBy(t, d, "Who makes loaves?", query.RoutingOptions{Mode: query.RoutingVector, HyDE: true})
	}
	if n := chat.Count(llm.PurposeHypothesis); n != 1 {
		t.Errorf("%d hypotheses for one question", n)
	}
	routedBy(t, d, "Who makes loaves?", query.RoutingOptions{Mode: query.RoutingOff, HyDE: true})
	if n := chat.Count(llm.PurposeHypothesis); n != 1 {
		t.Errorf("a hypothesis without routing")
	}
}

// Documents that come and go keep the clusters right, whatever tends them meanwhile; a reopened store and another embedding
// model find them as they are.
func TestClustersFollowDocuments(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Index.Chunker, o.LexicalDim = paragraphs(), 256
	d := openTest(t, o)
	docs := topical(60, 6)
	insert(t, d, docs[:30]...)
	if _, err := d.BuildClusters(ctx, cluster.Options{K: 12}); err != nil {
		t.Fatal(err)
	}
	before := logical(t, d)
	for _, doc := range docs[30:] {
		insert(t, d, doc)
	}
	var ids []string
	for _, doc := range docs[30:] {
		ids = append(ids, doc.ID)
	}
	checkDB(t, d)
	if _, err := d.TendClusters(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(ctx, ids...); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), before)
	closeChecked(t, d)
	o.ReadOnly = true
	d = openTest(t, o)
	i, err := d.Clusters(ctx)
	if err != nil || i.Chunks != 180 {
		t.Fatalf("%d chunks in clusters of the reopened store, %v", i.Chunks, err)
	}
	if r := routedBy(t, d, "How hot is the oven for bread?", query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}); !r.Routing.Used {
		t.Errorf("%+v", r.Routing)
	}
}
