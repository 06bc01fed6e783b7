package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glimdb/db/index"
	"github.com/rivo/uniseg"
)

// events are those of three documents, each a moment after the one before. The third fails; it is cut while the
// second is done already.
func events() []index.Progress {
	return []index.Progress{
		{Document: "a", ChunksDone: 0, Chunks: 4, Documents: 3},
		{Document: "a", ChunksDone: 1, Chunks: 4, Documents: 3},
		{Document: "b", ChunksDone: 2, Chunks: 2, DocumentsDone: 1, Documents: 3, Stage: index.StageDone},
		{Document: "a", ChunksDone: 4, Chunks: 4, DocumentsDone: 2, Documents: 3, Stage: index.StageDone},
		{Document: "c", ChunksDone: 0, Chunks: 6, DocumentsDone: 1, Documents: 3}, // was overtaken
		{Document: "c", ChunksDone: 2, Chunks: 6, DocumentsDone: 3, Documents: 3, Stage: index.StageFailed},
	}
}

// rendered are the events' texts: counts, rate, and remaining time, for which a document that is not cut yet counts
// as long as the others.
var rendered = []string{
	"documents 0/3, chunks 0/4",                    // nothing done, nothing to tell
	"documents 0/3, chunks 1/4, 0.1/s, 1m50s left", // 1 of 3*4 in 10 s
	"documents 1/3, chunks 3/6, 0.2/s, 30s left",   // 3 of 6+3 in 15 s
	"documents 2/3, chunks 6/6, 0.3/s, 10s left",   // 6 of 6+3 in 20 s
	"documents 2/3, chunks 6/12, 0.2/s, 25s left",  // 6 of 12 in 25 s
	"documents 3/3, chunks 8/8, 0.3/s, 0s left",
}

const moment = 5 * time.Second

func TestProgressIsPlainLinesWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := newProgress(newOutput(&b, env(nil)))
		for _, e := range events() {
			p.event(e) // at once: a short run says nothing
		}
		if b.Len() != 0 {
			t.Errorf("a short run is noisy: %q", b.String())
		}
		p = newProgress(newOutput(&b, env(nil)))
		for i, e := range events() {
			time.Sleep(moment)
			p.event(e)
			p.event(e) // a moment has one line
			if want := rendered[i] + "\n"; b.String() != want {
				t.Errorf("event %d: %q, want %q", i, b.String(), want)
			}
			b.Reset()
		}
		p.end()
		if b.Len() != 0 {
			t.Errorf("the end says %q", b.String())
		}
	})
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			o := newOutput(&b, env(nil))
			o.terminal, o.width = true, width
			p := newProgress(o)
			for i, e := range events() {
				time.Sleep(moment)
				b.Reset()
				p.event(e)
				drawn := drawings(b.String())
				if len(drawn) != 1 || strings.Contains(b.String(), "\n") || uniseg.StringWidth(drawn[0]) > width {
					t.Fatalf("width %d, event %d: %q, want one line", width, i, b.String())
				}
				if !strings.Contains(drawn[0], "% |") || width >= 80 && !strings.HasPrefix(drawn[0], rendered[i]+" ") {
					t.Errorf("width %d, event %d: %q, want %q before a bar", width, i, drawn[0], rendered[i])
				}
			}
			p.end()
			if _, last, _ := strings.Cut(b.String(), "|  \r"); strings.Trim(last, " ") != "\r" {
				t.Errorf("width %d: the bar stays behind: %q", width, b.String())
			}
		})
	}
}

// drawings are the texts that a line held, one after the other, blanks left out.
func drawings(s string) (texts []string) {
	for text := range strings.SplitSeq(s, "\r") {
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
