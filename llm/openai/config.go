package openai

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

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
	// EmbedDim is the length of its vectors. 0 is allowed for models that KnownDim knows. For OpenAI's
	// text-embedding-3 models it may be less than the model's own and is then sent as "dimensions".
	EmbedDim int
	// SendDim sends EmbedDim as "dimensions" to any model.
	SendDim bool
	// Base64 asks for vectors in base64, a third of the bytes; not all servers can. What arrives is understood in
	// either form.
	Base64 bool
	// QueryPrefix and DocumentPrefix are put before texts, for models that are trained with them ("query: ").
	// They are part of the embedder's ID.
	QueryPrefix, DocumentPrefix string
}

// ConfigError names the field of Config that cannot be used.
type ConfigError struct {
	Field, Problem string
}

func (e *ConfigError) Error() string { return "openai: " + e.Field + ": " + e.Problem }

// FromEnv returns the configurations for chat and for embeddings that the environment describes; getenv is
// os.Getenv or a stand-in. They differ when EnvEmbedBaseURL or EnvEmbedKey is set; a key is never sent to an
// address it was not given for, so EnvEmbedBaseURL without EnvEmbedKey means no key. EnvTimeout holds for both. An
// EnvEmbedDim that is no positive number, or an EnvTimeout that is no positive duration, is a *ConfigError.
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
			return Config{}, Config{}, &ConfigError{Field: EnvEmbedDim, Problem: fmt.Sprintf("%q is no positive number", dim)}
		}
	}
	if limit := getenv(EnvTimeout); limit != "" {
		if chat.Timeout, err = time.ParseDuration(limit); err != nil || chat.Timeout <= 0 {
			return Config{}, Config{}, &ConfigError{Field: EnvTimeout, Problem: fmt.Sprintf("%q is no positive duration such as 90s or 2m", limit)}
		}
		embed.Timeout = chat.Timeout
	}
	return chat, embed, nil
}

// knownDims are the vector lengths of models in wide use.
var knownDims = map[string]int{
	"text-embedding-3-small": 1536,
	"text-embedding-3-large": 3072,
	"text-embedding-ada-002": 1536,
	"nomic-embed-text":       768,
	"mxbai-embed-large":      1024,
	"all-minilm":             384,
	"bge-m3":                 1024,
	"snowflake-arctic-embed": 1024,
	"embeddinggemma":         768,
}

// KnownDim returns the length of the vectors of a model, or 0 when it is not known here. A tag (":latest") and
// an owner ("BAAI/") are ignored.
func KnownDim(model string) int {
	name, _, _ := strings.Cut(strings.ToLower(model), ":")
	return knownDims[name[strings.LastIndexByte(name, '/')+1:]]
}

// endpoint is a checked Config.
type endpoint struct {
	Config
	base    *url.URL
	name    string   // for errors
	secrets []string // for O1
}

const defaultMaxReply = 64 << 20

func (c Config) endpoint() (*endpoint, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		// Not the address itself: it may hold a password.
		return nil, &ConfigError{Field: "BaseURL", Problem: "want an address like " + DefaultBaseURL}
	}
	if strings.ContainsAny(c.Key, "\r\n") {
		return nil, &ConfigError{Field: "Key", Problem: "contains a line break"}
	}
	if c.Timeout < 0 {
		return nil, &ConfigError{Field: "Timeout", Problem: fmt.Sprintf("%v is negative", c.Timeout)}
	}
	if c.MaxReply <= 0 {
		c.MaxReply = defaultMaxReply
	}
	if c.HTTPClient == nil {
		c.HTTPClient = defaultClient()
	}
	c.Headers, c.ChatParams = maps.Clone(c.Headers), maps.Clone(c.ChatParams)
	e := &endpoint{Config: c, base: base, name: "openai"}
	official := base.Host == "api.openai.com"
	if !official {
		e.name = "openai@" + base.Host
	}
	if e.MaxTokensField == "" {
		e.MaxTokensField = "max_tokens"
		if official {
			e.MaxTokensField = "max_completion_tokens"
		}
	}
	secrets := append(slices.Collect(maps.Values(c.Headers)), c.Key)
	if password, ok := base.User.Password(); ok {
		secrets = append(secrets, password)
	}
	for _, values := range base.Query() {
		secrets = append(secrets, values...)
	}
	// A short value ("en", "1") is no secret, and would be cut out of words.
	const shortest = 6
	for _, s := range secrets {
		if len(s) >= shortest {
			e.secrets = append(e.secrets, s)
		}
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(e.secrets, func(a, b string) int { return len(b) - len(a) })
	return e, nil
}

// redact takes the secrets out of a text that a server wrote.
func (e *endpoint) redact(text string) string {
	for _, s := range e.secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	return text
}

// defaultClient is shared, so that connections are. It is made at first use.
var defaultClient = sync.OnceValue(func() *http.Client {
	transport := http.DefaultTransport
	if t, ok := transport.(*http.Transport); ok {
		t = t.Clone()
		// As many connections as calls may run at once stay open; the default is 2 a host.
		t.MaxIdleConnsPerHost = 64
		transport = t
	}
	return &http.Client{
		Transport: transport,
		// A redirect would turn the call into a GET, or send key and text to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
})
