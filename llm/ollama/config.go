package ollama

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// DefaultBaseURL is where a server on this machine listens.
const DefaultBaseURL = "http://localhost:11434"

const provider = "ollama"

// Config says where the models are and how to call them. The zero value is a server on this machine.
type Config struct {
	// BaseURL is the address before "/api/chat"; default DefaultBaseURL.
	BaseURL string
	// Key is sent as a bearer token, for servers behind a proxy that wants one; empty sends none.
	Key string
	// Headers are added to each request, and replace those that the client would set.
	Headers map[string]string
	// HTTPClient is used as it is; nil: one that follows no redirects and honours the proxy variables.
	HTTPClient *http.Client
	// Timeout bounds one embedding call, and each silence of the chat model, the time included that the server takes to
	// load it; 0: no limit of its own. What it ends is a retryable *llm.Error with llm.ErrTimeout.
	Timeout time.Duration
	// MaxReply bounds the bytes of one reply; default 64 MiB.
	MaxReply int64

	// ChatModel is the model for NewChat, such as "qwen3:8b".
	ChatModel string
	// EmbedModel is the model for NewEmbedder, and EmbedDim the length of its vectors; 0 is allowed for models that
	// llm.KnownDim knows.
	EmbedModel string
	EmbedDim   int

	// KeepAlive is how long the server keeps the model loaded after a call; 0: what the server is set to (5 minutes, unless
	// it was changed), negative: for ever.
	KeepAlive time.Duration
	// NumCtx is the length of the model's context in tokens, prompt and reply together; 0: what the server is set to, which
	// is often too short for the prompts of extraction and answers. The server loads the model anew when it changes.
	NumCtx int
	// Options are further options of the model, such as {"seed": 7, "top_p": 0.9}, and may replace what is there. They
	// and NumCtx are part of the chat model's ID.
	Options map[string]any
	// Think lets a model that can think do so before it replies; by default it is told not to, which makes the many small
	// calls of extraction several times faster. Models that cannot think must have it false.
	Think bool
	// Truncate lets the server cut a prompt or a text to embed that is longer than the context. By default that is an
	// error, for what is cut off is lost without a word.
	Truncate bool
}

// client is a checked Config and its server.
type client struct {
	Config
	*endpoint.Endpoint
}

func wrong(field, format string, args ...any) error {
	return &llm.ConfigError{Provider: provider, Field: field, Problem: fmt.Sprintf(format, args...)}
}

func (c Config) client() (*client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.NumCtx < 0 {
		return nil, wrong("NumCtx", "%d is negative", c.NumCtx)
	}
	e, err := endpoint.New(endpoint.Config{Provider: provider, URL: c.BaseURL, Field: "BaseURL", Key: c.Key, Headers: c.Headers,
		HTTPClient: c.HTTPClient, Timeout: c.Timeout, MaxReply: c.MaxReply}, "")
	if err != nil {
		return nil, err
	}
	c.Options = maps.Clone(c.Options)
	return &client{c, e}, nil
}

// options are those of the model for one call.
func (c *client) options() map[string]any {
	o := map[string]any{}
	if c.NumCtx > 0 {
		o["num_ctx"] = c.NumCtx
	}
	return o
}

// body is what chat and embedding calls have in common.
func (c *client) body(model string, options map[string]any) map[string]any {
	body := map[string]any{"model": model, "truncate": c.Truncate}
	maps.Copy(options, c.Options)
	if len(options) > 0 {
		body["options"] = options
	}
	switch {
	case c.KeepAlive > 0:
		body["keep_alive"] = c.KeepAlive.String()
	case c.KeepAlive < 0:
		body["keep_alive"] = -1
	}
	return body
}

// Codes of failures that a person can do something about.
const (
	CodeNotPulled = "model_not_pulled"
	CodeTooLong   = "context_too_long"
)

// hinted adds to a failure of the server what helps.
func hinted(err error, model string) error {
	e := (*llm.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status == http.StatusNotFound && strings.Contains(e.Message, "not found"):
		e.Code = CodeNotPulled
		e.Message += "; fetch it with: ollama pull " + model
	case strings.Contains(e.Message, "context length") || strings.Contains(e.Message, "context size"):
		e.Code = CodeTooLong
		e.Message += "; ask for a longer context (NumCtx), or send less"
	}
	return err
}
