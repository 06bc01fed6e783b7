package llmtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
)

// Target is where a client under TestHTTP is to call.
type Target struct {
	URL string
	// Key and the address's password are secrets that no error may show.
	Key string
	// MaxReply bounds a reply.
	MaxReply int64
	// Timeout bounds a call; 0: nothing does.
	Timeout time.Duration
}

// TestHTTP checks how a client over HTTP fails, whatever it asks for: each failure is an *llm.Error of op with status,
// wait and short text, retryable or not, without secrets. call makes one call of a client for the target.
func TestHTTP(t *testing.T, op string, call func(ctx context.Context, to Target) error) {
	t.Helper()
	const secret = "sk-live-0123456789abcdef"
	const limit = 1 << 20
	for _, c := range []struct {
		name      string
		handle    http.HandlerFunc
		status    int
		contains  string
		is        error
		after     time.Duration
		retryable bool
	}{
		{"wrong key", RespondJSON(401, `{"error":{"message":"Incorrect API key provided: `+secret+`."}}`), 401, "provided: [redacted].", nil, 0, false},
		{"error as text", RespondJSON(400, `{"error":"no such thing"}`), 400, "no such thing", nil, 0, false},
		{"rate limit", WithHeader("Retry-After", "12", RespondJSON(429, `{"message":"Slow down"}`)), 429, "Slow down", nil, 12 * time.Second, true},
		{"rate limit without a wait", RespondJSON(429, `{}`), 429, "", nil, 0, true},
		{"server error", Respond(500, "text/plain", "internal\n\n  server\terror"), 500, "internal server error", nil, 0, true},
		{"bad gateway page", Respond(502, "text/html", "<html>\n<head><title>502 Bad Gateway</title></head><body>nginx</body></html>"), 502, "an HTML page instead of JSON: 502 Bad Gateway", nil, 0, true},
		{"busy", WithHeader("Retry-After", "3", Respond(503, "text/html", "<html><title>busy</title></html>")), 503, "busy", nil, 3 * time.Second, true},
		{"overloaded", RespondJSON(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), 529, "overloaded_error: Overloaded", nil, 0, true},
		{"validation", RespondJSON(422, `{"detail":[{"loc":["body"],"msg":"bad"}]}`), 422, `"msg":"bad"`, nil, 0, false},
		{"redirect", WithHeader("Location", "https://elsewhere.example/", Respond(307, "text/plain", "")), 307, "", nil, 0, false},
		{"huge error", Respond(500, "text/plain", strings.Repeat("月", 100_000)), 500, "月…", nil, 0, true},
		{"not JSON", RespondJSON(200, `hello`), 200, "hello", llm.ErrReply, 0, false},
		{"other JSON", RespondJSON(200, `["other"]`), 200, "", llm.ErrReply, 0, false},
		{"empty object", RespondJSON(200, `{}`), 200, "", llm.ErrReply, 0, false},
		{"error in a 200", RespondJSON(200, `{"error":"context too long"}`), 200, "context too long", llm.ErrReply, 0, false},
		{"page with status 200", Respond(200, "text/html; charset=utf-8", "<!doctype html><TITLE>Sign in</TITLE>"), 200, "HTML page instead of JSON: Sign in", llm.ErrReply, 0, false},
		{"endless", RespondJSON(200, strings.Repeat(" ", 2*limit)), 200, "more than 1048576 bytes", llm.ErrReply, 0, false},
		{"connection cut", CutOff(RespondJSON(200, ` `)), 0, "", llm.ErrConnection, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := call(t.Context(), Target{URL: NewServer(t, c.handle).URL, Key: secret, MaxReply: limit})
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			text := err.Error()
			if e.Status != c.status || !strings.Contains(text, c.contains) || e.RetryAfter != c.after || e.Op != op {
				t.Errorf("%#v: %v", e, err)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is no %v", err, c.is)
			}
			if llm.Retryable(err) != c.retryable {
				t.Errorf("%v: retryable %v", err, !c.retryable)
			}
			if strings.Contains(text, secret) || len(text) > 600 || strings.ContainsAny(text, "\n\r") {
				t.Errorf("text of %d bytes: %s", len(text), text)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		srv := NewServer(t, RespondJSON(200, "{}"))
		to := Target{URL: strings.Replace(srv.URL, "http://", "http://user:"+secret+"@", 1) + "?key=" + secret}
		srv.Close()
		err := call(t.Context(), to)
		if !errors.Is(err, llm.ErrConnection) || !llm.Retryable(err) || strings.Contains(err.Error(), secret) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("time limits", func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		srv := NewServer(t, func(_ http.ResponseWriter, r *http.Request) { _ = pass(r.Context(), release) })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := call(ctx, Target{URL: srv.URL}); !errors.Is(err, context.DeadlineExceeded) || llm.Retryable(err) {
			t.Errorf("the caller's: %v", err)
		}
		if err := call(t.Context(), Target{URL: srv.URL, Timeout: 20 * time.Millisecond}); !errors.Is(err, llm.ErrTimeout) || !llm.Retryable(err) {
			t.Errorf("the client's: %v", err)
		}
	})
}
