package llmtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a fake of a model server that keeps what it was sent.
type Server struct {
	*httptest.Server
	mu   sync.Mutex
	sent []Sent
}

// Sent is one request.
type Sent struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// NewServer returns a server that lives as long as the test. A request that is no JSON object fails the test.
func NewServer(t *testing.T, handle http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil {
			err = json.Unmarshal(data, &body)
		}
		if err != nil {
			t.Errorf("request body: %v", err)
		}
		s.mu.Lock()
		s.sent = append(s.sent, Sent{r.URL.Path, r.Header.Clone(), body})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(data))
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent(nil), s.sent...)
}

// Last returns the last request; there must be one.
func (s *Server) Last() Sent {
	all := s.Requests()
	return all[len(all)-1]
}

// Respond answers every request with this status, type and body.
func Respond(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// RespondJSON answers every request with this status and JSON.
func RespondJSON(status int, body string) http.HandlerFunc {
	return Respond(status, "application/json", body)
}

// WithHeader sets a header of the answers of next.
func WithHeader(name, value string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		next(w, r)
	}
}

// CutOff sends what next answers and then breaks the connection.
func CutOff(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Enter tells a script's Entered that a call is here. It reports false when the call has ended meanwhile.
func (s Script) Enter(r *http.Request) bool { return wait(r.Context(), s.Entered, nil) == nil }

// Held waits for a script's Hold. It reports false when the call has ended meanwhile.
func (s Script) Held(r *http.Request) bool { return pass(r.Context(), s.Hold) == nil }
