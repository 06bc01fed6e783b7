package llmtest_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
)

var errBoom = errors.New("boom")

func TestFakes(t *testing.T) {
	t.Run("chat", func(t *testing.T) { llmtest.TestChat(t, openFake) })
	t.Run("embedder", func(t *testing.T) {
		llmtest.TestEmbedder(t, func(*testing.T) llm.Embedder { return llmtest.NewEmbedder(16) })
	})
	t.Run("reranker", func(t *testing.T) {
		llmtest.TestReranker(t, func(*testing.T) llm.Reranker { return llmtest.NewReranker() })
	})
	for _, name := range token.Encodings() {
		t.Run(name, func(t *testing.T) {
			tok, err := token.New(name)
			if err != nil {
				t.Fatal(err)
			}
			llmtest.TestTokenizer(t, tok)
		})
	}
}

func openFake(_ *testing.T, s llmtest.Script) llm.Chat { return llmtest.Scripted(s) }

func ask(purpose llm.Purpose, subject, text string) llm.Request {
	return llm.Request{Purpose: purpose, Subject: subject, Messages: []llm.Message{{Role: llm.User, Content: text}}}
}

func TestRules(t *testing.T) {
	c := llmtest.NewChat(
		llmtest.Rule{Purpose: llm.PurposeExtract, Subject: "c2", Times: 1, Err: errBoom},
		llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "tide", Text: "E moon"},
		llmtest.Rule{Match: func(r llm.Request) bool { return r.JSON }, Func: func(r llm.Request) (string, error) { return "{}", nil }},
	)
	for _, step := range []struct {
		req  llm.Request
		text string
		err  error
	}{
		{ask(llm.PurposeExtract, "c1", "the tide"), "E moon", nil},
		{ask(llm.PurposeExtract, "c2", "the tide"), "", errBoom},
		{ask(llm.PurposeExtract, "c2", "the tide"), "E moon", nil},
		{llm.Request{JSON: true}, "{}", nil},
		{ask(llm.PurposeSummary, "moon", "no rule"), "", llmtest.ErrUnscripted},
	} {
		r, err := llm.Complete(t.Context(), c, step.req)
		if r.Text != step.text || !errors.Is(err, step.err) {
			t.Errorf("%+v: %q, %v", step.req, r.Text, err)
		}
	}
	if c.Count("") != 5 || c.Count(llm.PurposeExtract) != 3 || c.Calls()[4].Subject != "moon" {
		t.Errorf("calls %+v", c.Calls())
	}
	c.First(llmtest.Rule{Text: "first"})
	if r, _ := llm.Complete(t.Context(), c, llm.Request{JSON: true}); r.Text != "first" {
		t.Errorf("%q", r.Text)
	}
	if c.Reset(); c.Count("") != 0 {
		t.Error("calls after Reset")
	}
}

func TestReplies(t *testing.T) {
	c := llmtest.Replies("one", "two")
	for _, want := range []string{"one", "two"} {
		if r, err := llm.Complete(t.Context(), c, llm.Request{}); err != nil || r.Text != want {
			t.Errorf("%q, %v", r.Text, err)
		}
	}
	if _, err := llm.Complete(t.Context(), c, llm.Request{}); !errors.Is(err, llmtest.ErrUnscripted) {
		t.Errorf("error %v", err)
	}
}

func TestPieces(t *testing.T) {
	c := llmtest.NewChat(llmtest.Rule{Text: "月亮 and tides", Piece: 4})
	var pieces []string
	for d, err := range c.Generate(t.Context(), llm.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, d.Text)
	}
	if len(pieces) < 3 || strings.Join(pieces, "") != "月亮 and tides" || pieces[0] != "月亮" {
		t.Errorf("%q", pieces)
	}
}

func TestEmbedderFaults(t *testing.T) {
	for reason, f := range map[string]llmtest.Fault{
		llm.ReasonCount: llmtest.Drop, llm.ReasonNotFinite: llmtest.NaN, llm.ReasonZero: llmtest.Zero, llm.ReasonDimension: llmtest.Short,
	} {
		e := llmtest.NewEmbedder(4)
		e.Break(1, llmtest.After(0, f))
		vecs, err := e.Embed(t.Context(), []string{"a", "b"}, llm.ForDocument)
		if err != nil {
			t.Fatal(err)
		}
		var bad *llm.VectorError
		if err := llm.CheckVectors(e.ID(), vecs, 2, 4); !errors.As(err, &bad) || bad.Reason != reason {
			t.Errorf("%s: %v", reason, err)
		}
		vecs, _ = e.Embed(t.Context(), []string{"a", "b"}, llm.ForDocument)
		if err := llm.CheckVectors(e.ID(), vecs, 2, 4); err != nil {
			t.Errorf("%s lasts longer than one call: %v", reason, err)
		}
	}
	e := llmtest.NewEmbedder(3)
	e.Set("x", 1, 0, 0)
	e.Break(0, llmtest.After(1, llmtest.Fail(errBoom)))
	if v, err := e.Embed(t.Context(), []string{"x"}, llm.ForQuery); err != nil || v[0][0] != 1 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := e.Embed(t.Context(), []string{"x"}, llm.ForQuery); !errors.Is(err, errBoom) {
		t.Errorf("error %v", err)
	}
	e.Heal()
	if _, err := e.Embed(t.Context(), []string{"y", "z"}, llm.ForQuery); err != nil || e.Texts() != 4 || len(e.Calls()) != 3 {
		t.Errorf("%v, calls %v", err, e.Calls())
	}
}

func TestFaultyReranker(t *testing.T) {
	r := llmtest.NewReranker()
	r.Set("a", math.Pi)
	if s, err := r.Rerank(t.Context(), "q", []string{"b", "a"}); err != nil || s[1] != math.Pi {
		t.Errorf("%v, %v", s, err)
	}
	r.Fail(errBoom)
	if _, err := r.Rerank(context.Background(), "q", []string{"b"}); !errors.Is(err, errBoom) || len(r.Calls()) != 2 {
		t.Errorf("%v", err)
	}
}
