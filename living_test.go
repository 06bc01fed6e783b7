package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// Insert and Put process what they put in, so where they may wait for room they make it, instead of waiting for
// somebody who never comes.
func TestInsertMakesRoom(t *testing.T) {
	t.Parallel()
	o := testOptions(nil)
	o.Index.MaxPending, o.Index.WaitWhenFull = 2, true
	d := openTest(t, o)
	if _, err := d.Enqueue(ctx, index.Insert, doc("left", "E Left (behind)"), doc("too", "E Left (too)")); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if _, err := d.Insert(ctx, doc(fmt.Sprint(i), fmt.Sprintf("E Hub (fact %d)", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if e := entity(t, d, "Hub"); e == nil || e.SourceCount != 8 || entity(t, d, "Left") == nil {
		t.Errorf("Hub is %+v", e)
	}
	if _, err := d.Insert(ctx, doc("x", "x"), doc("y", "y"), doc("z", "z")); !errors.Is(err, db.ErrQueueFull) {
		t.Errorf("more than may ever wait: %v", err)
	}
}

// A worker in the background ends with the database.
func TestFollowEndsWithTheDatabase(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	done, ended := make(chan error), make(chan struct{})
	go func() {
		_, err := d.Process(context.Background(), index.ProcessOptions{Follow: true, Progress: func(p index.Progress) {
			if p.Stage == index.StageDone {
				close(ended)
			}
		}})
		done <- err
	}()
	if _, err := d.Enqueue(ctx, index.Put, doc("a", "E Ada (counts)")); err != nil {
		t.Fatal(err)
	}
	<-ended
	closeChecked(t, d)
	if err := <-done; !errors.Is(err, db.ErrClosed) {
		t.Errorf("the worker ended with %v", err)
	}
}

// A job's documents are found and deleted by its track, or by what their metadata say, after a dump as well.
func TestLivingDocuments(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	_, err := d.Insert(ctx,
		index.Document{ID: "a", Text: "E Ada (counts)", Track: "job 7", Metadata: map[string]any{"year": 1843, "tags": []string{"maths", "notes"}}},
		index.Document{ID: "b", Text: "E Bob (sings)", Track: "job 7", Metadata: map[string]any{"year": 1843.5}},
		index.Document{ID: "c", Text: "E Cole (sails)", Metadata: map[string]any{"tags": []string{"notes"}}})
	if err != nil {
		t.Fatal(err)
	}
	copied := openTest(t, testOptions(nil))
	if _, err := copied.Load(ctx, strings.NewReader(dumpOf(t, d, db.DumpOptions{}))); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*db.DB{d, copied} {
		ids := func(f index.Filter) (out []string) {
			for i, err := range d.Documents(ctx, f) {
				if err != nil {
					t.Fatal(err)
				}
				if !i.CreatedAt.Equal(clock()) || !i.UpdatedAt.Equal(clock()) {
					t.Errorf("%s was created %v, updated %v", i.ID, i.CreatedAt, i.UpdatedAt)
				}
				out = append(out, i.ID)
			}
			return out
		}
		for _, c := range []struct {
			f    index.Filter
			want []string
		}{
			{index.Filter{Track: "job 7"}, []string{"a", "b"}},
			{index.Filter{Metadata: map[string]any{"tags": "notes"}}, []string{"a", "c"}},
			{index.Filter{Metadata: map[string]any{"year": 1843}}, []string{"a"}},
		} {
			if got := ids(c.f); !slices.Equal(got, c.want) {
				t.Errorf("%+v selects %q, want %q", c.f, got, c.want)
			}
		}
		if r, err := d.DeleteMatching(ctx, index.Filter{Track: "job 7"}); err != nil || r.Documents != 2 || r.Entities != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err := d.DeleteMatching(ctx, index.Filter{Metadata: map[string]any{"tags": "notes"}}); err != nil || r.Documents != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		equalDumps(t, logical(t, d), logical(t, openTest(t, testOptions(nil))))
	}
}
