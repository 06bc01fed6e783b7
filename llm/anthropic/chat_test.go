package anthropic

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

func chat(t *testing.T, handle http.HandlerFunc, change ...func(*Config)) (*Chat, *llmtest.Server) {
	t.Helper()
	srv := llmtest.NewServer(t, handle)
	cfg := Config{BaseURL: srv.URL, ChatModel: "tiny"}
	for _, f := range change {
		f(&cfg)
	}
	c, err := NewChat(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, srv
}

func stream(body string) http.HandlerFunc {
	return llmtest.Respond(200, "text/event-stream; charset=utf-8", body)
}

// sent is an event of a stream.
func sent(kind, fields string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fields)
}

func start(tokens int) string {
	return sent("message_start", fmt.Sprintf(`,"message":{"id":"msg_1","type":"message","role":"assistant","model":"tiny","content":[],"stop_reason":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":0,"output_tokens":1}}`, tokens)) +
		sent("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`) + sent("ping", "")
}

func said(text string) string {
	content, _ := json.Marshal(text)
	return sent("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+string(content)+`}`)
}

func stop(reason string, tokens int) string {
	return sent("content_block_stop", `,"index":0`) +
		sent("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`, reason, tokens)) + sent("message_stop", "")
}

// follow is a server that does what a conformance script says.
func follow(s llmtest.Script) http.HandlerFunc {
	reasons := map[llm.Finish]string{llm.FinishStop: "end_turn", llm.FinishLength: "max_tokens"}
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.Enter(r) {
			return
		}
		if s.Fail && len(s.Pieces) == 0 {
			llmtest.RespondJSON(400, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(text string) {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
		send(start(s.Usage.PromptTokens))
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
		send(stop(reasons[s.Finish], s.Usage.CompletionTokens))
	}
}

func TestChatConformance(t *testing.T) {
	llmtest.TestChat(t, func(t *testing.T, s llmtest.Script) llm.Chat { c, _ := chat(t, follow(s)); return c })
}

func TestHTTP(t *testing.T) {
	llmtest.TestHTTP(t, "chat", func(ctx context.Context, to llmtest.Target) error {
		c, err := NewChat(Config{BaseURL: to.URL, Key: to.Key, MaxReply: to.MaxReply, Timeout: to.Timeout, ChatModel: "tiny"})
		if err != nil {
			return err
		}
		_, err = llm.Complete(ctx, c, hello)
		return err
	})
}

func TestRequest(t *testing.T) {
	c, srv := chat(t, stream(start(3)+said("ok")+stop("end_turn", 1)), func(c *Config) { c.Key = "sk-ant" })
	if _, err := llm.Complete(t.Context(), c, hello); err != nil {
		t.Fatal(err)
	}
	got := srv.Last()
	want := "map[max_tokens:8192 messages:[map[content:What moves the tides? role:user]] model:tiny stream:true system:Be brief.]"
	if got.Path != "/v1/messages" || got.Header.Get("X-Api-Key") != "sk-ant" || got.Header.Get("Authorization") != "" || got.Header.Get("Anthropic-Version") != version || fmt.Sprint(got.Body) != want {
		t.Errorf("%+v", got)
	}
	half := 0.5
	full := llm.Request{MaxTokens: 77, Temperature: &half, JSON: true}
	c, srv = chat(t, stream(start(3)+said("ok")+stop("end_turn", 1)), func(c *Config) { c.Params = map[string]any{"top_p": 0.9} })
	if _, err := llm.Complete(t.Context(), c, full); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(srv.Last().Body), "map[max_tokens:77 messages:[] model:tiny stream:true temperature:0.5 top_p:0.9]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want := "anthropic/tiny@" + c.Host + `{"top_p":0.9}`; c.ID() != want {
		t.Errorf("ID %s, want %s", c.ID(), want)
	}
	for field, cfg := range map[string]Config{
		"ChatModel": {}, "BaseURL": {ChatModel: "m", BaseURL: "ftp://x"}, "MaxTokens": {ChatModel: "m", MaxTokens: -1},
		"Params": {ChatModel: "m", Params: map[string]any{"f": func() {}}}, "Timeout": {ChatModel: "m", Timeout: -time.Second},
	} {
		_, err := NewChat(cfg)
		if bad, ok := errors.AsType[*llm.ConfigError](err); !ok || bad.Field != field || bad.Provider != "anthropic" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestReplies(t *testing.T) {
	usage := llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 4}
	thinking := sent("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":""}`) +
		sent("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}`) + sent("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"x"}`)
	for _, c := range []struct {
		name, body string
		want       llm.Reply
	}{
		{"pieces", start(9) + said("The ") + said("moon") + stop("end_turn", 4), llm.Reply{Text: "The moon", Finish: llm.FinishStop, Usage: usage}},
		{"CRLF", strings.ReplaceAll(start(9)+said("moon")+stop("stop_sequence", 4), "\n", "\r\n"), llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
		{"cut off", start(9) + said("The") + stop("max_tokens", 4), llm.Reply{Text: "The", Finish: llm.FinishLength, Usage: usage}},
		{"out of context", start(9) + said("The") + stop("model_context_window_exceeded", 4), llm.Reply{Text: "The", Finish: llm.FinishLength, Usage: usage}},
		{"refused", start(9) + said("I") + stop("refusal", 4), llm.Reply{Text: "I", Finish: llm.FinishFilter, Usage: usage}},
		{"another reason", start(9) + said("I") + stop("pause_turn", 4), llm.Reply{Text: "I", Finish: "pause_turn", Usage: usage}},
		{"thinking", start(9) + thinking + said("moon") + stop("end_turn", 4), llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
		{"events to come", start(9) + sent("something_new", `,"x":[1]`) + said("moon") + stop("end_turn", 4), llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
		{"cut after the reason", start(9) + said("moon") + sent("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}`), llm.Reply{Text: "moon", Finish: llm.FinishStop, Usage: usage}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := chat(t, stream(c.body))
			if got, err := llm.Complete(t.Context(), cl, hello); err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	failed := func(kind, message string) string {
		return sent("error", fmt.Sprintf(`,"error":{"type":%q,"message":%q}`, kind, message))
	}
	for _, c := range []struct {
		name, body string
		status     int
		contains   string
		is         error
		retryable  bool
	}{
		{"overloaded in the stream", start(9) + failed("overloaded_error", "Overloaded"), 529, "overloaded_error: Overloaded", llm.ErrReply, true},
		{"refused in the stream", start(9) + said("a") + failed("invalid_request_error", "bad"), 400, "bad", llm.ErrReply, false},
		{"unknown error", start(9) + failed("odd_error", "odd"), 200, "odd_error: odd", llm.ErrReply, false},
		{"stream ends early", start(9) + said("The"), 200, "broke off", io.ErrUnexpectedEOF, true},
		{"stream ends inside an event", start(9) + said("The") + `data: {"type":"conte`, 0, "", io.ErrUnexpectedEOF, true},
		{"stop without a reason", start(9) + said("The") + sent("message_stop", ""), 200, "broke off", io.ErrUnexpectedEOF, true},
		{"empty stream", "", 200, "broke off", io.ErrUnexpectedEOF, true},
		{"rubbish", start(9) + "data: {oops}\n\n", 200, "{oops}", llm.ErrReply, false},
		{"another protocol", `data: {"choices":[]}` + "\n\n", 200, "not an event of a message", llm.ErrReply, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := chat(t, stream(c.body))
			r, err := llm.Complete(t.Context(), cl, hello)
			var e *llm.Error
			if !errors.As(err, &e) || r != (llm.Reply{}) || e.Status != c.status || !strings.Contains(err.Error(), c.contains) || !errors.Is(err, c.is) || llm.Retryable(err) != c.retryable {
				t.Errorf("%+v, %#v: %v", r, e, err)
			}
		})
	}
}

// FuzzStream: whatever a server streams, the call ends with one finish reason or one error, and nothing after it.
func FuzzStream(f *testing.F) {
	f.Add(start(9) + said("a") + stop("end_turn", 4))
	f.Add("data: {\"type\":\"error\"}")
	f.Add("event: ping\r\ndata:\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"x\"}}\n")
	c, err := NewChat(Config{ChatModel: "m"})
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
