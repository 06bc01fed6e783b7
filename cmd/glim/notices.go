package main

import (
	"context"
	"log/slog"
	"sync"
)

// notices puts what the library reports while it works on standard error, a line each: that a model does
// not answer and is tried again, so that nobody waits without a word, and what went wrong without ending
// the command.
type notices struct {
	to    *output
	attrs string
	mu    *sync.Mutex
}

func newNotices(to *output) *notices { return &notices{to: to, mu: new(sync.Mutex)} }

func (n *notices) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle prints "note: model call failed, trying again: model=openai/m wait=1s".
func (n *notices) Handle(_ context.Context, r slog.Record) error {
	text, sep := n.attrs, ": "
	if text != "" {
		sep = " "
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "status" && a.Value.Kind() == slog.KindInt64 && a.Value.Int64() == 0 {
			return true // no response, so none
		}
		text += sep + attr(a)
		sep = " "
		return true
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.to.printf("note: %s%s\n", packageNames.ReplaceAllString(r.Message, "$1"), text)
	return n.to.err
}

func attr(a slog.Attr) string {
	if d := a.Value.Resolve(); d.Kind() == slog.KindDuration {
		return a.Key + "=" + short(d.Duration())
	}
	return a.Key + "=" + a.Value.String()
}

// WithAttrs is part of slog.Handler.
func (n *notices) WithAttrs(as []slog.Attr) slog.Handler {
	with := *n
	for _, a := range as {
		sep := " "
		if with.attrs == "" {
			sep = ": "
		}
		with.attrs += sep + attr(a)
	}
	return &with
}

// WithGroup is part of slog.Handler; a line for a person needs no groups.
func (n *notices) WithGroup(string) slog.Handler { return n }
