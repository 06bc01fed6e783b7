package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/index"
)

// order processes with one worker and returns the documents in the order in which they ended.
func (s *store) order(o index.ProcessOptions) (ids []string) {
	s.t.Helper()
	o.Workers = 1
	o.Progress = func(p index.Progress) {
		if p.Stage == index.StageDone || p.Stage == index.StageFailed {
			ids = append(ids, p.Document)
		}
	}
	if _, err := s.Process(context.Background(), o); err != nil {
		s.t.Fatal(err)
	}
	return ids
}

// TestPriorities: higher ones first, equal ones in order of enqueue, also of those that come meanwhile, are given again
// or are put back; what is stored does not depend on it.
func TestPriorities(t *testing.T) {
	with := func(id string, priority int8) index.Document {
		d := doc(id, "E Hub|t|"+id)
		d.Priority = priority
		return d
	}
	s := newStore(t, index.Options{Workers: 1})
	s.enqueue(index.Insert, with("a", 0), with("b", -128), with("c", 127), with("d", 0), with("e", 1), with("f", 0))
	s.enqueue(index.Insert, with("f", 5)) // the same text: moved
	s.enqueue(index.Put, with("d", 0))
	late := false
	s.extract.before = func(_ context.Context, text string) error {
		if text == "E Hub|t|e" && !late {
			late = true
			s.enqueue(index.Insert, with("low", -1), with("late", 9), with("later", 9))
		}
		if text == "E Hub|t|a" {
			return errors.New("no")
		}
		return nil
	}
	if got := s.order(index.ProcessOptions{}); !slices.Equal(got, []string{"c", "f", "e", "late", "later", "a", "d", "low", "b"}) {
		t.Errorf("order %q", got)
	}
	if i := s.info("f"); i.Priority != 5 {
		t.Errorf("f has priority %d", i.Priority)
	}
	s.extract.before = nil
	s.enqueue(index.Put, with("g", -1))
	if _, err := s.Retry(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := s.order(index.ProcessOptions{IDs: []string{"g", "a", "a", "nobody", "c"}}); !slices.Equal(got, []string{"a", "g"}) {
		t.Errorf("order of given ids %q", got)
	}
	plain := newStore(t, index.Options{})
	for _, id := range strings.Fields("a b c d e f low late later g") {
		plain.enqueue(index.Insert, doc(id, "E Hub|t|"+id))
	}
	plain.process()
	if d := diff(s.dump(), plain.dump()); d != "" {
		t.Errorf("priorities changed what is stored:\n%s", d)
	}
}

// TestPriorityOfADump: what waits keeps its place.
func TestPriorityOfADump(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("x", "E A|t|a."))
	for i, id := range []string{"low", "high"} {
		d := doc(id, "E A|t|"+id)
		d.Priority = int8(10*i - 5)
		s.enqueue(index.Insert, d)
	}
	c := newStore(t, index.Options{})
	s.copyTo(c)
	if got := c.order(index.ProcessOptions{}); !slices.Equal(got, []string{"high", "low"}) {
		t.Errorf("order after a dump: %q", got)
	}
}

// TestArrivals: a running call works on everything that is put into the queue before it ends, however it comes there.
func TestArrivals(t *testing.T) {
	s := newStore(t, index.Options{Workers: 2})
	other := s.pipeline(s.log) // puts in without telling: only what is read later is seen
	for i := range 300 {       // more than a page
		s.enqueue(index.Insert, doc(fmt.Sprintf("d%03d", i), fmt.Sprintf("E N%d|t|d.", i)))
	}
	var mu sync.Mutex
	more := 0
	s.extract.before = func(_ context.Context, text string) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case text == "E N7|t|d." && more == 0:
			more++
			return errors.New("no")
		case text == "E N9|t|d.":
			if _, err := s.Retry(context.Background(), "d007"); err != nil {
				t.Error(err)
			}
		case text == "E N299|t|d.": // the last
			s.enqueue(index.Put, doc("d000", "E N0|t|again."), doc("new", "E N|t|n."))
			if _, err := other.Enqueue(context.Background(), []index.Document{doc("quiet", "E Q|t|q.")}, index.Put); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	s.process()
	for _, id := range []string{"d007", "d000", "new", "quiet"} {
		if i := s.info(id); i.Status != "processed" {
			t.Errorf("%s is %s (%s)", id, i.Status, i.Error)
		}
	}
	if e := s.entity("N0"); e.Description != "again." {
		t.Errorf("N0 is %+v", e)
	}
}

// TestFollow: a worker in the background takes whatever comes, and ends with its context.
func TestFollow(t *testing.T) {
	s := newStore(t, index.Options{MaxPending: 3, WaitWhenFull: true})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ended := make(chan string, 100)
	go func() {
		_, err := s.Process(ctx, index.ProcessOptions{Follow: true, Progress: func(p index.Progress) {
			if p.Stage == index.StageDone {
				ended <- p.Document
			}
		}})
		done <- err
	}()
	const producers, each = 4, 10
	var group sync.WaitGroup
	for p := range producers {
		group.Go(func() {
			for i := range each {
				d := doc(fmt.Sprintf("%d-%d", p, i), fmt.Sprintf("E Hub|t|%d of %d", i, p))
				d.Priority = int8(rand.IntN(3))
				if _, err := s.Enqueue(context.Background(), []index.Document{d}, index.Insert); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	seen := make(map[string]bool)
	for range producers * each {
		seen[<-ended] = true
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || len(seen) != producers*each {
		t.Errorf("%d documents, %v", len(seen), err)
	}
	if e := s.entity("Hub"); e.SourceCount != producers*each {
		t.Errorf("Hub is %+v", e)
	}
	if _, err := s.Process(context.Background(), index.ProcessOptions{Follow: true, IDs: []string{"0-0"}}); err != nil {
		t.Errorf("given ids are not followed: %v", err)
	}
}

// TestQueueFull: documents above the limit are refused, as a whole and without a trace, until others are done.
func TestQueueFull(t *testing.T) {
	s := newStore(t, index.Options{MaxPending: 2})
	s.enqueue(index.Insert, doc("a", "E A|t|a."), doc("b", "E B|t|b."))
	before := s.dump()
	refused := func(want index.QueueFullError, docs ...index.Document) {
		t.Helper()
		_, err := s.Enqueue(context.Background(), docs, index.Put)
		if full, ok := errors.AsType[*index.QueueFullError](err); !ok || !errors.Is(err, index.ErrQueueFull) || *full != want {
			t.Errorf("error %v, want %v", err, &want)
		}
	}
	refused(index.QueueFullError{Waiting: 2, Adding: 1, Limit: 2}, doc("c", "E C|t|c."))
	refused(index.QueueFullError{Waiting: 2, Adding: 2, Limit: 2}, doc("c", "E C|t|c."), doc("a", "E A|t|anew."), doc("d", "E D|t|d."))
	if d := diff(s.dump(), before); d != "" {
		t.Errorf("a refused call left\n%s", d)
	}
	s.enqueue(index.Put, doc("a", "E A|t|anew."), doc("b", "E B|t|b.")) // they wait already
	s.process()
	s.enqueue(index.Put, doc("a", "E A|t|anew."), doc("c", "E C|t|c."), doc("d", "E D|t|d.")) // one is unchanged
	s.delete("c")
	s.enqueue(index.Put, doc("e", "broken"))
	s.extract.before = func(_ context.Context, text string) error {
		if text == "broken" {
			return errors.New("no")
		}
		return nil
	}
	s.process() // what failed does not wait
	refused(index.QueueFullError{Waiting: 0, Adding: 3, Limit: 2}, doc("f", "f"), doc("g", "g"), doc("h", "h"))
	s.enqueue(index.Put, doc("f", "f"), doc("g", "g"))
	if w, err := s.Retry(context.Background()); err != nil || len(w) != 1 {
		t.Errorf("retry of what was let in before: %q, %v", w, err)
	}
	s.process()
}

// TestWaitForRoom: with the option a call waits for others to be done, deleted or failed, or for its context.
func TestWaitForRoom(t *testing.T) {
	s := newStore(t, index.Options{MaxPending: 1, WaitWhenFull: true})
	s.extract.before = func(context.Context, string) error { return errors.New("no") }
	for name, free := range map[string]func(){
		"failed":  func() { s.process() },
		"deleted": func() { s.delete("a") },
	} {
		s.enqueue(index.Put, doc("a", "E A|t|"+name))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := s.Enqueue(ctx, []index.Document{doc("b", "E B|t|b.")}, index.Put); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: with an ended context: %v", name, err)
		}
		if _, err := s.Offer(context.Background(), []index.Document{doc("b", "E B|t|b.")}, index.Put); !errors.Is(err, index.ErrQueueFull) {
			t.Errorf("%s: Offer waited: %v", name, err)
		}
		if _, err := s.Enqueue(context.Background(), []index.Document{doc("b", "b"), doc("c", "c")}, index.Put); !errors.Is(err, index.ErrQueueFull) {
			t.Errorf("%s: what never fits: %v", name, err)
		}
		began := make(chan struct{})
		s.hook = func(kind string) {
			if kind == "enqueue" {
				s.hook = nil
				close(began)
			}
		}
		done := make(chan error)
		go func() {
			_, err := s.Enqueue(context.Background(), []index.Document{doc("b", "E B|t|"+name)}, index.Put)
			done <- err
		}()
		<-began
		free()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.delete("b")
	}
}
