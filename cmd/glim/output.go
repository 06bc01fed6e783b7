package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

const (
	defaultWidth = 100 // columns where the output is no terminal
	maxWidth     = 120 // longer lines are hard to read
	minWidth     = 20  // below that nothing can be laid out
)

// output is one of the command's streams. The first write error sticks, later writes are dropped: the
// command's end looks at it, so that a full disk or a reader that went away is never taken for success.
type output struct {
	w   io.Writer
	err error

	terminal bool
	color    bool
	width    int // columns
}

// newOutput looks at w and at the environment: COLUMNS gives the width where w is no terminal, NO_COLOR
// and CLICOLOR_FORCE mean what they mean everywhere.
func newOutput(w io.Writer, getenv func(string) string) *output {
	o := &output{w: w, width: defaultWidth}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		o.terminal = true
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.width = n
		}
	} else if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil {
		o.width = n
	}
	o.width = max(minWidth, min(o.width, maxWidth))
	switch {
	case getenv("NO_COLOR") != "":
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		o.color = true
	default:
		o.color = o.terminal && getenv("TERM") != "dumb"
	}
	return o
}

// Write passes bytes through as they are.
func (o *output) Write(p []byte) (n int, err error) {
	if o.err != nil {
		return 0, o.err
	}
	n, o.err = o.w.Write(p)
	return n, o.err
}

// printf writes text for a person: what comes from documents and file names cannot steer the terminal.
func (o *output) printf(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = printable(v)
		case error:
			args[i] = printable(v.Error())
		}
	}
	fmt.Fprintf(o, format, args...)
}

// json writes v for a program.
func (o *output) json(v any) error {
	e := json.NewEncoder(o)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// bold is s as the terminal emphasises it, where it can.
func (o *output) bold(s string) string {
	if !o.color || s == "" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// printable replaces what could steer a terminal: control characters, line separators and the marks that
// turn the direction of writing. Line ends and tabs, too: a value is never more than one line.
func printable(s string) string { return strings.Map(visible, s) }

// printableText is printable for text of several lines.
func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, s)
}

func visible(r rune) rune {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, // C0, DEL, C1
		r == 0x2028, r == 0x2029,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional embeddings, overrides, isolates
		return '\uFFFD'
	}
	return r
}

// line is a part of a wrapped text: its bytes from start to end, without the spaces around.
type line struct{ start, end int }

// wrap breaks text where Unicode allows it, into lines of at most room columns. A piece without a break
// that is wider stands on a line of its own.
func wrap(text string, room int) (lines []line) {
	begin, used, state := 0, 0, -1
	add := func(end int) {
		part := text[begin:end]
		start := begin + len(part) - len(strings.TrimLeft(part, " "))
		if part = strings.Trim(part, " "); part != "" {
			lines = append(lines, line{start, start + len(part)})
		}
		begin, used = end, 0
	}
	at := 0
	for rest := text; rest != ""; {
		var seg string
		seg, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		if used+uniseg.StringWidth(strings.TrimRight(seg, " ")) > room && used > 0 {
			add(at)
		}
		used += uniseg.StringWidth(seg)
		at += len(seg)
	}
	add(len(text))
	return lines
}

// cutMark stands where a text was cut.
const cutMark = " ..."

// cut is text on one line of at most room columns.
func cut(text string, room int) string {
	return clip(printable(strings.Join(strings.Fields(text), " ")), room)
}

// clip shortens a line to at most room columns, at a place where a line may break if there is one in the
// second half, and marks the cut.
func clip(text string, room int) string {
	if uniseg.StringWidth(text) <= room {
		return text
	}
	room -= len(cutMark)
	if lines := wrap(text, room); len(lines) > 0 {
		first := text[:lines[0].end]
		if w := uniseg.StringWidth(first); w <= room && 2*w > room {
			return first + cutMark
		}
	}
	var b strings.Builder
	for rest, state := text, -1; rest != ""; {
		var c string
		var w int
		c, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= w; room < 0 {
			break
		}
		b.WriteString(c)
	}
	return strings.TrimRight(b.String(), " ") + cutMark
}

// pad fills text up to room columns.
func pad(text string, room int) string {
	return text + strings.Repeat(" ", max(0, room-uniseg.StringWidth(text)))
}

// count is "1 chunk", "2 chunks", "3 entities".
func count(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(one, "y"))
	}
	return fmt.Sprintf("%d %ss", n, one)
}
