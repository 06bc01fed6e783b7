package db_test

import (
	"errors"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// dropped ends the call of f, which waits for a model, by dropping its workspace.
func dropped(t *testing.T, purpose llm.Purpose, f func(d *db.DB) error) error {
	t.Helper()
	entered := make(chan struct{})
	chat := extracting(llmtest.Rule{Purpose: purpose, Contains: "held", Times: 1, Entered: entered, Gate: make(chan struct{})})
	d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	w := workspace(t, d, "w")
	insert(t, w, doc("a", "E Mira (mends)"))
	ended := make(chan error, 1)
	go func() { ended <- f(w) }()
	<-entered
	if err := d.DropWorkspace(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	if got := workspaces(t, d); len(got) != 0 {
		t.Errorf("after the drop there are %q", got)
	}
	equalDumps(t, logical(t, w), logical(t, d))
	insert(t, w, doc("a", "E Tom (paints)"))
	return err
}

// Calls that wait for a model when their workspace is dropped end, and write nothing into the one that comes after.
func TestDropEndsRunningCalls(t *testing.T) {
	for name, c := range map[string]struct {
		purpose llm.Purpose
		do      func(d *db.DB) error
	}{
		"insert": {llm.PurposeExtract, func(d *db.DB) error { _, err := d.Insert(ctx, doc("b", "E Ann (held)")); return err }},
		"put":    {llm.PurposeExtract, func(d *db.DB) error { _, err := d.Put(ctx, doc("a", "E Ann (held)")); return err }},
		"follow": {llm.PurposeExtract, func(d *db.DB) error {
			if _, err := d.Enqueue(ctx, index.Insert, doc("b", "E Ann (held)")); err != nil {
				return err
			}
			_, err := d.Process(ctx, index.ProcessOptions{Follow: true})
			return err
		}},
		"question": {llm.PurposeAnswer, func(d *db.DB) error {
			_, err := d.Query(ctx, "Who is held?", query.Options{Want: query.WantAnswer})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := dropped(t, c.purpose, c.do); !errors.Is(err, db.ErrDropped) || errors.Is(err, db.ErrClosed) {
				t.Errorf("got %v, want ErrDropped", err)
			}
		})
	}
}
