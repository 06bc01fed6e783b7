package openai

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// provider is the name of this one in identities and errors.
const provider = "openai"

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// The environment variables that FromEnv reads.
const (
	EnvKey          = "OPENAI_API_KEY"
	EnvBaseURL      = "OPENAI_BASE_URL"
	EnvChatModel    = "GLIM_CHAT_MODEL"
	EnvEmbedModel   = "GLIM_EMBED_MODEL"
	EnvEmbedDim     = "GLIM_EMBED_DIM"
	EnvEmbedKey     = "GLIM_EMBED_API_KEY"  // when embeddings come from another server
	EnvEmbedBaseURL = "GLIM_EMBED_BASE_URL" // likewise
	EnvTimeout      = "GLIM_TIMEOUT"        // a duration such as 90s or 2m, for both
)

// Config says where the models are and how to call them. The zero value is OpenAI without a key.
type Config struct {
	// BaseURL is the address before "/chat/completions"; default DefaultBaseURL. Ollama's is
	// http://localhost:11434/v1.
	BaseURL string
	// Key is sent as a bearer token; empty sends none, as local servers want it.
	Key string
	// Headers are added to each request, and replace those that the client would set.
	Headers map[string]string
	// HTTPClient is used as it is; default one that follows no redirects, honours the proxy variables and has no
	// limit on the length of a call: Timeout is for that.
	HTTPClient *http.Client
	// Timeout bounds one embedding call, and each silence of the chat model: before its first word and between
	// two, so that a long reply may take its time. What it ends is a retryable *llm.Error with llm.ErrTimeout.
	// 0: no limit of its own. db.Options.ModelTimeout holds as well; the shorter one counts.
	Timeout time.Duration
	// MaxReply bounds the bytes of one reply; default 64 MiB.
	MaxReply int64

	// ChatModel is the model for NewChat.
	ChatModel string
	// ChatParams are added to the body of each chat call, for example {"reasoning_effort": "low"}, and may replace
	// what is there. They are part of the model's ID.
	ChatParams map[string]any
	// WholeReplies asks for replies in one piece, for servers that cannot stream.
	WholeReplies bool
	// MaxTokensField is the name of the parameter that bounds a reply; default "max_completion_tokens" for OpenAI
	// itself and "max_tokens" elsewhere.
	MaxTokensField string

	// EmbedModel is the model for NewEmbedder.
	EmbedModel string
	// EmbedDim is the length of its vectors. 0 is allowed for models that llm.KnownDim knows. For OpenAI's
	// text-embedding-3 models it may be less than the model's own and is then sent as "dimensions".
	EmbedDim int
	// SendDim sends EmbedDim as "dimensions" to any model.
	SendDim bool
	// Base64 asks for vectors in base64, a third of the bytes; not all servers can. What arrives is understood in
	// either form.
	Base64 bool
}

// FromEnv returns the configurations for chat and for embeddings that the environment describes; getenv is
// os.Getenv or a stand-in. They differ when EnvEmbedBaseURL or EnvEmbedKey is set; a key is never sent to an
// address it was not given for, so EnvEmbedBaseURL without EnvEmbedKey means no key. EnvTimeout holds for both. An
// EnvEmbedDim that is no positive number, or an EnvTimeout that is no positive duration, is a *llm.ConfigError.
func FromEnv(getenv func(string) string) (chat, embed Config, err error) {
	chat = Config{BaseURL: getenv(EnvBaseURL), Key: getenv(EnvKey), ChatModel: getenv(EnvChatModel)}
	embed = Config{BaseURL: chat.BaseURL, Key: chat.Key, EmbedModel: getenv(EnvEmbedModel)}
	if base := getenv(EnvEmbedBaseURL); base != "" {
		embed.BaseURL, embed.Key = base, ""
	}
	if key := getenv(EnvEmbedKey); key != "" {
		embed.Key = key
	}
	if dim := getenv(EnvEmbedDim); dim != "" {
		if embed.EmbedDim, err = strconv.Atoi(dim); err != nil || embed.EmbedDim < 1 {
			return Config{}, Config{}, &llm.ConfigError{Provider: provider, Field: EnvEmbedDim, Problem: fmt.Sprintf("%q is no positive number", dim)}
		}
	}
	if limit := getenv(EnvTimeout); limit != "" {
		if chat.Timeout, err = time.ParseDuration(limit); err != nil || chat.Timeout <= 0 {
			return Config{}, Config{}, &llm.ConfigError{Provider: provider, Field: EnvTimeout, Problem: fmt.Sprintf("%q is no positive duration such as 90s or 2m", limit)}
		}
		embed.Timeout = chat.Timeout
	}
	return chat, embed, nil
}

// client is a checked Config and its server.
type client struct {
	Config
	*endpoint.Endpoint
}

// officialHost is that of DefaultBaseURL.
const officialHost = "api.openai.com"

func (c Config) client() (*client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	e, err := endpoint.New(endpoint.Config{Provider: provider, URL: c.BaseURL, Field: "BaseURL", Key: c.Key, Headers: c.Headers,
		HTTPClient: c.HTTPClient, Timeout: c.Timeout, MaxReply: c.MaxReply}, officialHost)
	if err != nil {
		return nil, err
	}
	c.ChatParams = maps.Clone(c.ChatParams)
	if c.MaxTokensField == "" {
		c.MaxTokensField = "max_tokens"
		if e.Host == officialHost {
			c.MaxTokensField = "max_completion_tokens"
		}
	}
	return &client{c, e}, nil
}
