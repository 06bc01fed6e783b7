package endpoint

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

// Fail is a call that failed before a reply came.
func (e *Endpoint) Fail(op, message string, err error) *llm.Error {
	return &llm.Error{Provider: e.Name, Op: op, Message: message, Err: err}
}

// Unusable is a reply that cannot be understood. Texts of the server go through Excerpt first.
func (e *Endpoint) Unusable(op, format string, args ...any) *llm.Error {
	return &llm.Error{Provider: e.Name, Op: op, Status: http.StatusOK, Message: fmt.Sprintf(format, args...), Err: llm.ErrReply}
}

// BrokenOff is a stream that ended before the model said why.
func (e *Endpoint) BrokenOff(op string) *llm.Error {
	return &llm.Error{Provider: e.Name, Op: op, Status: http.StatusOK, Message: "the stream broke off", Err: io.ErrUnexpectedEOF}
}

// Page is the error of a reply that is no JSON although its status is 200, such as the HTML page of a login wall.
func (e *Endpoint) Page(ctx context.Context, op string, body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, errorBodyLimit))
	if err != nil {
		return e.Broken(ctx, op, err)
	}
	_, text := ParseError(data)
	return e.Unusable(op, "%s", e.Excerpt(text))
}

// Broken is a connection that failed, or the end of the context.
func (e *Endpoint) Broken(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errTooLong) {
		return e.Unusable(op, "more than %d bytes", e.config.MaxReply)
	}
	// A url.Error names the whole address, which may hold a key.
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if u.Timeout() {
			return e.Fail(op, "", llm.ErrTimeout)
		}
		err = u.Err
	}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	if errors.As(err, &certificate) || errors.As(err, &dns) && dns.IsNotFound {
		return e.Fail(op, "", err) // will not pass by itself
	}
	return e.Fail(op, "", fmt.Errorf("%w: %w", llm.ErrConnection, err))
}

// errorBodyLimit is how much of an error's body is read, excerptLimit how much of that goes into an error.
const (
	errorBodyLimit = 64 << 10
	excerptLimit   = 300
)

// refused makes an error of a response that is not 200.
func (e *Endpoint) refused(ctx context.Context, op string, resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, errorBodyLimit))
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	failure := &llm.Error{Provider: e.Name, Op: op, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, time.Now)}
	code, message := ParseError(data)
	failure.Code, failure.Message = e.Excerpt(code), e.Excerpt(message)
	return failure
}

// Excerpt is a text of a server, fit for an error: one line, valid, short, without secrets.
func (e *Endpoint) Excerpt(text string) string {
	for _, s := range e.secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
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

// ParseError finds code and message in the body of an error: {"error": {...}}, the same in a list, {"error": "text"},
// {"code": "x", "message": "text"}, {"detail": ...}, an HTML page, or plain text.
func ParseError(data []byte) (code, message string) {
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var body struct {
		apiError
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
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
			body.Type = "" // "error", "object": of no use
			return body.code(), body.Message
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
