package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/glimdb/db/index"
	"github.com/schollz/progressbar/v3"
)

// plainEvery is the least time between two progress lines where the output is no terminal: a log of a
// long run stays readable.
const plainEvery = 5 * time.Second

// progress shows how far processing is: a bar with rate and remaining time on a terminal, plain lines
// elsewhere. Its events come from several goroutines.
type progress struct {
	w   io.Writer
	bar *progressbar.ProgressBar

	mu        sync.Mutex
	chunks    map[string][2]int // done and all, of documents under way and ended
	documents [2]int
	shown     time.Time
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, chunks: make(map[string][2]int), shown: time.Now()}
	if isTerminal(w) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("chunks"), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	}
	return p
}

func (p *progress) event(e index.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks[e.Document] = [2]int{e.ChunksDone, e.Chunks}
	p.documents = [2]int{e.DocumentsDone, e.Documents}
	done, all := 0, 0
	for _, c := range p.chunks {
		done, all = done+c[0], all+c[1]
	}
	if p.bar != nil {
		p.bar.ChangeMax(max(all, 1))
		p.bar.Describe(fmt.Sprintf("documents %d/%d", p.documents[0], p.documents[1]))
		_ = p.bar.Set(done)
		return
	}
	if now := time.Now(); now.Sub(p.shown) >= plainEvery {
		p.shown = now
		fmt.Fprintf(p.w, "documents %d/%d, chunks %d/%d\n", p.documents[0], p.documents[1], done, all)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
