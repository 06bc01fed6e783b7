package db_test

import (
	"runtime"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/query"
)

// Routed questions are watched where RecallSample says so, and Stats and Clusters tell what they find.
func TestRoutedRecall(t *testing.T) {
	const question = "Which loaves does the bakery bake of flour and yeast?"
	open := func(share float64) (d *db.DB, ask func() *cluster.Monitored) {
		o := testOptions(nil)
		o.Index.Chunker, o.LexicalDim, o.Vectors.RecallSample = paragraphs(), 256, share
		d = openTest(t, o)
		insert(t, d, topical(48, 8)...)
		if _, err := d.BuildClusters(ctx, cluster.Options{K: 12}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.TuneClusters(ctx, cluster.TuneOptions{Questions: []string{question}}); err != nil {
			t.Fatal(err)
		}
		return d, func() *cluster.Monitored {
			t.Helper()
			if res := routedBy(t, d, question, query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}); !res.Routing.Used {
				t.Fatalf("%+v", res.Routing)
			}
			s, err := d.Stats(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return s.Routing
		}
	}
	_, ask := open(0)
	for range 20 {
		if m := ask(); m != nil {
			t.Fatalf("watched without being asked to: %+v", m)
		}
	}
	d, ask := open(1)
	m := ask()
	for m == nil || m.Queries == 0 {
		m = ask()
		runtime.Gosched()
	}
	i, err := d.Clusters(ctx)
	if err != nil || i.Monitored == nil || i.Monitored.Recall < 0.5 || i.Monitored.Recall > 1 || m.Recall < 0.5 {
		t.Errorf("%+v, %+v, %v", i.Monitored, m, err)
	}
}
