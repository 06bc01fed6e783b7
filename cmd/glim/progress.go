package main

import (
	"fmt"
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
	w     *output
	bar   *progressbar.ProgressBar
	every time.Duration

	mu        sync.Mutex
	chunks    map[string][2]int // done and all, by document
	done, all int               // their sums
	shown     time.Time
}

func newProgress(w *output) *progress {
	p := &progress{w: w, every: plainEvery, chunks: make(map[string][2]int), shown: time.Now()}
	if w.terminal {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("chunks"), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(min(30, w.width/3)))
	}
	return p
}

func (p *progress) event(e index.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.chunks[e.Document]
	p.chunks[e.Document] = [2]int{e.ChunksDone, e.Chunks}
	p.done, p.all = p.done+e.ChunksDone-old[0], p.all+e.Chunks-old[1]
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("documents %d/%d", e.DocumentsDone, e.Documents))
		p.bar.ChangeMax(max(p.all, 1))
		_ = p.bar.Set(p.done)
		return
	}
	if now := time.Now(); now.Sub(p.shown) >= p.every {
		p.shown = now
		p.w.printf("documents %d/%d, chunks %d/%d\n", e.DocumentsDone, e.Documents, p.done, p.all)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
