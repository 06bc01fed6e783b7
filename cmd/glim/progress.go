package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/glimdb/db/index"
	"github.com/schollz/progressbar/v3"
)

const (
	// plainEvery is the least time between two progress lines where the output is no terminal: a log of a
	// long run stays readable.
	plainEvery = 5 * time.Second
	// barEvery is the least time between two drawings of the bar.
	barEvery = 100 * time.Millisecond
	// Columns of the bar itself, and of its frame with the per cent.
	minBar, maxBar, barFrame = 5, 30, 9
	// statusRoom is what the text before the bar may take: numbers of five digits.
	statusRoom = 62
)

// progress shows how far processing is, how fast it goes and how long it will take: before a bar on a terminal,
// in plain lines elsewhere. Its events come from several goroutines.
type progress struct {
	w     *output
	bar   *progressbar.ProgressBar
	every time.Duration

	mu           sync.Mutex
	began, shown time.Time
	chunks       map[string][2]int // done and all, by document
	done, all    int               // their sums
	ended, docs  int               // documents
}

func newProgress(w *output) *progress {
	now := time.Now()
	p := &progress{w: w, every: plainEvery, chunks: make(map[string][2]int), began: now, shown: now}
	if w.terminal {
		p.bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(barEvery), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(max(minBar, min(maxBar, w.width-statusRoom-barFrame))))
	}
	return p
}

func (p *progress) event(e index.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.chunks[e.Document]
	if e.Stage == index.StageFailed {
		e.Chunks = e.ChunksDone // the others will not come
	}
	p.chunks[e.Document] = [2]int{e.ChunksDone, e.Chunks}
	p.done, p.all = p.done+e.ChunksDone-old[0], p.all+e.Chunks-old[1]
	p.ended, p.docs = max(p.ended, e.DocumentsDone), max(p.docs, e.Documents) // events may overtake each other
	now := time.Now()
	if p.bar != nil {
		p.bar.Describe(clip(p.status(now), p.w.width-minBar-barFrame))
		// A document is one step more than its chunks, the merge: a bar that was full once stays away.
		p.bar.ChangeMax(max(1, p.expected()+p.docs))
		_ = p.bar.Set(p.done + p.ended)
		return
	}
	if now.Sub(p.shown) >= p.every {
		p.shown = now
		p.w.printf("%s\n", p.status(now))
	}
}

// expected is the number of chunks in all: of the documents that are cut, and as many for each that is not.
func (p *progress) expected() int {
	waiting := p.docs - len(p.chunks)
	if waiting <= 0 || len(p.chunks) == 0 {
		return p.all
	}
	return p.all + int(math.Round(float64(waiting)*float64(p.all)/float64(len(p.chunks))))
}

// status is "documents 1/2, chunks 3/6, 1.5/s, 2s left". Rate and remaining time follow from all that was done
// so far; there are none before the first chunk.
func (p *progress) status(now time.Time) string {
	s := fmt.Sprintf("documents %d/%d, chunks %d/%d", p.ended, p.docs, p.done, p.all)
	took := now.Sub(p.began)
	if p.done == 0 || took <= 0 {
		return s
	}
	left := time.Duration(float64(took) / float64(p.done) * float64(max(0, p.expected()-p.done)))
	return fmt.Sprintf("%s, %.1f/s, %v left", s, float64(p.done)/took.Seconds(), left.Round(time.Second))
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
