package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
)

// However a model cannot be reached, the exit code is the same.
func TestUnreachableModels(t *testing.T) {
	a := newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, env(nil))
	for name, below := range map[string]error{
		"unknown host": &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}},
		"no name server": fmt.Errorf("%w: %w", llm.ErrConnection,
			&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}}),
		"refused": fmt.Errorf("%w: %w", llm.ErrConnection, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}),
		"silent":  llm.ErrTimeout,
	} {
		call := &llm.Error{Provider: "openai", Op: "chat", Err: below}
		f := a.explain(&query.UpstreamError{Step: query.StepAnswer, Model: "openai/fake", Err: call})
		if f.code != exitUnavailable || !strings.Contains(f.hint, "--base-url") {
			t.Errorf("%s: exit code %d, hint %q", name, f.code, f.hint)
		}
	}
	call := &llm.Error{Provider: "openai", Op: "chat", Status: 200, Err: llm.ErrReply}
	if f := a.explain(call); f.code != exitFailure {
		t.Errorf("a reply of no use: exit code %d", f.code)
	}
}
