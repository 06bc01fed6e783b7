package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// post sends body as JSON and returns the response of a call that the server accepted. The caller closes its
// body, which is limited to MaxReply.
func (e *endpoint) post(ctx context.Context, op, path string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, e.fail(op, "request cannot be written as JSON", err)
	}
	target := e.base.JoinPath(path)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(data))
	if err != nil {
		return nil, e.fail(op, "bad request", nil)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "glim")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	resp, err := e.HTTPClient.Do(req)
	if err != nil {
		return nil, e.broken(ctx, op, err)
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: e.MaxReply}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, e.refused(ctx, op, resp)
	}
	return resp, nil
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

func (e *endpoint) fail(op, message string, err error) *llm.Error {
	return &llm.Error{Provider: e.name, Op: op, Message: message, Err: err}
}

// unusable is a reply that cannot be understood.
func (e *endpoint) unusable(op, format string, args ...any) error {
	return &llm.Error{Provider: e.name, Op: op, Status: http.StatusOK, Message: fmt.Sprintf(format, args...), Err: llm.ErrReply}
}

// broken is a connection that failed, or the end of the context.
func (e *endpoint) broken(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errTooLong) {
		return e.unusable(op, "more than %d bytes", e.MaxReply)
	}
	// A url.Error names the whole address, which may hold a key.
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if u.Timeout() {
			return e.fail(op, "", llm.ErrTimeout)
		}
		err = u.Err
	}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	if errors.As(err, &certificate) || errors.As(err, &dns) && dns.IsNotFound {
		return e.fail(op, "", err) // will not pass by itself
	}
	return e.fail(op, "", fmt.Errorf("%w: %w", llm.ErrConnection, err))
}

// errorBodyLimit is how much of an error's body is read, excerptLimit how much of that goes into an error.
const (
	errorBodyLimit = 64 << 10
	excerptLimit   = 300
)

// refused makes an error of a response that is not 200.
func (e *endpoint) refused(ctx context.Context, op string, resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, errorBodyLimit))
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	failure := &llm.Error{Provider: e.name, Op: op, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, time.Now)}
	code, message := parseError(data)
	failure.Code, failure.Message = e.excerpt(code), e.excerpt(message)
	return failure
}

// excerpt is a text of a server, fit for an error: one line, valid, short, without secrets.
func (e *endpoint) excerpt(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(e.redact(text), "\uFFFD")), " ")
	if len(text) <= excerptLimit {
		return text
	}
	cut := excerptLimit
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// apiError is the inside of "error" in its many forms.
type apiError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

func (a apiError) code() string {
	var text string
	if json.Unmarshal(a.Code, &text) == nil && text != "" {
		return text
	}
	if code := string(a.Code); code != "" && code != "null" && code != `""` {
		return code
	}
	return a.Type
}

// parseError finds code and message in the body of an error: OpenAI's {"error": {...}}, the same in a list,
// {"error": "text"}, {"message": "text"}, {"detail": ...}, an HTML page, or plain text.
func parseError(data []byte) (code, message string) {
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(data, &body) == nil {
		var inner apiError
		var text string
		switch {
		case json.Unmarshal(body.Error, &inner) == nil && (inner.Message != "" || inner.code() != ""):
			return inner.code(), inner.Message
		case json.Unmarshal(body.Error, &text) == nil && text != "":
			return "", text
		case body.Message != "":
			return "", body.Message
		case json.Unmarshal(body.Detail, &text) == nil && text != "":
			return "", text
		}
		return "", string(data)
	}
	if page, ok := htmlTitle(data); ok {
		return "", page
	}
	return "", string(data)
}

// htmlTitle describes an HTML page by its title.
func htmlTitle(data []byte) (string, bool) {
	if !bytes.HasPrefix(data, []byte("<")) {
		return "", false
	}
	const page = "an HTML page instead of JSON"
	lower := bytes.Clone(data) // ASCII only: places must stay those of data
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	_, rest, ok := bytes.Cut(lower, []byte("<title>"))
	if !ok {
		return page, true
	}
	start := len(lower) - len(rest)
	end := bytes.Index(rest, []byte("</title>"))
	if end < 0 {
		return page, true
	}
	return page + ": " + string(data[start:start+end]), true
}

// retryAfter reads Retry-After-Ms and Retry-After (seconds, or a date as the server's clock sees it).
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	seconds := func(text string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(text, 64)
		// Beyond a year it is "never", and a Duration must not overflow.
		const longest = 365 * 24 * time.Hour
		if err != nil || !(n >= 0) {
			return 0, false
		}
		return time.Duration(min(n*float64(unit), float64(longest))), true
	}
	if d, ok := seconds(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := h.Get("Retry-After")
	if d, ok := seconds(text, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return max(0, at.Sub(date))
	}
	return max(0, at.Sub(now()))
}
