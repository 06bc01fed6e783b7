package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// wide is a document of n chunks that speak of entities of their own.
func wide(id string, n int) index.Document {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("E %s %d|thing|%s", id, i, strings.Repeat("what it is ", 10))
	}
	return doc(id, lines...)
}

// A document that cannot fit one commit is refused as soon as that is certain: its further chunks are not
// extracted, nothing is embedded, and the error has the sizes.
func TestTooLargeIsRefusedEarly(t *testing.T) {
	for name, c := range map[string]struct {
		limit    int
		extracts func(n int) bool
	}{
		"by its records":                   {2_000, func(n int) bool { return n >= 5 && n < 40 }},
		"by its records and their vectors": {18_000, func(n int) bool { return n == 100 }}, // 156 bytes a record, 32 a vector
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{ChunkWorkers: 1})
			s.put(doc("small", "E A|t|first"))
			s.LimitCommit(c.limit)
			asked, embedded := s.extract.calls(), s.embed.calls()
			var cause error
			if _, err := s.Enqueue(context.Background(), []index.Document{wide("big", 100)}, index.Insert); err != nil {
				t.Fatal(err)
			}
			sum, err := s.Process(context.Background(), index.ProcessOptions{Progress: func(p index.Progress) {
				if p.Stage == index.StageFailed {
					cause = p.Err
				}
			}})
			if err != nil || sum.Failed != 1 {
				t.Fatalf("%+v, %v", sum, err)
			}
			var large *index.TooLargeError
			if !errors.As(cause, &large) || !errors.Is(cause, kv.ErrTooLarge) || large.Needs <= c.limit || large.Limit != c.limit || large.Bytes == 0 {
				t.Errorf("error %#v", cause)
			}
			if n := s.extract.calls() - asked; !c.extracts(n) {
				t.Errorf("%d chunks were extracted", n)
			}
			if n := s.embed.calls() - embedded; n != 0 {
				t.Errorf("%d texts were embedded", n)
			}
			if i := s.info("big"); i.Status != "failed" || !strings.Contains(i.Error, fmt.Sprint(large.Needs)) || i.Visible {
				t.Errorf("status %+v", i)
			}
			s.put(doc("small too", "E B|t|second"))
			s.LimitCommit(kv.MaxBatchBytes)
			if _, err := s.Retry(context.Background()); err != nil {
				t.Fatal(err)
			}
			if s.process(); s.info("big").Status != "processed" {
				t.Errorf("status %+v", s.info("big"))
			}
		})
	}
}

// A commit that turns out larger than the bounds foretold is refused all the same, and leaves nothing.
func TestTooLargeIsRefusedAtLast(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("small", "E A|t|first"))
	before := s.dump()
	var text strings.Builder // that does not compress
	for rng := rand.New(rand.NewPCG(1, 2)); text.Len() < 6_000; {
		fmt.Fprintf(&text, "%x ", rng.Uint64())
	}
	s.enqueue(index.Insert, index.Document{ID: "big", Text: text.String()})
	s.LimitCommit(3_000)
	s.process()
	if i := s.info("big"); i.Status != "failed" || !strings.Contains(i.Error, "than one commit holds, 3000") || i.Visible {
		t.Errorf("status %+v", i)
	}
	s.delete("big")
	if d := diff(s.dump(), before); d != "" {
		t.Error(d)
	}
}
