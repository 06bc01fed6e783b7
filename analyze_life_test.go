package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph/analytics"
)

// ring is a document of n entities in a ring.
func ring(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "E N%d\nR N%d - N%d\n", i, i, (i+1)%n)
	}
	return text.String()
}

// TestAnalysisBelongsToItsWorkspace: names of one workspace's graph mean other things in another.
func TestAnalysisBelongsToItsWorkspace(t *testing.T) {
	d := openTest(t, testOptions(nil))
	here, there := workspace(t, d, "here"), workspace(t, d, "there")
	insert(t, here, doc("ring", ring(5)))
	insert(t, there, doc("ring", ring(5)))
	a := analyze(t, here, db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Degree}})
	for name, w := range map[string]*db.DB{"another": there, "the default": d} {
		if _, err := w.SaveAnalysis(ctx, a, ""); !errors.Is(err, db.ErrOption) {
			t.Errorf("saved in %s workspace: %v", name, err)
		}
	}
	if s, err := workspace(t, d, "here").SaveAnalysis(ctx, a, ""); err != nil || s.Saved != 5 {
		t.Errorf("through another handle: %+v, %v", s, err)
	}
}

// TestAnalyzeWhileOthersDropAndClose: an analysis sees one commit, a whole graph or none; a drop of its
// workspace ends it with ErrDropped, Close with ErrClosed.
func TestAnalyzeWhileOthersDropAndClose(t *testing.T) {
	d, err := db.Open("glim.db", db.WithOptions(testOptions(nil)))
	if err != nil {
		t.Fatal(err)
	}
	const nodes = 60
	w := workspace(t, d, "w")
	insert(t, w, doc("ring", ring(nodes)))
	var calls, begun sync.WaitGroup
	for i := range 3 {
		begun.Add(1)
		calls.Go(func() {
			for round := 0; ; round++ {
				a, err := w.Analyze(ctx, db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Leiden, Seed: uint64(round)}})
				if round == 0 {
					begun.Done()
				}
				switch {
				case errors.Is(err, db.ErrClosed):
					return
				case errors.Is(err, db.ErrDropped):
				case err != nil:
					t.Errorf("%d: %v", i, err)
					return
				case a.Nodes != 0 && (a.Nodes != nodes || a.Edges != nodes || len(a.Groups.Of) != nodes):
					t.Errorf("%d: %d nodes, %d edges", i, a.Nodes, a.Edges)
				}
			}
		})
	}
	begun.Wait()
	for range 5 {
		if err := d.DropWorkspace(ctx, "w"); err != nil {
			t.Error(err)
		}
		insert(t, w, doc("ring", ring(nodes)))
	}
	for p, err := range d.Check(ctx) {
		t.Error(p, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
}
