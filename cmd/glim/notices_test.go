package main

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

func TestNotices(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(newNotices(newOutput(&b, env(nil))))
	l.Debug("nothing for a person")
	l.Info("model call failed, trying again", "model", "openai/m", "wait", 1500*time.Millisecond, "status", 0)
	l.With("collection", "x").Warn("vector: rebuilt", "status", 503, "text", "two\nlines\x1b[31m")
	want := "note: model call failed, trying again: model=openai/m wait=1.5s\n" +
		"note: rebuilt: collection=x status=503 text=two\uFFFDlines\uFFFD[31m\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
