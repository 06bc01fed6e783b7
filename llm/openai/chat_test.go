package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

var hello = llm.Request{Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "What moves the tides?"}}}

func TestChatRequest(t *testing.T) {
	srv := newServer(t, stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	half := 0.5
	full := hello
	full.JSON, full.MaxTokens, full.Temperature, full.Subject = true, 77, &half, "secret subject"
	full.Purpose = llm.PurposeExtract

	if _, err := llm.Complete(t.Context(), srv.chat(t), hello); err != nil {
		t.Fatal(err)
	}
	body, header, path := srv.last()
	if path != "/v1/chat/completions" || header.Get("Content-Type") != "application/json" {
		t.Errorf("path %s, headers %v", path, header)
	}
	if header.Get("Authorization") != "" {
		t.Error("a key is sent although there is none")
	}
	for _, absent := range []string{"temperature", "max_tokens", "max_completion_tokens", "response_format"} {
		if _, ok := body[absent]; ok {
			t.Errorf("%s is sent", absent)
		}
	}
	if body["model"] != "tiny" || body["stream"] != true || len(body["messages"].([]any)) != 2 {
		t.Errorf("body %v", body)
	}
	if m := body["messages"].([]any)[1].(map[string]any); m["role"] != "user" || m["content"] != "What moves the tides?" {
		t.Errorf("message %v", m)
	}

	c := srv.chat(t, func(c *Config) {
		c.Key = "sk-secret"
		c.Headers = map[string]string{"X-Team": "glim"}
		c.ChatParams = map[string]any{"reasoning_effort": "low", "temperature": 1}
		c.BaseURL += "/"
	})
	if _, err := llm.Complete(t.Context(), c, full); err != nil {
		t.Fatal(err)
	}
	body, header, path = srv.last()
	if path != "/v1/chat/completions" || header.Get("Authorization") != "Bearer sk-secret" || header.Get("X-Team") != "glim" {
		t.Errorf("path %s, headers %v", path, header)
	}
	if body["max_tokens"] != 77.0 || body["temperature"] != 1.0 || body["reasoning_effort"] != "low" || body["response_format"].(map[string]any)["type"] != "json_object" {
		t.Errorf("body %v", body)
	}
	for key, value := range body {
		if s, ok := value.(string); ok && strings.Contains(s, "subject") || key == "purpose" {
			t.Errorf("%s: %v is sent", key, value)
		}
	}

	if _, err := llm.Complete(t.Context(), srv.chat(t, func(c *Config) { c.MaxTokensField = "max_completion_tokens" }), full); err != nil {
		t.Fatal(err)
	}
	if body, _, _ := srv.last(); body["max_completion_tokens"] != 77.0 || body["temperature"] != 0.5 {
		t.Errorf("body %v", body)
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{ChatModel: "gpt-x"}, "openai/gpt-x@api.openai.com"},
		{Config{ChatModel: "qwen:4b", BaseURL: "http://user:pass@localhost:11434/v1"}, "openai/qwen:4b@localhost:11434"},
		{Config{ChatModel: "m", ChatParams: map[string]any{"b": 1, "a": "x"}}, `openai/m@api.openai.com{"a":"x","b":1}`},
	} {
		chat, err := NewChat(c.cfg)
		if err != nil || chat.ID() != c.want {
			t.Errorf("%q, %v, want %q", chat.ID(), err, c.want)
		}
	}
	if c, _ := NewChat(Config{ChatModel: "m"}); c.MaxTokensField != "max_completion_tokens" {
		t.Errorf("OpenAI itself gets %s", c.MaxTokensField)
	}
}

// Shapes recorded from servers of different kinds.
func TestChatReplies(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		want   llm.Reply
	}{
		{"CRLF, comments, usage in the last piece", stream(": ping\r\n\r\nevent: message\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"The \"}}]}\r\n\r\n" +
			"data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"moon\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\r\n\r\ndata: [DONE]\r\n\r\n"),
			llm.Reply{Text: "The moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 2}}},
		{"no empty lines, no DONE", stream("data: {\"choices\":[{\"delta\":{\"content\":\"The \"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"moon\"},\"finish_reason\":\"stop\"}]}"),
			llm.Reply{Text: "The moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
		{"DONE without a reason", stream("data: {\"choices\":[{\"delta\":{\"content\":\"moon\"}}]}\n\ndata: [DONE]"),
			llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
		{"running usage", stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n"),
			llm.Reply{Text: "ab", Finish: llm.FinishLength, Usage: llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 2}}},
		{"reasoning in its own field", stream("data: {\"choices\":[{\"delta\":{\"content\":null,\"reasoning_content\":\"hm\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"moon\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
			llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
		{"refusal", stream("data: {\"choices\":[{\"delta\":{\"content\":null,\"refusal\":\"I cannot.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
			llm.Reply{Text: "I cannot.", Finish: llm.FinishFilter, Usage: llm.Usage{Calls: 1}}},
		{"filtered", stream("data: {\"choices\":[{\"delta\":{\"content\":\"I\"},\"finish_reason\":\"content_filter\"}]}\n\n"),
			llm.Reply{Text: "I", Finish: llm.FinishFilter, Usage: llm.Usage{Calls: 1}}},
		{"second choice", stream("data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}},{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\n"),
			llm.Reply{Text: "yes", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
		{"other reason", stream("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"eos\"}]}\n\n"),
			llm.Reply{Text: "x", Finish: "eos", Usage: llm.Usage{Calls: 1}}},
		{"empty", stream("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"),
			llm.Reply{Finish: llm.FinishLength, Usage: llm.Usage{Calls: 1}}},
		{"whole although a stream was asked for", object(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":"moon"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`),
			llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: 3, CompletionTokens: 1}}},
		{"content in parts", object(200, `{"choices":[{"message":{"content":[{"type":"thinking","text":"hm"},{"type":"text","text":"mo"},{"type":"text","text":"on"}]},"finish_reason":null}]}`),
			llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := llm.Complete(t.Context(), newServer(t, c.handle).chat(t), hello)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

const secret = "sk-live-0123456789abcdef"

func TestChatFailures(t *testing.T) {
	for _, c := range []struct {
		name      string
		handle    http.HandlerFunc
		status    int
		code      string
		contains  string
		is        error
		after     time.Duration
		retryable bool
	}{
		{"unknown model", object(404, `{"error":"model 'tiny' not found"}`), 404, "", "model 'tiny' not found", nil, 0, false},
		{"no money", object(429, `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`), 429, "insufficient_quota", "quota", nil, 0, false},
		{"validation", object(422, `{"detail":"messages: field required"}`), 422, "", "field required", nil, 0, false},
		{"error in a list", object(400, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`), 400, "400", "API key not valid", nil, 0, false},
		{"message alone", object(403, `{"object":"error","message":"forbidden","code":null}`), 403, "", "forbidden", nil, 0, false},
		{"other JSON", object(200, `{"choices":"none"}`), 200, "", "not a chat completion", llm.ErrReply, 0, false},
		{"no choices", object(200, `{"choices":[]}`), 200, "", "no choices", llm.ErrReply, 0, false},
		{"error in a 200", object(200, `{"error":{"message":"context too long","code":"context_length_exceeded"}}`), 200, "context_length_exceeded", "context too long", llm.ErrReply, 0, false},
		{"page with status 200", llmtest.Respond(200, "text/html; charset=utf-8", "<!doctype html><TITLE>Sign in</TITLE>"), 200, "", "HTML page instead of JSON: Sign in", llm.ErrReply, 0, false},
		{"stream without choices", stream("data: [DONE]\n\n"), 200, "", "no choices", llm.ErrReply, 0, false},
		{"rubbish in the stream", stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {oops}\n\n"), 200, "", "{oops}", llm.ErrReply, 0, false},
		{"error in the stream", stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"Provider overloaded\",\"code\":503},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n"),
			503, "", "Provider overloaded", llm.ErrReply, 0, true},
		{"stream ends early", stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"), 200, "", "broke off", io.ErrUnexpectedEOF, 0, true},
		{"stream ends inside a piece", stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"del"), 0, "", "", io.ErrUnexpectedEOF, 0, true},
		{"connection cut", llmtest.CutOff(stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")), 0, "", "", llm.ErrConnection, 0, true},
		{"empty stream", stream(""), 200, "", "broke off", io.ErrUnexpectedEOF, 0, true},
		{"endless line", stream("data: \"" + strings.Repeat("x", 2<<20) + "\"\n\n"), 200, "", "more than 1048576 bytes", llm.ErrReply, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			chat := newServer(t, c.handle).chat(t, func(cfg *Config) {
				cfg.Key, cfg.MaxReply = secret, 1<<20
				cfg.HTTPClient = nil
			})
			r, err := llm.Complete(t.Context(), chat, hello)
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("%+v, %v", r, err)
			}
			text := err.Error()
			if e.Status != c.status || e.Code != c.code || !strings.Contains(text, c.contains) || e.RetryAfter != c.after || e.Op != "chat" {
				t.Errorf("%#v", e)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is no %v", err, c.is)
			}
			if llm.Retryable(err) != c.retryable {
				t.Errorf("%v: retryable %v", err, !c.retryable)
			}
			if strings.Contains(text, secret) || len(text) > 600 || strings.ContainsAny(text, "\n\r") {
				t.Errorf("text of %d bytes: %s", len(text), text)
			}
		})
	}
}

func TestChatHTTP(t *testing.T) {
	llmtest.TestHTTP(t, "chat", func(ctx context.Context, to llmtest.Target) error {
		c, err := NewChat(Config{BaseURL: to.URL, Key: to.Key, MaxReply: to.MaxReply, Timeout: to.Timeout, ChatModel: "tiny"})
		if err != nil {
			return err
		}
		_, err = llm.Complete(ctx, c, hello)
		return err
	})
}

// transport answers requests without a network, so that a test may run on a clock of its own.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Config.Timeout, here from the environment, ends what a server leaves unanswered, embeddings included.
func TestTimeoutOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		chat, embed, err := FromEnv(func(name string) string {
			return map[string]string{EnvChatModel: "tiny", EnvEmbedModel: "bge-m3", EnvTimeout: "90s"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		chat.HTTPClient, embed.HTTPClient = client, client
		c, err := NewChat(chat)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEmbedder(embed)
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func() error{
			"chat":   func() error { _, err := llm.Complete(t.Context(), c, hello); return err },
			"embed":  func() error { _, err := e.Embed(t.Context(), []string{"moon"}, llm.ForQuery); return err },
			"AskDim": func() error { _, err := AskDim(t.Context(), embed); return err },
		} {
			began := time.Now()
			err := call()
			if took := time.Since(began); !errors.Is(err, llm.ErrTimeout) || !llm.Retryable(err) || took != 90*time.Second {
				t.Errorf("%s: %v after %v, want a retryable timeout after 90s", name, err, took)
			}
		}
	})
}

// The limit is one of silence: a reply of which each word comes in time may take any time, and one that falls
// silent in its middle ends.
func TestTimeoutOfSlowReply(t *testing.T) {
	const words = 10
	for name, c := range map[string]struct {
		pause time.Duration
		want  error
	}{"slow": {50 * time.Second, nil}, "stuck": {70 * time.Second, llm.ErrTimeout}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat, err := NewChat(Config{ChatModel: "tiny", Timeout: time.Minute, HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					body, w := io.Pipe()
					go func() {
						for i := range words {
							fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%d \"}}]}\n\n", i)
							select {
							case <-time.After(c.pause):
							case <-r.Context().Done():
								w.CloseWithError(r.Context().Err())
								return
							}
						}
						fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
						_ = w.Close() // that of a pipe never fails
					}()
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
				})}})
				if err != nil {
					t.Fatal(err)
				}
				r, err := llm.Complete(t.Context(), chat, hello)
				if !errors.Is(err, c.want) || c.want == nil && r.Text != "0 1 2 3 4 5 6 7 8 9 " {
					t.Errorf("%q, %v; want error %v", r.Text, err, c.want)
				}
			})
		})
	}
}

// The whole way: a server that limits, then fails, then answers.
func TestRetriesOfAChain(t *testing.T) {
	var n int
	srv := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		switch n {
		case 1:
			w.Header().Set("Retry-After-Ms", "30")
			object(429, `{"error":{"message":"Slow down"}}`)(w, r)
		case 2:
			llmtest.Respond(503, "text/html", "<html><title>busy</title></html>")(w, r)
		default:
			stream("data: {\"choices\":[{\"delta\":{\"content\":\"moon\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")(w, r)
		}
	})
	var waits []time.Duration
	chain := llm.Chain{Retry: llm.RetryPolicy{Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}, Timeout: time.Minute, Limiter: llm.NewLimiter(1)}
	r, err := llm.Complete(t.Context(), chain.Chat(srv.chat(t)), hello)
	if err != nil || r.Text != "moon" || n != 3 || len(waits) != 2 || waits[0] != 30*time.Millisecond {
		t.Errorf("%+v, %v, %d calls, waits %v", r, err, n, waits)
	}
}
