package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// DefaultBaseURL is Anthropic's own.
const DefaultBaseURL = "https://api.anthropic.com"

const (
	provider     = "anthropic"
	officialHost = "api.anthropic.com"
	version      = "2023-06-01" // of the call, which the service wants named

	defaultMaxTokens = 8192 // what all models in service can reply, and more than any prompt of Glim asks for
)

// Config says where the model is and how to call it.
type Config struct {
	// BaseURL is the address before "/v1/messages"; default DefaultBaseURL.
	BaseURL string
	// Key is sent as x-api-key; empty sends none.
	Key string
	// Headers are added to each request, and replace those that the client would set.
	Headers map[string]string
	// HTTPClient is used as it is; nil: one that follows no redirects and honours the proxy variables.
	HTTPClient *http.Client
	// Timeout bounds each silence of the model: before its first word and between two. What it ends is a retryable
	// *llm.Error with llm.ErrTimeout. 0: no limit of its own.
	Timeout time.Duration
	// MaxReply bounds the bytes of one reply; default 64 MiB.
	MaxReply int64

	// ChatModel is the model.
	ChatModel string
	// MaxTokens bounds replies to requests that do not say, for the service wants a bound; default 8,192. A reply that
	// reaches it ends with llm.FinishLength.
	MaxTokens int
	// Params are added to the body of each call, and may replace what is there. They are part of the model's ID.
	Params map[string]any
}

// Chat is a chat model.
type Chat struct {
	Config
	*endpoint.Endpoint
	id string
}

var _ llm.Chat = (*Chat)(nil)

// NewChat returns the model of c. It makes no call; a Config that cannot be used is an *llm.ConfigError.
func NewChat(c Config) (*Chat, error) {
	wrong := func(field, format string, args ...any) error {
		return &llm.ConfigError{Provider: provider, Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	if c.ChatModel == "" {
		return nil, wrong("ChatModel", "is empty")
	}
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.MaxTokens < 0 {
		return nil, wrong("MaxTokens", "%d is negative", c.MaxTokens)
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	headers := map[string]string{"Anthropic-Version": version}
	maps.Copy(headers, c.Headers)
	e, err := endpoint.New(endpoint.Config{Provider: provider, URL: c.BaseURL, Field: "BaseURL", Key: c.Key, KeyHeader: "X-Api-Key",
		Headers: headers, HTTPClient: c.HTTPClient, Timeout: c.Timeout, MaxReply: c.MaxReply}, officialHost)
	if err != nil {
		return nil, err
	}
	id := provider + "/" + c.ChatModel + "@" + e.Host
	if len(c.Params) > 0 {
		params, err := json.Marshal(c.Params) // keys sorted
		if err != nil {
			return nil, wrong("Params", "%v", err)
		}
		id += string(params)
	}
	c.Params = maps.Clone(c.Params)
	return &Chat{c, e, id}, nil
}

// ID returns model, server and parameters.
func (c *Chat) ID() string { return c.id }
