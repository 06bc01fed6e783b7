package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glimdb/db/llm/llmtest"
)

// TestChunksBeyondContext: what the context has no room for stays in the data, marked, after what it shows; its
// documents are numbered after those that the context cites, and the answer may not cite them.
func TestChunksBeyondContext(t *testing.T) {
	s := newStore(t, testDim)
	s.emb.Set(question, at(axisQuestion, 1, axisNone)...)
	s.commit(func(w *writer) {
		for i := range 6 {
			text := fmt.Sprintf("chunk%d %s", i, strings.Repeat("word ", 200))
			w.chunk(fmt.Sprint("doc", i), 0, fmt.Sprintf("%d.txt", i/2), text, at(axisQuestion, .9-float64(i)/20, axisNone))
		}
	})
	_, configure := answering(llmtest.Rule{Text: "As [1] says, and [3]."})
	e := s.engine(configure)
	o := Options{Mode: Naive, Budget: Budget{Total: 2200}}
	r := ask(t, e, question, o)
	kept := inContext(r)
	if len(r.Data.Chunks) != 6 || kept < 2 || kept > 4 || r.Counts.Chunks.Kept != kept || r.Counts.Chunks.Dropped() != 6-kept || !hasReason(r, ReasonChunksCut) {
		t.Fatalf("%d chunks, %d in the context, counts %+v, reasons %v", len(r.Data.Chunks), kept, r.Counts.Chunks, r.Reasons)
	}
	for i, c := range r.Data.Chunks {
		if got := strings.Contains(r.Context, fmt.Sprintf("chunk%d ", i)); got != c.InContext {
			t.Errorf("chunk %d: in the context %v, marked %v", i, got, c.InContext)
		}
		if want := fmt.Sprint(i/2 + 1); c.Reference != want {
			t.Errorf("chunk %d has reference %q, want %q", i, c.Reference, want)
		}
	}
	if last := r.Data.References[2]; len(r.Data.References) != 3 || last.InContext != 0 || last.Chunks != 2 || strings.Contains(r.Context, "2.txt") {
		t.Errorf("references %+v", r.Data.References)
	}
	if got := strings.Join(r.Reply.UnknownCitations, " "); got != "3" {
		t.Errorf("unknown citations %q, want 3: the model has not seen that document", got)
	}
	if r.Tokens.Total() > 2200 {
		t.Errorf("%d tokens of 2200", r.Tokens.Total())
	}
	// No room at all: without a reader of the context the data is the result.
	o.Budget.Total = 1
	for _, c := range []struct {
		want Want
		e    *Engine
		out  Outcome
	}{{WantData, e, OutcomeOK}, {WantDefault, s.engine(), OutcomeOK}, {WantDefault, e, OutcomeEmptyAfterFilter}, {WantContext, s.engine(), OutcomeEmptyAfterFilter}} {
		o.Want = c.want
		if r := ask(t, c.e, question, o); r.Outcome != c.out || len(r.Data.Chunks) != 6 || inContext(r) != 0 || r.Context != "" {
			t.Errorf("want %q: outcome %q, %d chunks, %d in the context", c.want, r.Outcome, len(r.Data.Chunks), inContext(r))
		}
	}
}
