package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

var hello = llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "What moves the tides?"}}}

func config(url string) Config {
	return Config{BaseURL: url, ChatModel: "tiny", EmbedModel: "tiny-embed", EmbedDim: 3}
}

func chat(t *testing.T, handle http.HandlerFunc, change ...func(*Config)) (*Chat, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, handle)
	cfg := config(srv.URL)
	for _, f := range change {
		f(&cfg)
	}
	c, err := NewChat(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, srv
}

func lines(body string) http.HandlerFunc { return llmtest.Respond(200, "application/x-ndjson", body) }

const done = `{"model":"tiny","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",` +
	`"total_duration":5,"load_duration":1,"prompt_eval_count":9,"prompt_eval_duration":1,"eval_count":2,"eval_duration":1}` + "\n"

// said is one piece of a reply.
func said(text string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"model":"tiny","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":%s},"done":false}`, content) + "\n"
}

// follow is a server that does what a conformance script says.
func follow(s llmtest.Script) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.Enter(r) {
			return
		}
		if s.Fail && len(s.Pieces) == 0 {
			llmtest.RespondJSON(400, `{"error":"invalid options"}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		send := func(line string) {
			_, _ = io.WriteString(w, line)
			w.(http.Flusher).Flush()
		}
		for i, p := range s.Pieces {
			send(said(p))
			if i == 0 && !s.Held(r) {
				return
			}
		}
		if len(s.Pieces) == 0 && !s.Held(r) {
			return
		}
		if s.Fail {
			panic(http.ErrAbortHandler)
		}
		send(fmt.Sprintf(`{"message":{"role":"assistant","content":""},"done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d}`+"\n",
			s.Finish, s.Usage.PromptTokens, s.Usage.CompletionTokens))
	}
}

func TestChatConformance(t *testing.T) {
	llmtest.TestChat(t, func(t *testing.T, s llmtest.Script) llm.Chat { c, _ := chat(t, follow(s)); return c })
}

func TestHTTP(t *testing.T) {
	target := func(to llmtest.Target) Config {
		c := config(to.URL)
		c.Key, c.MaxReply, c.Timeout = to.Key, to.MaxReply, to.Timeout
		return c
	}
	t.Run("chat", func(t *testing.T) {
		llmtest.TestHTTP(t, "chat", func(ctx context.Context, to llmtest.Target) error {
			c, err := NewChat(target(to))
			if err != nil {
				return err
			}
			_, err = llm.Complete(ctx, c, hello)
			return err
		})
	})
	t.Run("embed", func(t *testing.T) {
		llmtest.TestHTTP(t, "embed", func(ctx context.Context, to llmtest.Target) error {
			e, err := NewEmbedder(target(to))
			if err != nil {
				return err
			}
			_, err = e.Embed(ctx, []string{"a"}, llm.ForDocument)
			return err
		})
	})
}

func TestChatRequest(t *testing.T) {
	c, srv := chat(t, lines(said("ok")+done))
	ask := func(c *Chat, req llm.Request) string {
		t.Helper()
		if _, err := llm.Complete(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		sent := srv.Last()
		if sent.Path != "/api/chat" {
			t.Errorf("path %s", sent.Path)
		}
		delete(sent.Body, "messages")
		return fmt.Sprint(sent.Body)
	}
	if got, want := ask(c, hello), "map[model:tiny shift:false stream:true think:false truncate:false]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	cfg := config(srv.URL)
	cfg.KeepAlive, cfg.NumCtx, cfg.Options, cfg.Think, cfg.Truncate = 90*time.Second, 8192, map[string]any{"seed": 7}, true, true
	c, err := NewChat(cfg)
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	full := hello
	full.JSON, full.MaxTokens, full.Temperature = true, 77, &half
	want := "map[format:json keep_alive:1m30s model:tiny options:map[num_ctx:8192 num_predict:77 seed:7 temperature:0.5] shift:true stream:true think:true truncate:true]"
	if got := ask(c, full); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	full.Schema = json.RawMessage(`{"type":"object"}`)
	if got := ask(c, full); !strings.Contains(got, "format:map[type:object]") {
		t.Error(got)
	}
	if want := "ollama/tiny@" + c.Host + `{"num_ctx":8192,"seed":7,"think":true}`; c.ID() != want {
		t.Errorf("ID %s, want %s", c.ID(), want)
	}
	cfg.KeepAlive = -1
	if c, err = NewChat(cfg); err != nil || !strings.Contains(ask(c, hello), "keep_alive:-1") {
		t.Errorf("%v, %v", srv.Last().Body, err)
	}
}

// Shapes as servers of several versions send them.
func TestChatReplies(t *testing.T) {
	usage := llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 2}
	for _, c := range []struct {
		name, body string
		want       llm.Reply
	}{
		{"pieces", said("The ") + said("moon") + done, llm.Reply{Text: "The moon", Finish: llm.FinishStop, Usage: usage}},
		{"CRLF, empty lines, no last line break", strings.ReplaceAll(said("moon")+"\n"+strings.TrimSpace(done), "\n", "\r\n"), llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
		{"text in the last piece", `{"message":{"role":"assistant","content":"moon"},"done":true}`, llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
		{"cut off", said("The") + `{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":9,"eval_count":2}`, llm.Reply{Text: "The", Finish: llm.FinishLength, Usage: usage}},
		{"another reason", said("The") + `{"done":true,"done_reason":"tool"}`, llm.Reply{Text: "The", Finish: "tool", Usage: llm.Usage{Calls: 1}}},
		{"thinking in its own field", `{"message":{"role":"assistant","content":"","thinking":"hm"},"done":false}` + "\n" + said("moon") + done, llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
		{"thinking in the text", said("<th") + said("ink>hm") + said("</think>\n\n") + said("moon") + done, llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := chat(t, lines(c.body))
			if got, err := llm.Complete(t.Context(), cl, hello); err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestChatFailures(t *testing.T) {
	for _, c := range []struct {
		name      string
		handle    http.HandlerFunc
		status    int
		code      string
		contains  string
		is        error
		retryable bool
	}{
		{"not pulled", llmtest.RespondJSON(404, `{"error":"model \"tiny\" not found, try pulling it first"}`), 404, CodeNotPulled, "fetch it with: ollama pull tiny", nil, false},
		{"no such path", llmtest.Respond(404, "text/plain", "404 page missing"), 404, "", "404 page missing", nil, false},
		{"too long", llmtest.RespondJSON(400, `{"error":"the prompt is too long: it exceeds the context length"}`), 400, CodeTooLong, "longer context (NumCtx)", nil, false},
		{"cannot think", llmtest.RespondJSON(400, `{"error":"\"tiny\" does not support thinking"}`), 400, "", "does not support thinking", nil, false},
		{"out of memory", llmtest.RespondJSON(500, `{"error":"model requires more system memory (9.9 GiB) than is available (3.1 GiB)"}`), 500, "", "more system memory", nil, true},
		{"error in the stream", lines(said("The") + `{"error":"an error was encountered while running the model"}` + "\n"), 200, "", "while running the model", llm.ErrReply, false},
		{"stream ends early", lines(said("The")), 200, "", "broke off", io.ErrUnexpectedEOF, true},
		{"stream ends inside a piece", lines(said("The") + `{"message":{"con`), 0, "", "", io.ErrUnexpectedEOF, true},
		{"connection cut", llmtest.CutOff(lines(said("The"))), 0, "", "", llm.ErrConnection, true},
		{"empty stream", lines(""), 200, "", "broke off", io.ErrUnexpectedEOF, true},
		{"rubbish in the stream", lines(said("The") + "{oops}\n" + done), 200, "", "{oops}", llm.ErrReply, false},
		{"loaded only", lines(`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`), 200, "", "the model was loaded", llm.ErrReply, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := chat(t, c.handle)
			r, err := llm.Complete(t.Context(), cl, hello)
			var e *llm.Error
			if !errors.As(err, &e) || r != (llm.Reply{}) {
				t.Fatalf("%+v, %v", r, err)
			}
			if e.Status != c.status || e.Code != c.code || !strings.Contains(err.Error(), c.contains) || c.is != nil && !errors.Is(err, c.is) || llm.Retryable(err) != c.retryable {
				t.Errorf("%#v: %v", e, err)
			}
		})
	}
}

// embeddings answers with vectors that depend on the text.
func embeddings(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input []string }
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return
	}
	vecs, err := llmtest.NewEmbedder(3).Embed(r.Context(), body.Input, llm.ForDocument)
	if err != nil {
		return
	}
	data, _ := json.Marshal(map[string]any{"model": "tiny-embed", "embeddings": vecs, "total_duration": 1, "load_duration": 1, "prompt_eval_count": 12})
	llmtest.RespondJSON(200, string(data))(w, r)
}

func embedder(t *testing.T, handle http.HandlerFunc, change ...func(*Config)) (*Embedder, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, handle)
	cfg := config(srv.URL)
	for _, f := range change {
		f(&cfg)
	}
	e, err := NewEmbedder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e, srv
}

func TestEmbedderConformance(t *testing.T) {
	llmtest.TestEmbedder(t, func(t *testing.T) llm.Embedder { e, _ := embedder(t, embeddings); return e })
}

func TestEmbedRequest(t *testing.T) {
	var meter llm.Meter
	e, srv := embedder(t, embeddings)
	if _, err := meter.Embedder(e).Embed(t.Context(), []string{"a", "b"}, llm.ForQuery); err != nil {
		t.Fatal(err)
	}
	if sent := srv.Last(); sent.Path != "/api/embed" || fmt.Sprint(sent.Body) != "map[input:[a b] model:tiny-embed truncate:false]" {
		t.Errorf("%+v", sent)
	}
	if u := meter.Total(); u.PromptTokens != 12 || u.Calls != 1 {
		t.Errorf("%+v", u)
	}
	e, srv = embedder(t, embeddings, func(c *Config) { c.EmbedModel, c.NumCtx, c.KeepAlive = "embeddinggemma:latest", 2048, time.Minute })
	if _, err := e.Embed(t.Context(), []string{"a"}, llm.ForQuery); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(srv.Last().Body), "map[dimensions:3 input:[a] keep_alive:1m0s model:embeddinggemma:latest options:map[num_ctx:2048] truncate:false]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if e.ID() != "ollama/embeddinggemma:latest" {
		t.Errorf("ID %s", e.ID())
	}
}

func TestEmbedFailures(t *testing.T) {
	for _, c := range []struct {
		name, contains string
		status         int
		body           string
		is             error
	}{
		{"one for two", "1 vectors for 2 texts", 200, `{"embeddings":[[1,0,0]]}`, llm.ErrVectors},
		{"dimension", "dimension 2 for text 1", 200, `{"embeddings":[[1,0,0],[1,0]]}`, llm.ErrVectors},
		{"zero", "zero for text 1", 200, `{"embeddings":[[1,0,0],[0,0,0]]}`, llm.ErrVectors},
		{"words", "no embeddings", 200, `{"embeddings":[["x"],[1,0,0]]}`, llm.ErrReply},
		{"the older call", "no embeddings", 200, `{"embedding":[1,0,0]}`, llm.ErrReply},
		{"not pulled", "ollama pull tiny-embed", 404, `{"error":"model \"tiny-embed\" not found, try pulling it first"}`, nil},
		{"too long", CodeTooLong, 400, `{"error":"the input length exceeds the context length"}`, nil},
	} {
		e, _ := embedder(t, llmtest.RespondJSON(c.status, c.body))
		vecs, err := e.Embed(t.Context(), []string{"a", "b"}, llm.ForDocument)
		if vecs != nil || err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.contains) || llm.Retryable(err) {
			t.Errorf("%s: %v, %v", c.name, vecs, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for field, cfg := range map[string]Config{
		"ChatModel": {},
		"BaseURL":   {ChatModel: "m", BaseURL: "localhost:11434"},
		"NumCtx":    {ChatModel: "m", NumCtx: -1},
		"Options":   {ChatModel: "m", Options: map[string]any{"f": func() {}}},
	} {
		_, err := NewChat(cfg)
		if bad, ok := errors.AsType[*llm.ConfigError](err); !ok || bad.Field != field || bad.Provider != "ollama" {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, cfg := range map[string]Config{"EmbedModel": {}, "EmbedDim": {EmbedModel: "my-own"}, "Key": {EmbedModel: "bge-m3", Key: "a\nb"}} {
		_, err := NewEmbedder(cfg)
		if bad, ok := errors.AsType[*llm.ConfigError](err); !ok || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// FuzzStream: whatever a server streams, the call ends with one finish reason or one error, and nothing after it.
func FuzzStream(f *testing.F) {
	f.Add(said("<think>hm</think>a") + done)
	f.Add(said("a") + `{"error":"x"}`)
	f.Add(`{"done":true,"done_reason":"load"}`)
	f.Add("\r\n\nhello\n{\"message\":null}")
	c, err := NewChat(config(""))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		ends := 0
		c.stream(t.Context(), strings.NewReader(body), func(d llm.Delta, err error) bool {
			if ends > 0 {
				t.Fatal("something after the end")
			}
			if err != nil || d.Finish != "" {
				ends++
			}
			if err != nil && (d != llm.Delta{} || len(err.Error()) > 1000) {
				t.Fatalf("%+v with %v", d, err)
			}
			return true
		})
		if ends != 1 {
			t.Fatalf("%d ends", ends)
		}
	})
}

// FuzzVectors: a reply is read or refused, and read again as it was.
func FuzzVectors(f *testing.F) {
	f.Add([]byte(`{"embeddings":[[0,1],[1e-3,2]],"prompt_eval_count":3}`))
	f.Add([]byte(`{"embeddings":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		vecs, tokens, ok := parseVectors(data)
		if !ok {
			return
		}
		again, err := json.Marshal(map[string]any{"embeddings": vecs, "prompt_eval_count": tokens})
		if err != nil {
			t.Fatal(err)
		}
		if back, n, ok := parseVectors(again); !ok || n != tokens || fmt.Sprint(back) != fmt.Sprint(vecs) {
			t.Fatalf("%v, %v", vecs, back)
		}
	})
}
