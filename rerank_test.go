package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/rerank"
	"github.com/glimdb/db/query"
)

// lastFirst scores the documents it is sent by their place, the last one best.
func lastFirst(w http.ResponseWriter, r *http.Request) {
	var body struct{ Documents []string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	var results []string
	for i := range body.Documents {
		results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":%d}`, i, i))
	}
	llmtest.RespondJSON(200, `{"results":[`+strings.Join(results, ",")+`]}`)(w, r)
}

// rerankedBy opens a database whose reranker is a server, with three passages.
func rerankedBy(t *testing.T, handle http.HandlerFunc) (*db.DB, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, handle)
	o := testOptions(nil)
	var err error
	if o.Models.Reranker, err = rerank.New(rerank.Config{URL: srv.URL, Model: "tiny"}); err != nil {
		t.Fatal(err)
	}
	d := openTest(t, o)
	insert(t, d, doc("a", "The lamp of the harbour is old."), doc("b", "The lamp was repaired."), doc("c", "A lamp is a light."))
	return d, srv
}

func passages(r *query.Result) (ids []string) {
	for _, c := range r.Data.Chunks {
		ids = append(ids, c.Document)
	}
	return ids
}

// The reply of a reranker is not trusted: entries for passages that were not sent and second ones for a passage count
// for nothing, the order is that of the scores, the minimum holds, and a failure leaves the first order and is told.
func TestHC22_Reranker(t *testing.T) {
	fails := false
	d, _ := rerankedBy(t, func(w http.ResponseWriter, r *http.Request) {
		if fails {
			llmtest.RespondJSON(400, `{"error":"no"}`)(w, r)
			return
		}
		llmtest.RespondJSON(200, `{"results":[{"index":2,"relevance_score":0.10},{"index":0,"relevance_score":0.90},{"index":9,"relevance_score":0.80},`+
			`{"index":0,"relevance_score":0.20},{"index":1,"relevance_score":0.50}]}`)(w, r)
	})
	insert(t, d, doc("d", "The lamp is lit at night."))
	o := query.Options{Mode: query.Naive, ChunkTopK: 2, Want: query.WantContext, CosineThreshold: query.Some(-1.0)}
	all := o
	all.ChunkTopK, all.NoRerank = 4, true
	first := passages(ask(t, d, "lamp", all))
	if len(first) != 4 {
		t.Fatalf("%q are found, want all four", first)
	}
	for _, c := range []struct {
		name  string
		fails bool
		least float64
		want  []string
	}{
		{"keep 2", false, 0, first[:2]},
		{"minimum 0.6", false, .6, first[:1]},
		{"failure", true, .6, first[:2]},
	} {
		fails = c.fails
		o.MinRerankScore = query.Some(c.least)
		r := ask(t, d, "lamp", o)
		if got := passages(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q of %q", c.name, got, c.want, first)
		}
		told := slices.ContainsFunc(r.Fallbacks, func(f query.Fallback) bool { return f.Step == query.StepRerank })
		if told != c.fails {
			t.Errorf("%s: fallbacks %v", c.name, r.Fallbacks)
		}
	}
}

// A model behind HTTP orders the passages of a query, and the score decides before the number does.
func TestRerankerOverHTTP(t *testing.T) {
	d, srv := rerankedBy(t, lastFirst)
	ask := func(o query.Options) *query.Result {
		t.Helper()
		o.Mode = query.Naive
		r, err := d.Query(ctx, "lamp", o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain := passages(ask(query.Options{NoRerank: true}))
	if len(plain) != 3 || len(srv.Requests()) != 0 {
		t.Fatalf("%v, %d requests", plain, len(srv.Requests()))
	}
	slices.Reverse(plain)
	r := ask(query.Options{})
	if !slices.Equal(passages(r), plain) || len(r.Fallbacks) != 0 || r.Data.Chunks[0].RerankScore.Or(-1) != 2 {
		t.Errorf("%v, want %v; fallbacks %v", passages(r), plain, r.Fallbacks)
	}
	r = ask(query.Options{ChunkTopK: 2, MinRerankScore: query.Some(0.5)}) // of two, scored 0 and 1
	if n := r.Counts.Chunks; !slices.Equal(passages(r), plain[1:2]) || n.Reranked != 2 || n.AboveScore != 1 || n.WithinTopK != 1 {
		t.Errorf("%v, counts %+v", passages(r), n)
	}
	if u := d.Models().Reranker; !strings.HasPrefix(u, "rerank/tiny@") {
		t.Errorf("reranker %q", u)
	}
}

// A reranker that fails costs the question nothing but the order, and is told with what it said.
func TestRerankerThatFails(t *testing.T) {
	for _, c := range []struct {
		name     string
		handle   http.HandlerFunc
		requests int
		status   int
	}{
		{"down", llmtest.WithHeader("Retry-After-Ms", "1", llmtest.Respond(503, "text/html", "<title>busy</title>")), 3, 503},
		{"away for long", llmtest.WithHeader("Retry-After", "600", llmtest.RespondJSON(429, `{"message":"quota"}`)), 1, 429},
		{"refuses", llmtest.RespondJSON(401, `{"message":"no such key"}`), 1, 401},
		{"page", llmtest.Respond(200, "text/html", "<title>Sign in</title>"), 1, 200},
		{"nonsense", llmtest.RespondJSON(200, `{"results":[{"index":17,"relevance_score":1}]}`), 1, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, srv := rerankedBy(t, c.handle)
			r, err := d.Query(ctx, "lamp", query.Options{Mode: query.Naive, MinRerankScore: query.Some(0.9)})
			if err != nil || r.Outcome != query.OutcomeOK || len(r.Data.Chunks) != 3 || len(r.Fallbacks) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			f := r.Fallbacks[0]
			up, isUp := errors.AsType[*query.UpstreamError](f.Err)
			call, isCall := errors.AsType[*llm.Error](f.Err)
			if f.Step != query.StepRerank || f.To != "none" || f.Why == "" || !isUp || up.Step != query.StepRerank || !isCall || call.Status != c.status {
				t.Errorf("%+v", f)
			}
			if n := len(srv.Requests()); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}

// The deadline of a question holds for its reranker: a wait past it is not begun.
func TestRerankerUnderADeadline(t *testing.T) {
	d, _ := rerankedBy(t, llmtest.WithHeader("Retry-After", "60", llmtest.RespondJSON(503, `{}`)))
	within, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := d.Query(within, "lamp", query.Options{Mode: query.Naive})
	if err != nil || len(r.Data.Chunks) != 3 || len(r.Fallbacks) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
