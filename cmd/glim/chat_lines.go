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

// pendingLine is a read that was given up, whose line is the next one; nil: there is none.
type pendingLine chan readLine

type readLine struct {
	text string
	err  error
}

// next returns what the pending read gives, or read where none is, and the error of ctx when that ends first.
func (p *pendingLine) next(ctx context.Context, read func() (string, error)) (string, error) {
	if *p == nil {
		done := make(pendingLine, 1)
		go func() {
			text, err := read()
			done <- readLine{text, err}
		}()
		*p = done
	}
	select {
	case l := <-*p:
		*p = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// typedLines are edited by the person who types them.
type typedLines struct {
	state   *liner.State
	out     *output
	reading pendingLine
}

func (t *typedLines) next(ctx context.Context) (string, error) {
	if t.reading != nil {
		t.out.printf("%s", chatPrompt)
	}
	line, err := t.reading.next(ctx, func() (string, error) { return t.state.Prompt(chatPrompt) })
	switch {
	case errors.Is(err, context.Canceled): // until Prompt has set the terminal up Ctrl-C is a signal
		t.out.printf("\n")
		return "", errDiscarded
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
	prompt  string // empty: nobody types
	reading pendingLine
}

func (p *plainLines) next(ctx context.Context) (string, error) {
	p.out.printf("%s", p.prompt)
	line, err := p.reading.next(ctx, p.read)
	if p.prompt != "" && errors.Is(err, context.Canceled) {
		p.out.printf("\n") // the terminal has dropped what was typed
		return "", errDiscarded
	}
	return line, err
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
