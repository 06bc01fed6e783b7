package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/query"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

const (
	defaultWidth = 100 // columns where the output is no terminal
	maxWidth     = 120 // longer lines are hard to read
	shownPiece   = 360 // characters of a passage without --full: enough to see the answer in it
	shownText    = 160 // characters of a description without --full
	shownObjects = 8   // entities and relations without --full
	shownChunks  = 4   // passages without --full
)

// page writes results for a person. The first write error sticks.
type page struct {
	w     io.Writer
	width int
	full  bool
	err   error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// result shows passages, entities, relations, references, reasons and times.
func (p *page) result(r *query.Result) {
	if r.Outcome == query.OutcomeOK {
		p.chunks(r.Question, r.Data.Chunks)
		p.entities(r.Data.Entities)
		p.relations(r.Data.Relations)
		p.references(r.Data.References)
	} else {
		p.printf("Nothing found: %s.\n\n", reasons(r))
	}
	p.printf("%s\n", summary(r))
	for _, f := range r.Fallbacks {
		p.printf("note: %s: %s instead of %s (%s)\n", f.Step, f.To, f.From, f.Why)
	}
	for _, reason := range r.Reasons {
		if r.Outcome == query.OutcomeOK {
			p.printf("note: %s\n", reason.Detail)
		}
	}
}

func (p *page) chunks(question string, chunks []query.Chunk) {
	if len(chunks) == 0 {
		return
	}
	p.printf("Passages\n")
	for i, c := range chunks {
		if i == shownChunks && !p.full {
			p.printf("  ... %d more, see --full\n", len(chunks)-i)
			break
		}
		p.printf("  [%s] %s, passage %d%s\n", orDash(c.Reference), c.Path, c.Order+1, found(c.Found))
		text := c.Content
		if !p.full {
			text = excerpt(text, question, shownPiece)
		}
		p.wrapped("      ", p.cut(text, shownPiece))
	}
	p.printf("\n")
}

func found(fs []query.Found) string {
	var ways []string
	for _, f := range fs {
		switch f.Via {
		case query.ViaVector:
			ways = append(ways, fmt.Sprintf("like the question (%.2f)", f.Score.Or(0)))
		default:
			ways = append(ways, "speaks of "+f.Owner)
		}
	}
	if len(ways) == 0 {
		return ""
	}
	return ": " + strings.Join(ways, ", ")
}

func (p *page) entities(es []query.Entity) {
	if len(es) == 0 {
		return
	}
	p.printf("Entities\n")
	for i, e := range es {
		if i == shownObjects && !p.full {
			p.printf("  ... %d more, see --full\n", len(es)-i)
			break
		}
		p.printf("  %s (%s, %s)\n", e.Name, strings.ToLower(e.Type), count(e.Degree, "relation"))
		p.wrapped("      ", p.cut(e.Description, shownText))
	}
	p.printf("\n")
}

func (p *page) relations(rs []query.Relation) {
	if len(rs) == 0 {
		return
	}
	p.printf("Relations\n")
	for i, r := range rs {
		if i == shownObjects && !p.full {
			p.printf("  ... %d more, see --full\n", len(rs)-i)
			break
		}
		p.printf("  %s - %s%s\n", r.Src, r.Dst, bracketed(r.Keywords))
		p.wrapped("      ", p.cut(r.Description, shownText))
	}
	p.printf("\n")
}

func (p *page) references(rs []query.Reference) {
	if len(rs) == 0 {
		return
	}
	p.printf("References\n")
	for _, r := range rs {
		p.printf("  [%s] %s (%s)\n", r.ID, r.Path, count(r.Chunks, "passage"))
	}
	p.printf("\n")
}

// summary is the one line that says how it was found and how long it took.
func summary(r *query.Result) string {
	parts := []string{string(r.Mode)}
	if len(r.Keywords.Low)+len(r.Keywords.High) > 0 {
		parts = append(parts, fmt.Sprintf("names: %s, themes: %s (%s)", list(r.Keywords.Low), list(r.Keywords.High), r.Keywords.Origin))
	}
	parts = append(parts, fmt.Sprintf("%s, %s, %s", count(len(r.Data.Entities), "entity"), count(len(r.Data.Relations), "relation"),
		count(len(r.Data.Chunks), "passage")), short(r.Trace.Total))
	if r.Usage.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%s, %d + %d tokens", count(r.Usage.Calls, "model call"), r.Usage.PromptTokens, r.Usage.CompletionTokens))
	}
	return strings.Join(parts, " | ")
}

// trace prints the steps as a tree.
func (p *page) trace(t query.Trace) {
	p.printf("\nSteps, %s in total\n", short(t.Total))
	p.steps("  ", t.Steps)
}

func (p *page) steps(indent string, steps []query.TraceStep) {
	for _, s := range steps {
		var counts []string
		for _, c := range s.Counts {
			counts = append(counts, fmt.Sprintf("%s %d", c.Name, c.N))
		}
		line := fmt.Sprintf("%s%-*s %9s  %s", indent, 24-len(indent), s.Name, short(s.Duration), strings.Join(counts, ", "))
		if s.Note != "" {
			line += "  (" + s.Note + ")"
		}
		p.printf("%s\n", strings.TrimRight(line, " "))
		p.steps(indent+"  ", s.Steps)
	}
}

// cut shortens text to n characters at a word border, unless full output was asked for.
func (p *page) cut(text string, n int) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "<SEP>", " / ")), " ")
	if p.full || utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)[:n]
	cut := string(runes)
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + " ..."
}

// wrapped prints text broken at the page's width, which counts columns, not bytes.
func (p *page) wrapped(indent, text string) {
	room := p.width - len(indent)
	line, used, state := "", 0, -1
	flush := func() {
		if s := strings.TrimRight(line, " "); s != "" {
			p.printf("%s%s\n", indent, printable(s))
		}
		line, used = "", 0
	}
	for text != "" {
		var seg string
		seg, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		w := uniseg.StringWidth(strings.TrimRight(seg, " "))
		if used+w > room && used > 0 {
			flush()
		}
		line += seg
		used += uniseg.StringWidth(seg)
	}
	flush()
}

// printable replaces what could steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n >= 40 {
			return min(n, maxWidth)
		}
	}
	return defaultWidth
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func count(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(one, "y"))
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func bracketed(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " [" + strings.Join(words, ", ") + "]"
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// short rounds a duration to three significant places.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}
