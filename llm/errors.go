package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

var (
	// ErrNoModel says that the operation needs a model and none is configured.
	ErrNoModel = errors.New("llm: no model configured")
	// ErrReply says that the provider answered something that is not what its interface promises (another format, no
	// choices, a page of HTML). Errors carry it inside an *Error.
	ErrReply = errors.New("llm: unusable reply")
	// ErrTimeout says that a model stayed silent for longer than allowed. Errors carry it inside an *Error.
	ErrTimeout = errors.New("llm: model timed out")
	// ErrConnection says that no connection came about, or it broke. Errors carry it inside an *Error.
	ErrConnection = errors.New("llm: connection failed")
	// ErrVectors says that an embedder returned vectors that must not be used. Errors carry it inside a *VectorError.
	ErrVectors = errors.New("llm: unusable vectors")
)

// Error is a failed call to a provider. It never holds a key, and of a reply at most a short excerpt.
type Error struct {
	Provider string // "openai", ...
	Op       string // "chat", "embed", "rerank"
	// Status is the HTTP status; 0 when no response arrived.
	Status int
	// Code and Message are the provider's own words, or ours when it had none.
	Code, Message string
	// RetryAfter is how long the provider asked to wait; 0 when it did not say.
	RetryAfter time.Duration
	// Err is the cause below, if there is one.
	Err error
}

func (e *Error) Error() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "llm: %s %s", e.Provider, e.Op)
	if e.Status != 0 {
		fmt.Fprintf(&sb, ": status %d", e.Status)
		if text := http.StatusText(e.Status); text != "" {
			sb.WriteString(" " + text)
		}
	}
	if e.Code != "" {
		sb.WriteString(": " + e.Code)
	}
	if e.Message != "" {
		sb.WriteString(": " + e.Message)
	}
	if e.Err != nil {
		sb.WriteString(": " + e.Err.Error())
	}
	return sb.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Codes that no waiting cures although they come with status 429.
var permanentCodes = map[string]bool{
	"insufficient_quota":         true,
	"billing_hard_limit_reached": true,
}

// Retryable says whether the same call may succeed later: status 408, 425, 429 (but for an exhausted
// quota) and 5xx (but for 501 and 505), a timeout, or a connection that failed or broke.
func (e *Error) Retryable() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusTooManyRequests:
		return !permanentCodes[e.Code]
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	if e.Status >= 500 {
		return true
	}
	if e.Status >= 300 {
		return false
	}
	return errors.Is(e.Err, ErrTimeout) || errors.Is(e.Err, ErrConnection) || brokenConnection(e.Err)
}

// Retryable says whether err is worth another attempt. It is for an *Error that is Retryable and for a
// connection that failed or broke; never for the end of the caller's context.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Retryable()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return brokenConnection(err)
}

func brokenConnection(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrReply) {
		return false
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return true
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTemporary || dns.IsTimeout
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return true
	}
	var u *url.Error
	return errors.As(err, &u) && u.Timeout()
}

// VectorError says what is wrong with the answer of an embedder.
type VectorError struct {
	Model string // the embedder's ID
	// Index is the text whose vector is wrong; -1 when their number is.
	Index int
	// Got and Want are the number of vectors when Index is -1, else the dimension.
	Got, Want int
	// Reason is "count", "dimension", "not finite" or "zero".
	Reason string
}

// The values of VectorError.Reason.
const (
	ReasonCount     = "count"
	ReasonDimension = "dimension"
	ReasonNotFinite = "not finite"
	ReasonZero      = "zero"
)

func (e *VectorError) Error() string {
	switch e.Reason {
	case ReasonCount:
		return fmt.Sprintf("llm: embedder %s returned %d vectors for %d texts", e.Model, e.Got, e.Want)
	case ReasonDimension:
		return fmt.Sprintf("llm: embedder %s returned a vector of dimension %d for text %d, want %d", e.Model, e.Got, e.Index, e.Want)
	}
	return fmt.Sprintf("llm: embedder %s returned a vector that is %s for text %d", e.Model, e.Reason, e.Index)
}

func (e *VectorError) Unwrap() error { return ErrVectors }
