package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
)

func events() []index.Progress {
	return []index.Progress{
		{Document: "a", ChunksDone: 1, Chunks: 4, Documents: 2},
		{Document: "b", ChunksDone: 2, Chunks: 2, DocumentsDone: 1, Documents: 2},
		{Document: "a", ChunksDone: 4, Chunks: 4, DocumentsDone: 2, Documents: 2},
	}
}

func TestProgressIsPlainLinesWithoutATerminal(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(newOutput(&b, env(nil)))
	p.event(events()[0])
	if b.Len() != 0 {
		t.Errorf("a short run is noisy: %q", b.String())
	}
	p.every = 0
	for _, e := range events() {
		p.event(e)
	}
	p.end()
	want := "documents 0/2, chunks 1/4\ndocuments 1/2, chunks 3/6\ndocuments 2/2, chunks 6/6\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	var b bytes.Buffer
	o := newOutput(&b, env(map[string]string{"COLUMNS": "60"}))
	o.terminal = true
	p := newProgress(o)
	for _, e := range events() {
		p.event(e)
	}
	p.end()
	if got := b.String(); !strings.Contains(got, "documents 0/2") || strings.Contains(got, "\n") || !strings.HasSuffix(got, "\r") {
		t.Errorf("got %q", got)
	}
}
