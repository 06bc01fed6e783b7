package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/peterh/liner"
	"golang.org/x/term"
)

const chatPrompt = "> "

// errDiscarded: Ctrl-C was typed, and what stood on the line is gone.
var errDiscarded = errors.New("the line was discarded")

// lines are what is typed or piped into a session.
type lines interface {
	// next returns a line without its end, io.EOF after the last, context.Canceled when ctx ends first, and what the next
	// may be read after: errDiscarded for one that a person gave up, a *failure for one that cannot be taken.
	next(ctx context.Context) (string, error)
	close()
}

// openLines edits lines on a terminal that can do that, and reads them elsewhere.
func (c *chat) openLines() lines {
	if c.typed() && c.out.terminal && liner.TerminalSupported() {
		t := &typedLines{state: liner.NewLiner(), out: c.out}
		t.state.SetCtrlCAborts(true)
		return t
	}
	p := &plainLines{r: bufio.NewReader(c.in), out: c.out}
	if c.typed() && c.out.terminal {
		p.prompt = chatPrompt
	}
	return p
}

// typed says whether a person types: standard input is a terminal.
func (c *chat) typed() bool {
	w, ok := c.in.(*waiter)
	if !ok {
		return false
	}
	f, ok := w.src.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// typedLines are edited by the person who types them.
type typedLines struct {
	state *liner.State
	out   *output
}

func (t *typedLines) next(ctx context.Context) (string, error) {
	line, err := await(ctx, func() (string, error) { return t.state.Prompt(chatPrompt) })
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return "", errDiscarded
	case errors.Is(err, io.EOF):
		t.out.printf("\n") // Ctrl-D leaves the cursor behind the prompt
	case err == nil && strings.TrimSpace(line) != "":
		t.state.AppendHistory(line)
	}
	return line, err
}

// close gives the terminal back as it was.
func (t *typedLines) close() { _ = t.state.Close() }

// plainLines are read as they come.
type plainLines struct {
	r       *bufio.Reader
	out     *output
	prompt  string        // empty: nobody types
	reading chan readLine // of a read that was given up, whose line is the next one; nil: none
}

// readLine is what one read gave.
type readLine struct {
	text string
	err  error
}

func (p *plainLines) next(ctx context.Context) (string, error) {
	p.out.printf("%s", p.prompt)
	if p.reading == nil {
		p.reading = make(chan readLine, 1)
		go func(done chan<- readLine) {
			text, err := p.read()
			done <- readLine{text, err}
		}(p.reading)
	}
	select {
	case l := <-p.reading:
		p.reading = nil
		return l.text, l.err
	case <-ctx.Done():
	}
	if p.prompt == "" {
		return "", ctx.Err()
	}
	p.out.printf("\n") // the terminal has dropped what was typed
	return "", errDiscarded
}

// read returns the next line. Of one that is too long nothing is kept.
func (p *plainLines) read() (string, error) {
	var line []byte
	long := false
	for {
		part, err := p.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxQuestionBytes; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return "", err
		case long:
			return "", usage("a line is longer than %d bytes", maxQuestionBytes)
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}

func (p *plainLines) close() {}
