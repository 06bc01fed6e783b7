package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// fakeModel is an OpenAI-compatible endpoint on this machine: it extracts one entity a chunk, finds
// keywords, summarises and answers, always the same.
type fakeModel struct {
	*httptest.Server
	calls atomic.Int64
	// block, when set, sees each request before it is answered.
	block func(body string, r *http.Request)
}

func newFakeModel(block func(body string, r *http.Request)) *fakeModel {
	f := &fakeModel{block: block}
	f.Server = httptest.NewServer(f)
	return f
}

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	body := string(raw)
	f.calls.Add(1)
	if f.block != nil {
		f.block(body, r)
	}
	var req struct {
		Model  string
		Stream bool
		Input  []string

		Documents []string
	}
	_ = json.Unmarshal(raw, &req)
	switch {
	case r.Header.Get("Authorization") != "Bearer secret" && r.Header.Get("X-Api-Key") != "secret":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"message": "no such key"}}`)
	case strings.HasSuffix(r.URL.Path, "/rerank"):
		var results []any // the last passage first
		for i := range req.Documents {
			results = append(results, map[string]any{"index": i, "relevance_score": i})
		}
		fmt.Fprint(w, mustJSON(map[string]any{"results": results}))
	case r.URL.Path == "/api/chat":
		for piece := range strings.SplitAfterSeq(reply(body), " ") {
			fmt.Fprintln(w, mustJSON(map[string]any{"message": map[string]any{"content": piece}}))
		}
		fmt.Fprintln(w, mustJSON(map[string]any{"done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 10}))
	case r.URL.Path == "/api/embed":
		var vectors []any
		for _, e := range embeddings(req.Model, req.Input) {
			vectors = append(vectors, e.(map[string]any)["embedding"])
		}
		fmt.Fprint(w, mustJSON(map[string]any{"embeddings": vectors}))
	case r.URL.Path == "/v1/messages":
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []any{map[string]any{"type": "content_block_delta", "delta": map[string]any{"type": "text_delta", "text": reply(body)}},
			map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn"}, "usage": map[string]any{"output_tokens": 10}}, map[string]any{"type": "message_stop"}} {
			fmt.Fprintf(w, "data: %s\n\n", mustJSON(e))
		}
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		fmt.Fprint(w, mustJSON(map[string]any{"data": embeddings(req.Model, req.Input)}))
	case req.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range strings.SplitAfterSeq(reply(body), " ") {
			fmt.Fprintf(w, "data: %s\n\n", mustJSON(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": piece}}}}))
		}
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", mustJSON(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}},
			"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}))
	default:
		fmt.Fprint(w, mustJSON(map[string]any{
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": reply(body)}}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
		}))
	}
}

// embeddings are vectors of a model called MODEL-DIMENSION, by the letters of the texts.
func embeddings(model string, texts []string) (data []any) {
	_, number, _ := strings.Cut(model, "-")
	dim, _ := strconv.Atoi(number)
	for i, text := range texts {
		v := make([]float64, max(1, dim))
		for j, c := range []byte(model + text) {
			v[(int(c)+j)%len(v)]++
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	return data
}

func reply(body string) string {
	switch {
	case strings.Contains(body, "Say hello"):
		return "Hello! What would you like to know?"
	case strings.Contains(body, "high_level_keywords"):
		return `{"high_level_keywords": ["design"], "low_level_keywords": ["Edith Calloway"]}`
	case strings.Contains(body, "# Records") && strings.Contains(body, "mumble"):
		return "I would rather not."
	case strings.Contains(body, "# Records"):
		return "entity<|#|>Edith Calloway<|#|>person<|#|>Edith Calloway designed Skarn Light.\n" +
			"entity<|#|>Skarn Light<|#|>location<|#|>Skarn Light is a lighthouse.\n" +
			"relation<|#|>Edith Calloway<|#|>Skarn Light<|#|>design<|#|>She designed it.\n<|COMPLETE|>"
	}
	return "Edith Calloway designed it\x1b[31m. [1]" // a model can write anything
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// startModel sets MODEL_URL, and MODEL_HOST without a path, to the address of a fake model that lives as long as the script.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model")
	}
	f := newFakeModel(nil)
	ts.Defer(f.Close)
	ts.Setenv("MODEL_URL", f.URL+"/v1")
	ts.Setenv("MODEL_HOST", f.URL)
}
