package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func open(t *testing.T, handle http.HandlerFunc, change ...func(*Config)) (llm.Reranker, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, handle)
	c := Config{URL: srv.URL + "/v1/rerank", Model: "tiny"}
	for _, f := range change {
		f(&c)
	}
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r, srv
}

// model scores as llmtest's fake does, best first, in either form, and honours top_n as servers do.
func model(w http.ResponseWriter, r *http.Request) {
	type asked struct {
		Query     string
		Documents []string
		TopN      int `json:"top_n"`
	}
	var body struct {
		asked
		Input      *asked
		Parameters asked
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	aliyun := body.Input != nil
	if aliyun {
		body.asked = *body.Input
		body.TopN = body.Parameters.TopN
	}
	scores, err := llmtest.NewReranker().Rerank(r.Context(), body.Query, body.Documents)
	if err != nil {
		return
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	var list []result
	for i, s := range scores {
		list = append(list, result{i, s})
	}
	slices.SortStableFunc(list, func(a, b result) int { return int(math.Copysign(1, b.Score-a.Score)) })
	if body.TopN > 0 {
		list = list[:min(len(list), body.TopN)]
	}
	var reply any = map[string]any{"id": "x", "results": list, "meta": map[string]any{"billed_units": map[string]int{"search_units": 1}}}
	if aliyun {
		reply = map[string]any{"output": map[string]any{"results": list}, "usage": map[string]int{"total_tokens": 7}, "request_id": "x"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"standard": func(*Config) {},
		"aliyun":   func(c *Config) { c.Form = Aliyun },
		"batches":  func(c *Config) { c.Batch.Texts = 1 },
		"pieces":   func(c *Config) { c.Split = &Splitting{MaxTokens: 4, Overlap: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestReranker(t, func(t *testing.T) llm.Reranker { r, _ := open(t, model, change); return r })
		})
	}
}

func TestHTTP(t *testing.T) {
	for _, form := range []Form{Standard, Aliyun} {
		t.Run(string(form), func(t *testing.T) {
			llmtest.TestHTTP(t, "rerank", func(ctx context.Context, to llmtest.Target) error {
				r, err := New(Config{URL: to.URL, Key: to.Key, MaxReply: to.MaxReply, Timeout: to.Timeout, Model: "tiny", Form: form})
				if err != nil {
					return err
				}
				_, err = r.Rerank(ctx, "q", []string{"a", "b"})
				return err
			})
		})
	}
}

func TestRequests(t *testing.T) {
	docs := []string{"moon", "tide", "bread"}
	ask := func(change ...func(*Config)) (llmtest.Sent, []float64) {
		t.Helper()
		r, srv := open(t, model, change...)
		scores, err := r.Rerank(t.Context(), "the moon", docs)
		if err != nil {
			t.Fatal(err)
		}
		return srv.Last(), scores
	}
	sent, _ := ask()
	if sent.Path != "/v1/rerank" || sent.Header.Get("Authorization") != "" || fmt.Sprint(sent.Body) != "map[documents:[moon tide bread] model:tiny query:the moon]" {
		t.Errorf("%+v", sent)
	}
	sent, scores := ask(func(c *Config) {
		c.Key, c.TopN, c.Params, c.Headers = "sk-key", 1, map[string]any{"return_documents": false, "model": "other"}, map[string]string{"X-Team": "glim"}
	})
	if sent.Header.Get("Authorization") != "Bearer sk-key" || sent.Header.Get("X-Team") != "glim" || sent.Body["top_n"] != 1.0 ||
		sent.Body["return_documents"] != false || sent.Body["model"] != "other" || fmt.Sprint(scores) != "[0.5 NaN NaN]" {
		t.Errorf("%+v, %v", sent, scores)
	}
	sent, scores = ask(func(c *Config) {
		c.Form, c.TopN, c.Params = Aliyun, 2, map[string]any{"return_documents": false}
	})
	if want := "map[input:map[documents:[moon tide bread] query:the moon] model:tiny parameters:map[return_documents:false top_n:2]]"; fmt.Sprint(sent.Body) != want || fmt.Sprint(scores) != "[0.5 0 NaN]" {
		t.Errorf("%v, %v", sent.Body, scores)
	}
	// Cut texts need the scores of all pieces: top_n is applied here.
	sent, scores = ask(func(c *Config) { c.TopN, c.Split = 1, &Splitting{MaxTokens: 1} })
	if _, there := sent.Body["top_n"]; there || fmt.Sprint(scores) != "[0.5 NaN NaN]" {
		t.Errorf("%v, %v", sent.Body, scores)
	}
	r, srv := open(t, model, func(c *Config) { c.Batch, c.TopN = llm.BatchOptions{Texts: 2}, 1 })
	if scores, err := r.Rerank(t.Context(), "the moon", docs); err != nil || fmt.Sprint(scores) != "[0.5 NaN NaN]" || len(srv.Requests()) != 2 {
		t.Errorf("%v, %v, %d requests", scores, err, len(srv.Requests()))
	}
}

func TestServices(t *testing.T) {
	for _, c := range []struct {
		config Config
		id     string
		form   Form
	}{
		{ForCohere("k"), "rerank/rerank-v3.5@api.cohere.com", Standard},
		{ForJina("k"), "rerank/jina-reranker-v2-base-multilingual@api.jina.ai", Standard},
		{ForAliyun("k"), "rerank/gte-rerank-v2@dashscope.aliyuncs.com", Aliyun},
	} {
		r, err := New(c.config)
		if err != nil || r.ID() != c.id || c.config.Key != "k" || (c.config.Form == Aliyun) != (c.form == Aliyun) {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// What is no result of ours does not count, and is told.
func TestReplies(t *testing.T) {
	for _, c := range []struct{ name, results, want, told string }{
		{"in order", `[{"index":0,"relevance_score":0.9},{"index":1,"relevance_score":0.4},{"index":2,"relevance_score":-1.5}]`, "[0.9 0.4 -1.5]", ""},
		{"with what is not asked for", `[{"index":2,"relevance_score":1,"document":{"text":"c"}},{"index":0,"relevance_score":0},{"index":1,"relevance_score":1e-3}]`, "[0 0.001 1]", ""},
		{"number as text", `[{"index":0,"relevance_score":"0.4"},{"index":1,"relevance_score":" 1 "},{"index":2,"relevance_score":"NaN"}]`, "[0.4 1 NaN]",
			"score is no finite number: 1, text without a score: 1"},
		{"wrong indexes", `[{"index":null,"relevance_score":9},{"index":"1","relevance_score":9},{"index":true,"relevance_score":9},{"index":0.5,"relevance_score":9},{"relevance_score":9},
			{"index":-1,"relevance_score":9},{"index":3,"relevance_score":9},{"index":1,"relevance_score":0.5}]`, "[NaN 0.5 NaN]",
			"index is no whole number: 5, index out of range: 2, text without a score: 2"},
		{"wrong scores", `[{"index":0,"relevance_score":null},{"index":1,"relevance_score":true},{"index":2,"relevance_score":0.1},{"index":1},{"index":0,"relevance_score":1e999}]`,
			"[NaN NaN 0.1]", "score is no finite number: 4, text without a score: 2"},
		{"not JSON, but common", `[{"index":0,"relevance_score":NaN},{"index":1,"relevance_score":-Infinity},{"index":2,"relevance_score":0.1,"text":"NaN \" Infinity"}]`,
			"[NaN NaN 0.1]", "score is no finite number: 2, text without a score: 2"},
		{"repeated", `[{"index":0,"relevance_score":0.2},{"index":0,"relevance_score":0.7},{"index":1,"relevance_score":0.5},{"index":1,"relevance_score":0.3},{"index":2,"relevance_score":0}]`,
			"[0.2 0.5 0]", "index repeated: 2"},
		{"repeated after one of no use", `[{"index":0,"relevance_score":null},{"index":0,"relevance_score":0.7},{"index":0,"relevance_score":0.9},{"index":1,"relevance_score":0.5},{"index":2,"relevance_score":0}]`,
			"[0.7 0.5 0]", "score is no finite number: 1, index repeated: 1"},
		{"no objects", `[7,null,"x",[1],{"index":1,"relevance_score":0.5}]`, "[NaN 0.5 NaN]", "no object: 4, text without a score: 2"},
	} {
		var log bytes.Buffer
		r, _ := open(t, llmtest.RespondJSON(200, `{"results":`+c.results+`}`), func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		scores, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"})
		if err != nil || fmt.Sprint(scores) != c.want {
			t.Errorf("%s: %v, %v", c.name, scores, err)
		}
		if told := strings.Contains(log.String(), `counts="`+c.told+`"`); told != (c.told != "") || (c.told == "") != (log.Len() == 0) {
			t.Errorf("%s: told %s", c.name, log.String())
		}
	}
	for _, c := range []struct {
		form       Form
		body, want string
	}{
		{Standard, `{"results":[]}`, "none of 0 results has a usable score"},
		{Standard, `{"results":[{"index":5,"relevance_score":1}]}`, "none of 1 results has a usable score (index out of range: 1, text without a score: 2)"},
		{Standard, `{"results":null}`, "no list of results"},
		{Standard, `{"results":{"index":0}}`, "no list of results"},
		{Standard, `{"output":{"results":[{"index":0,"relevance_score":1}]}}`, "no list of results"},
		{Aliyun, `{"results":[{"index":0,"relevance_score":1}]}`, "no list of results"},
		{Aliyun, `{"code":"InvalidParameter","message":"too many documents","request_id":"x"}`, "InvalidParameter: no list of results: too many documents"},
	} {
		r, _ := open(t, llmtest.RespondJSON(200, c.body), func(cfg *Config) { cfg.Form = c.form })
		if scores, err := r.Rerank(t.Context(), "q", []string{"a", "b"}); !errors.Is(err, llm.ErrReply) || !strings.Contains(err.Error(), c.want) || scores != nil || llm.Retryable(err) {
			t.Errorf("%s: %v, %v", c.body, scores, err)
		}
	}
}

func TestReplyFormIsChosenByItself(t *testing.T) {
	r, srv := open(t, llmtest.RespondJSON(200, `{"results":[{"index":0,"relevance_score":1}]}`), func(c *Config) { c.Form, c.ReplyForm = Aliyun, Standard })
	if scores, err := r.Rerank(t.Context(), "q", []string{"a"}); err != nil || scores[0] != 1 || srv.Last().Body["input"] == nil {
		t.Errorf("%v, %v", scores, err)
	}
}

func TestConfigErrors(t *testing.T) {
	good := Config{URL: "http://h/rerank", Model: "m"}
	for field, change := range map[string]func(*Config){
		"Model":           func(c *Config) { c.Model = "" },
		"URL":             func(c *Config) { c.URL = "" },
		"TopN":            func(c *Config) { c.TopN = -1 },
		"Form":            func(c *Config) { c.Form, c.ReplyForm = "other", Standard },
		"ReplyForm":       func(c *Config) { c.ReplyForm = "other" },
		"Key":             func(c *Config) { c.Key = "a\nb" },
		"Timeout":         func(c *Config) { c.Timeout = -1 },
		"Split.MaxTokens": func(c *Config) { c.Split = &Splitting{} },
		"Split.Overlap":   func(c *Config) { c.Split = &Splitting{MaxTokens: 480, Overlap: -1} },
		"Split.Aggregate": func(c *Config) { c.Split = &Splitting{MaxTokens: 480, Aggregate: "median"} },
	} {
		c := good
		change(&c)
		_, err := New(c)
		if bad, ok := errors.AsType[*llm.ConfigError](err); !ok || bad.Field != field || bad.Provider != "rerank" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// FuzzReply: whatever a server replies, each text has a finite score or NaN, and none comes from nowhere.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"results":[{"index":0,"relevance_score":0.9},{"index":1,"relevance_score":"0.4"}]}`), 2)
	f.Add([]byte(`{"results":[{"index":true,"relevance_score":NaN}],"x":"a\"Infinity"}`), 1)
	f.Add([]byte(`{"output":{"results":[7,null]}}`), 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n &= 0xff
		for _, form := range []Form{Standard, Aliyun} {
			list, found := results(data, form)
			if !found {
				continue
			}
			scores, bad := read(list, n)
			usable := 0
			for _, s := range scores {
				if math.IsInf(s, 0) {
					t.Fatalf("score %v", s)
				}
				if !math.IsNaN(s) {
					usable++
				}
			}
			if len(scores) != n || usable+bad.shape+bad.index+bad.outOfRange+bad.score+bad.repeated != len(list) {
				t.Fatalf("%d results, %d usable, %+v", len(list), usable, bad)
			}
		}
	})
}
