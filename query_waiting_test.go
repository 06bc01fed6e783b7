package db_test

import (
	"slices"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// A query says how many documents its commit holds that it could not search.
func TestQueryCountsWaitingDocuments(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	waiting := func(mode query.Mode) int {
		t.Helper()
		res, err := d.Query(ctx, "Who counts?", query.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(res.Reasons, func(r query.Reason) bool { return r.Code == query.ReasonDocumentsWaiting })
		if i < 0 {
			return 0
		}
		return res.Reasons[i].Count
	}
	insert(t, d, doc("a", "E Ada (counts)"))
	if n := waiting(query.Mix); n != 0 {
		t.Errorf("%d documents wait, want none", n)
	}
	if _, err := d.Enqueue(ctx, index.Put, doc("a", "E Ada (counts again)"), doc("b", "E Bob (counts)")); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []query.Mode{query.Naive, query.Local, query.Global, query.Hybrid, query.Mix} {
		if n := waiting(mode); n != 2 {
			t.Errorf("%s: %d documents wait, want 2", mode, n)
		}
	}
	if _, err := d.Process(ctx, index.ProcessOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := waiting(query.Mix); n != 0 {
		t.Errorf("%d documents wait at the end", n)
	}
}
