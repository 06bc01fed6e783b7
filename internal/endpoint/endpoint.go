package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glimdb/db/llm"
)

// Config says where a server is and how to speak to it.
type Config struct {
	// Provider is the client's name, for errors.
	Provider string
	// URL is the address below which the calls are, or that of the one call; Field is what the caller's own
	// configuration calls it.
	URL, Field string
	// Key is sent as a bearer token, or as the value of KeyHeader when that is set; empty sends none.
	Key, KeyHeader string
	// Headers are added to each request, and replace those that the client would set.
	Headers map[string]string
	// HTTPClient is used as it is; nil: one that follows no redirects, honours the proxy variables and has no limit on
	// the length of a call.
	HTTPClient *http.Client
	// Timeout is checked here and applied by the caller.
	Timeout time.Duration
	// MaxReply bounds the bytes of one reply; 0 or less: DefaultMaxReply.
	MaxReply int64
}

// DefaultMaxReply is the largest reply that is read when Config does not say.
const DefaultMaxReply = 64 << 20

// Endpoint is a checked Config.
type Endpoint struct {
	// Host is the address's.
	Host string
	// Name is what errors call the server: the provider, and unless it is the provider's own, the host.
	Name string

	config  Config
	base    *url.URL
	secrets []string // for E1
}

// New checks c. own is the host of the provider itself, which errors need not name; empty: there is none. The error is an
// *llm.ConfigError.
func New(c Config, own string) (*Endpoint, error) {
	wrong := func(field, problem string) error {
		return &llm.ConfigError{Provider: c.Provider, Field: field, Problem: problem}
	}
	base, err := url.Parse(c.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		// Not the address itself: it may hold a password.
		return nil, wrong(c.Field, "want an address that begins with http:// or https://")
	}
	if strings.ContainsAny(c.Key, "\r\n") {
		return nil, wrong("Key", "contains a line break")
	}
	if c.Timeout < 0 {
		return nil, wrong("Timeout", fmt.Sprintf("%v is negative", c.Timeout))
	}
	if c.MaxReply <= 0 {
		c.MaxReply = DefaultMaxReply
	}
	if c.HTTPClient == nil {
		c.HTTPClient = defaultClient()
	}
	c.Headers = maps.Clone(c.Headers)
	e := &Endpoint{Host: base.Host, Name: c.Provider, config: c, base: base}
	if base.Host != own {
		e.Name += "@" + base.Host
	}
	e.secrets = secretsOf(c, base)
	return e, nil
}

// secretsOf lists what must not show, the longest first: one secret may be part of another.
func secretsOf(c Config, base *url.URL) (secrets []string) {
	all := append(slices.Collect(maps.Values(c.Headers)), c.Key)
	if password, ok := base.User.Password(); ok {
		all = append(all, password)
	}
	for _, values := range base.Query() {
		all = append(all, values...)
	}
	// A short value ("en", "1") is no secret, and would be cut out of words.
	const shortest = 6
	for _, s := range all {
		if len(s) >= shortest {
			secrets = append(secrets, s)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

// Post sends body as JSON to path below the address ("" is the address itself) and returns the response of a call that
// the server accepted. The caller closes its body, which is limited to MaxReply. op is for errors.
func (e *Endpoint) Post(ctx context.Context, op, path string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, e.Fail(op, "request cannot be written as JSON", err)
	}
	target := e.base
	if path != "" {
		target = target.JoinPath(path)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(data))
	if err != nil {
		return nil, e.Fail(op, "bad request", nil)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "glim")
	switch {
	case e.config.Key == "":
	case e.config.KeyHeader != "":
		req.Header.Set(e.config.KeyHeader, e.config.Key)
	default:
		req.Header.Set("Authorization", "Bearer "+e.config.Key)
	}
	for name, value := range e.config.Headers {
		req.Header.Set(name, value)
	}
	resp, err := e.config.HTTPClient.Do(req)
	if err != nil {
		return nil, e.Broken(ctx, op, err)
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: e.config.MaxReply}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, e.refused(ctx, op, resp)
	}
	return resp, nil
}

// Call is Post for a reply in one piece, which it returns.
func (e *Endpoint) Call(ctx context.Context, op, path string, body any) ([]byte, error) {
	resp, err := e.Post(ctx, op, path, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return e.Whole(ctx, op, resp.Body)
}

// Whole reads the rest of a reply.
func (e *Endpoint) Whole(ctx context.Context, op string, body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, e.Broken(ctx, op, err)
	}
	return data, nil
}

// limitedBody fails, instead of ending early, when a body is too long.
type limitedBody struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("reply is too long")

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The end may lie exactly here.
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
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
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
})
