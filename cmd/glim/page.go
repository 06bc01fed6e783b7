package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glimdb/db/query"
	"github.com/rivo/uniseg"
)

// What a page shows without --full. Each title counts what there is, so that nothing is left out unsaid.
const (
	shownPassages = 3
	shownPiece    = 420 // columns of a passage: enough to see the answer in it
	shownObjects  = 6   // entities, relations
	shownWords    = 12  // keywords; --json has all of them
	nameColumns   = 22  // of the column of entities; longer ones push the rest
	pairColumns   = 32  // of the column of relations
)

// page lays out results for a person.
type page struct {
	*output
	full  bool
	begun bool   // something stands above
	more  string // how to see what is left out; empty: by flags
}

// result shows passages, entities, relations, references, then how they were found, what was left out and
// why, and the time it took.
func (p *page) result(r *query.Result) {
	if r.Outcome == query.OutcomeOK {
		p.passages(r)
		p.entities(r)
		p.relations(r)
		p.references(r.Data.References)
	} else {
		p.printf("Nothing found: %s.\n", reasons(r))
	}
	p.printf("\n")
	p.footer(r)
}

// title begins a section: "Entities (6 of 30)".
func (p *page) title(name string, shown, all int) {
	if p.begun {
		p.printf("\n")
	}
	p.begun = true
	n := strconv.Itoa(all)
	if shown < all {
		n = fmt.Sprintf("%d of %d", shown, all)
	}
	fmt.Fprintf(p, "%s\n", p.bold(name+" ("+n+")"))
}

// shown is how many of all things a section shows.
func (p *page) shown(all, most int) int {
	if p.full {
		return all
	}
	return min(all, most)
}

func (p *page) passages(r *query.Result) {
	n := p.shown(len(r.Data.Chunks), shownPassages)
	if n == 0 {
		return
	}
	p.title("Passages", n, len(r.Data.Chunks))
	about := subject(r)
	for i, c := range r.Data.Chunks[:n] {
		p.passage(i, &c)
		room := shownPiece
		if p.full {
			room = max(room, 2*len(c.Content)) // all of it
		}
		p.excerpt("      ", excerptOf(c.Content, about, room))
	}
}

// passage tells where a passage is from and how it was found.
func (p *page) passage(i int, c *query.Chunk) {
	ref := ""
	if c.Reference != "" {
		ref = " [" + c.Reference + "]"
	}
	p.wrapped("  ", fmt.Sprintf("%d. %s%s, passage %d%s", i+1, label(c), ref, c.Order+1, found(c.Found)))
	if c.Context != "" {
		p.wrapped("      ", "under "+c.Context)
	}
}

// sources are passages as they are written.
func (p *page) sources(chunks []query.Chunk) {
	p.title("Passages", len(chunks), len(chunks))
	for i := range chunks {
		p.passage(i, &chunks[i])
		for l := range strings.Lines(chunks[i].Content) {
			p.wrapped("      ", strings.TrimRight(l, "\r\n"))
		}
	}
}

// label names the document of a passage: by its id where that tells more than its path, as with a row of a table.
func label(c *query.Chunk) string {
	if strings.HasPrefix(c.Document, c.Path) {
		return c.Document
	}
	return c.Path
}

// subject is what excerpts are chosen by.
func subject(r *query.Result) string {
	return strings.Join(slices.Concat([]string{r.Question}, r.Keywords.Low, r.Keywords.High), " ")
}

// found says how a passage was found.
func found(fs []query.Found) string {
	var ways []string
	for _, f := range fs {
		switch f.Via {
		case query.ViaVector:
			ways = append(ways, fmt.Sprintf("similarity %.2f", f.Score.Or(0)))
		case query.ViaText:
			ways = append(ways, fmt.Sprintf("words %.2f", f.Score.Or(0)))
		default:
			ways = append(ways, "speaks of "+f.Owner)
		}
	}
	if len(ways) == 0 {
		return ""
	}
	return ": " + strings.Join(ways, ", ")
}

func (p *page) entities(r *query.Result) {
	n := p.shown(len(r.Data.Entities), shownObjects)
	if n == 0 {
		return
	}
	p.title("Entities", n, len(r.Data.Entities))
	for _, e := range r.Data.Entities[:n] {
		kind := strings.ToLower(e.Type)
		if p.full {
			p.described(e.Name+bracketed(nil, kind, count(e.Degree, "relation")), e.Description)
		} else {
			text := nearestFragment(e.Description, subject(r))
			if kind != "" {
				text = kind + ": " + text
			}
			p.row(e.Name, nameColumns, text)
		}
	}
}

func (p *page) relations(r *query.Result) {
	n := p.shown(len(r.Data.Relations), shownObjects)
	if n == 0 {
		return
	}
	p.title("Relations", n, len(r.Data.Relations))
	for _, e := range r.Data.Relations[:n] {
		name := e.Src + " - " + e.Dst
		if p.full {
			p.described(name+bracketed(e.Keywords), e.Description)
		} else {
			p.row(name, pairColumns, nearestFragment(e.Description, subject(r)))
		}
	}
}

// described is a name with all its descriptions.
func (p *page) described(name, description string) {
	p.wrapped("  ", name)
	for _, f := range fragments(description) {
		p.wrapped("      ", f)
	}
}

// row is a name and the beginning of a text on one line, on two where the page is narrow.
func (p *page) row(name string, columns int, text string) {
	name = cut(name, p.width-4)
	room := p.width - 4 - max(columns, uniseg.StringWidth(name))
	if room < minWidth {
		p.printf("  %s\n      %s\n", name, cut(text, p.width-6))
		return
	}
	p.printf("  %s  %s\n", pad(name, columns), cut(text, room))
}

func (p *page) references(rs []query.Reference) {
	n := p.shown(len(rs), shownObjects)
	if n == 0 {
		return
	}
	p.title("References", n, len(rs))
	for i := range rs[:n] {
		p.reference(&rs[i])
	}
}

func (p *page) reference(r *query.Reference) {
	p.wrapped("  ", fmt.Sprintf("[%s] %s (%s)", r.ID, r.Path, count(r.Chunks, "passage")))
}

// footer says how it was found and how long that took.
func (p *page) footer(r *query.Result) {
	p.wrapped("", strings.Join(facts(r), " | "))
	for _, f := range r.Fallbacks {
		p.wrapped("", fmt.Sprintf("note: %s: %s instead of %s (%s)", f.Step, f.To, f.From, f.Why))
	}
	if r.Outcome == query.OutcomeOK {
		for _, reason := range r.Reasons {
			if reason.Code != query.ReasonDocumentsWaiting { // the command has said so
				p.wrapped("", "note: "+detail(reason))
			}
		}
		if d := r.Data; !p.full && max(len(d.Chunks)-shownPassages, len(d.Entities)-shownObjects, len(d.Relations)-shownObjects) > 0 {
			p.wrapped("", "note: this is the beginning; "+cmp.Or(p.more, "--full shows all, --explain every step"))
		}
	}
}

func detail(r query.Reason) string {
	switch r.Code {
	case query.ReasonNothingIndexed:
		return strings.Replace(r.Detail, "the workspace", "the database", 1)
	case query.ReasonNoModel:
		return "no chat model is configured, so this is what was found and no answer; see --chat-model"
	}
	return r.Detail
}

// facts sum a query up.
func facts(r *query.Result) []string {
	all := []string{string(r.Mode)}
	if words := r.Keywords; len(words.Low)+len(words.High) > 0 {
		origin := strings.ReplaceAll(string(words.Origin), "_", " ")
		all = append(all, fmt.Sprintf("names: %s; themes: %s (%s)", list(words.Low), list(words.High), origin))
	}
	passages := count(len(r.Data.Chunks), "passage")
	switch r.Ran {
	case query.Bypass:
		all = append(all, "nothing searched")
	case query.Naive: // looks for passages alone
		all = append(all, "found "+passages)
	default:
		all = append(all, fmt.Sprintf("found %s, %s, %s", count(len(r.Data.Entities), "entity"), count(len(r.Data.Relations), "relation"), passages))
	}
	if r.Filter != nil {
		all = append(all, "in "+count(r.Filter.Documents, "selected document"))
	}
	if r.Usage.Calls > 0 {
		all = append(all, fmt.Sprintf("%s, %d + %d tokens", count(r.Usage.Calls, "model call"), r.Usage.PromptTokens, r.Usage.CompletionTokens))
	}
	return append(all, "in "+short(r.Trace.Total))
}

// trace prints how a result came about, as a tree.
func (p *page) trace(r *query.Result) {
	fmt.Fprintf(p, "\n%s\n", p.bold("Steps"))
	var tree strings.Builder
	_ = r.Explain(&tree) // a builder takes everything
	for l := range strings.Lines(tree.String()) {
		p.printf("  %s\n", strings.TrimSuffix(l, "\n"))
	}
}

// wrapped prints text broken at the page's width.
func (p *page) wrapped(indent, text string) { p.excerpt(indent, excerpt{text: printable(text)}) }

// excerpt prints an excerpt broken at the page's width, its hit emphasised.
func (p *page) excerpt(indent string, e excerpt) {
	for _, l := range wrap(e.text, p.width-len(indent)) {
		from, to := max(l.start, min(e.hit.start, l.end)), max(l.start, min(e.hit.end, l.end))
		if from > to {
			from, to = l.end, l.end
		}
		fmt.Fprint(p, indent, e.text[l.start:from], p.bold(e.text[from:to]), e.text[to:l.end], "\n")
	}
}

// bracketed is " [a, b, c]", or nothing.
func bracketed(words []string, more ...string) string {
	var all []string
	for _, w := range slices.Concat(few(words), more) {
		if w != "" {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " [" + strings.Join(all, ", ") + "]"
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(few(words), ", ")
}

// few is a list of words as a page shows it: the first of a long one, and how many more there are.
func few(words []string) []string {
	if len(words) <= shownWords {
		return words
	}
	return append(slices.Clone(words[:shownWords]), fmt.Sprintf("and %d more", len(words)-shownWords))
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// short rounds a duration to what a person reads.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}
