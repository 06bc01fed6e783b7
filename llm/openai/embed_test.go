package openai

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
)

func TestEmbedRequest(t *testing.T) {
	srv := newServer(t, embeddings(false))
	in := []string{"a", "b"}
	if _, err := srv.embedder(t).Embed(t.Context(), in, llm.ForQuery); err != nil {
		t.Fatal(err)
	}
	body, _, path := srv.last()
	if path != "/v1/embeddings" || body["model"] != "tiny-embed" || len(body) != 2 {
		t.Errorf("%s %v", path, body)
	}
	e := srv.embedder(t, func(c *Config) {
		c.SendDim, c.Base64 = true, true
	})
	if _, err := e.Embed(t.Context(), in, llm.ForDocument); err != nil {
		t.Fatal(err)
	}
	body, _, _ = srv.last()
	if body["dimensions"] != 3.0 || body["encoding_format"] != "base64" || body["input"].([]any)[1] != "b" {
		t.Errorf("%v", body)
	}
}

func TestEmbedReplies(t *testing.T) {
	good := [][]float32{{1, 0, 0}, {0, 1, 0}}
	for _, c := range []struct{ name, body string }{
		{"in order", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[0,1,0]}]}`},
		{"reversed", `{"data":[{"index":1,"embedding":[0,1,0]},{"index":0,"embedding":[1,0,0]}]}`},
		{"without an index", `{"data":[{"embedding":[1,0,0]},{"embedding":[0,1.0,0e0]}]}`},
		{"base64", `{"data":[{"index":0,"embedding":"AACAPwAAAAAAAAAA"},{"index":1,"embedding":"AAAAAAAAgD8AAAAA"}]}`},
	} {
		vecs, err := newServer(t, object(200, c.body)).embedder(t).Embed(t.Context(), []string{"a", "b"}, llm.ForDocument)
		if err != nil || len(vecs) != 2 || !slices.Equal(vecs[0], good[0]) || !slices.Equal(vecs[1], good[1]) {
			t.Errorf("%s: %v, %v", c.name, vecs, err)
		}
	}
	for _, c := range []struct {
		name, body string
		is         error
		contains   string
	}{
		{"one for two", `{"data":[{"index":0,"embedding":[1,0,0]}]}`, llm.ErrVectors, "1 vectors for 2 texts"},
		{"three for two", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[1,0,0]},{"index":2,"embedding":[1,0,0]}]}`, llm.ErrVectors, "3 vectors for 2 texts"},
		{"dimension", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[1,0]}]}`, llm.ErrVectors, "dimension 2 for text 1"},
		{"zero", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[0,0,0]}]}`, llm.ErrVectors, "zero for text 1"},
		{"NaN", `{"data":[{"index":0,"embedding":"AADAfwAAAAAAAAAA"},{"index":1,"embedding":[0,0,1]}]}`, llm.ErrVectors, "not finite for text 0"},
		{"null", `{"data":[{"index":0,"embedding":null},{"index":1,"embedding":[0,0,1]}]}`, llm.ErrVectors, "dimension 0 for text 0"},
		{"twice", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":0,"embedding":[0,1,0]}]}`, llm.ErrReply, "index 0"},
		{"out of range", `{"data":[{"index":0,"embedding":[1,0,0]},{"index":2,"embedding":[0,1,0]}]}`, llm.ErrReply, "index 2"},
		{"negative", `{"data":[{"index":-1,"embedding":[1,0,0]},{"index":0,"embedding":[0,1,0]}]}`, llm.ErrReply, "index -1"},
		{"bad base64", `{"data":[{"index":0,"embedding":"AA"},{"index":1,"embedding":"AAAAAAAAgD8AAAAA"}]}`, llm.ErrReply, "base64"},
		{"too large a number", `{"data":[{"index":0,"embedding":[1e99,0,0]},{"index":1,"embedding":[0,1,0]}]}`, llm.ErrReply, "neither numbers"},
		{"words", `{"data":[{"index":0,"embedding":["x"]},{"index":1,"embedding":[0,1,0]}]}`, llm.ErrReply, "neither numbers"},
		{"page", `<html><title>hello</title></html>`, llm.ErrReply, "HTML page instead of JSON: hello"},
		{"error", `{"error":{"message":"model is loading"}}`, llm.ErrReply, "model is loading"},
		{"nothing", `{}`, llm.ErrVectors, "0 vectors for 2 texts"},
	} {
		vecs, err := newServer(t, object(200, c.body)).embedder(t).Embed(t.Context(), []string{"a", "b"}, llm.ForDocument)
		if vecs != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.contains) || llm.Retryable(err) {
			t.Errorf("%s: %v, %v", c.name, vecs, err)
		}
	}
	_, err := newServer(t, object(400, `{"error":{"message":"input too long"}}`)).embedder(t).Embed(t.Context(), []string{"a"}, llm.ForDocument)
	var e *llm.Error
	if !errors.As(err, &e) || e.Op != "embed" || e.Status != 400 {
		t.Errorf("%v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for field, cfg := range map[string]Config{
		"ChatModel":  {},
		"BaseURL":    {ChatModel: "m", BaseURL: "localhost:11434"},
		"Key":        {ChatModel: "m", Key: "a\nb"},
		"ChatParams": {ChatModel: "m", ChatParams: map[string]any{"f": func() {}}},
		"Timeout":    {ChatModel: "m", Timeout: -1},
	} {
		_, err := NewChat(cfg)
		var bad *llm.ConfigError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, cfg := range map[string]Config{
		"EmbedModel": {},
		"EmbedDim":   {EmbedModel: "my-own"},
		"BaseURL":    {EmbedModel: "bge-m3", BaseURL: "ftp://x"},
	} {
		_, err := NewEmbedder(cfg)
		var bad *llm.ConfigError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestDimensions(t *testing.T) {
	for model, want := range map[string]int{"text-embedding-3-small": 1536, "nomic-embed-text:latest": 768, "BAAI/bge-m3": 1024, "my-own": 0} {
		if got := llm.KnownDim(model); got != want {
			t.Errorf("%s: %d", model, got)
		}
	}
	e, err := NewEmbedder(Config{EmbedModel: "text-embedding-3-large", EmbedDim: 256})
	if err != nil || e.Dim() != 256 || !e.sendDim || e.ID() != "openai/text-embedding-3-large" {
		t.Errorf("%+v, %v", e, err)
	}
	srv := newServer(t, embeddings(false))
	cfg := srv.config()
	cfg.EmbedDim = 0
	if n, err := AskDim(t.Context(), cfg); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	cfg.BaseURL = newServer(t, object(200, `{"data":[]}`)).URL
	if _, err := AskDim(t.Context(), cfg); !errors.Is(err, llm.ErrReply) {
		t.Errorf("%v", err)
	}
}

func TestFromEnv(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return func(name string) string { return m[name] }
	}
	chat, embed, err := FromEnv(env(EnvKey, "k", EnvBaseURL, "http://h/v1", EnvChatModel, "c", EnvEmbedModel, "e", EnvEmbedDim, "12"))
	if err != nil || chat.Key != "k" || chat.BaseURL != "http://h/v1" || chat.ChatModel != "c" || embed.EmbedModel != "e" || embed.EmbedDim != 12 || embed.Key != "k" {
		t.Errorf("%+v, %+v, %v", chat, embed, err)
	}
	_, embed, _ = FromEnv(env(EnvKey, "k", EnvEmbedBaseURL, "http://other/v1"))
	if embed.Key != "" || embed.BaseURL != "http://other/v1" {
		t.Errorf("the key goes to another address: %+v", embed)
	}
	_, embed, _ = FromEnv(env(EnvKey, "k", EnvEmbedBaseURL, "http://other/v1", EnvEmbedKey, "k2"))
	if embed.Key != "k2" {
		t.Errorf("%+v", embed)
	}
	for _, dim := range []string{"x", "0", "-1"} {
		var bad *llm.ConfigError
		if _, _, err := FromEnv(env(EnvEmbedDim, dim)); !errors.As(err, &bad) || bad.Field != EnvEmbedDim {
			t.Errorf("%s: %v", dim, err)
		}
	}
	if chat.Timeout != 0 {
		t.Errorf("a limit of %v that nobody asked for", chat.Timeout)
	}
	chat, embed, err = FromEnv(env(EnvTimeout, "90s"))
	if err != nil || chat.Timeout != 90*time.Second || embed.Timeout != 90*time.Second {
		t.Errorf("%v and %v, %v", chat.Timeout, embed.Timeout, err)
	}
	for _, limit := range []string{"x", "0s", "-1s", "30"} {
		var bad *llm.ConfigError
		if _, _, err := FromEnv(env(EnvTimeout, limit)); !errors.As(err, &bad) || bad.Field != EnvTimeout {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

// The tokens that a reply counts reach the meter; a reply without, or with nonsense, counts none.
func TestEmbedTokens(t *testing.T) {
	for usage, want := range map[string]int{``: 0, `,"usage":{"prompt_tokens":12,"total_tokens":12}`: 12, `,"usage":{"prompt_tokens":-3}`: 0, `,"usage":null`: 0} {
		body := `{"data":[{"embedding":[1,0,0]}]` + usage + `}`
		var meter llm.Meter
		e := meter.Embedder(newServer(t, object(200, body)).embedder(t))
		if _, err := e.Embed(t.Context(), []string{"a"}, llm.ForDocument); err != nil {
			t.Error(err)
		}
		if u := meter.Total(); u != (llm.Usage{Calls: 1, PromptTokens: want}) {
			t.Errorf("%s: %+v", body, u)
		}
	}
}
