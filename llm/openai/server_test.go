package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// server is a fake of a provider.
type server struct{ *llmtest.Server }

func newServer(t *testing.T, handle http.HandlerFunc) server {
	t.Helper()
	return server{llmtest.NewServer(t, handle)}
}

func (s server) last() (body map[string]any, header http.Header, path string) {
	r := s.Last()
	return r.Body, r.Header, r.Path
}

func (s server) config() Config {
	return Config{BaseURL: s.URL + "/v1", ChatModel: "tiny", EmbedModel: "tiny-embed", EmbedDim: 3, HTTPClient: s.Client()}
}

func (s server) chat(t *testing.T, change ...func(*Config)) *Chat {
	t.Helper()
	cfg := s.config()
	for _, f := range change {
		f(&cfg)
	}
	c, err := NewChat(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s server) embedder(t *testing.T, change ...func(*Config)) *Embedder {
	t.Helper()
	cfg := s.config()
	for _, f := range change {
		f(&cfg)
	}
	e, err := NewEmbedder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func stream(body string) http.HandlerFunc {
	return llmtest.Respond(200, "text/event-stream; charset=utf-8", body)
}
func object(status int, body string) http.HandlerFunc {
	return llmtest.RespondJSON(status, body)
}

// follow is a server that does what a conformance script says, streaming or not.
func follow(s llmtest.Script, whole bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.Enter(r) {
			return
		}
		if s.Fail && len(s.Pieces) == 0 {
			object(http.StatusBadRequest, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}`)(w, r)
			return
		}
		usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, s.Usage.PromptTokens, s.Usage.CompletionTokens, s.Usage.PromptTokens+s.Usage.CompletionTokens)
		if whole {
			if !s.Held(r) || s.Fail {
				panic(http.ErrAbortHandler)
			}
			text := ""
			for _, p := range s.Pieces {
				text += p
			}
			content, _ := json.Marshal(text)
			object(200, fmt.Sprintf(`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":%s}`, content, s.Finish, usage))(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher).Flush
		send := func(format string, args ...any) {
			fmt.Fprintf(w, "data: "+format+"\n\n", args...)
			flush()
		}
		send(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
		for i, p := range s.Pieces {
			content, _ := json.Marshal(p)
			send(`{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}],"usage":null}`, content)
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
		send(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, s.Finish)
		send(`{"choices":[],"usage":%s}`, usage)
		send(`[DONE]`)
	}
}

func TestChatConformance(t *testing.T) {
	t.Run("streaming", func(t *testing.T) {
		llmtest.TestChat(t, func(t *testing.T, s llmtest.Script) llm.Chat { return newServer(t, follow(s, false)).chat(t) })
	})
	t.Run("whole", func(t *testing.T) {
		llmtest.TestChat(t, func(t *testing.T, s llmtest.Script) llm.Chat {
			// A whole reply has no first piece to hold after: the suite's break has to wait for all of it.
			if s.Hold != nil && len(s.Pieces) > 0 {
				s.Hold = nil
			}
			return newServer(t, follow(s, true)).chat(t, func(c *Config) { c.WholeReplies = true })
		})
	})
}

// embeddings answers with vectors that depend on the text, shuffled.
func embeddings(inBase64 bool) http.HandlerFunc {
	model := llmtest.NewEmbedder(3)
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		vecs, err := model.Embed(r.Context(), body.Input, llm.ForDocument)
		if err != nil {
			return
		}
		type item struct {
			Object    string `json:"object"`
			Index     int    `json:"index"`
			Embedding any    `json:"embedding"`
		}
		var items []item
		for i := len(vecs) - 1; i >= 0; i-- {
			var v any = vecs[i]
			if inBase64 {
				var raw []byte
				for _, x := range vecs[i] {
					raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
				}
				v = base64.StdEncoding.EncodeToString(raw)
			}
			items = append(items, item{"embedding", i, v})
		}
		data, _ := json.Marshal(map[string]any{"object": "list", "data": items, "model": "tiny-embed", "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
		object(200, string(data))(w, r)
	}
}

func TestEmbedderConformance(t *testing.T) {
	for name, inBase64 := range map[string]bool{"numbers": false, "base64": true} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestEmbedder(t, func(t *testing.T) llm.Embedder {
				return newServer(t, embeddings(inBase64)).embedder(t, func(c *Config) { c.Base64 = inBase64 })
			})
		})
	}
}
