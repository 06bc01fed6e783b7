package format

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// docx returns a Word file's body as Markdown: headings by their styles, tables as tables, list items as items.
// Deleted text, comments, foot notes, headers and footers are left out.
func (d *decoding) docx(data []byte) (string, map[string]any, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", nil, fmt.Errorf("%w: Word: %w", ErrMalformed, err)
	}
	ctx, cancel := context.WithTimeout(d.ctx, d.o.Timeout)
	defer cancel()
	a := &archive{z: z, left: d.o.MaxUnpacked, d: d, ctx: ctx}
	w := &wordReader{levels: make(map[string]int)}
	// What is absent is no error, but the body is.
	if err := a.read("word/styles.xml", w.style); err != nil && !errors.Is(err, errAbsent) {
		return "", nil, a.explain(err)
	}
	if err := a.read("word/document.xml", w.body); err != nil {
		return "", nil, a.explain(err)
	}
	meta := make(map[string]any)
	properties := func(t xml.Token, path []string) error {
		if text, ok := t.(xml.CharData); ok && len(path) == 2 {
			name := map[string]string{"title": "title", "creator": "author"}[path[1]]
			if v := strings.Join(strings.Fields(string(text)), " "); name != "" && v != "" {
				meta[name] = v
			}
		}
		return nil
	}
	if err := a.read("docProps/core.xml", properties); err != nil && !errors.Is(err, errAbsent) {
		return "", nil, a.explain(err)
	}
	if len(meta) == 0 {
		meta = nil
	}
	return w.out.String(), meta, nil
}

var errAbsent = errors.New("a part is missing")

// archive reads the parts of a zip file under one limit for all of them.
type archive struct {
	z    *zip.Reader
	left int64
	d    *decoding
	ctx  context.Context
}

// limitedPart counts what is unpacked of a part.
type limitedPart struct {
	a *archive
	r io.Reader
}

func (p limitedPart) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.a.left -= int64(n); p.a.left < 0 {
		return 0, &LimitError{What: "bytes unpacked", Limit: fmt.Sprint(p.a.d.o.MaxUnpacked)}
	}
	if p.a.ctx.Err() != nil {
		return 0, p.a.d.late(p.a.ctx)
	}
	return n, err
}

// late is the error of work that took too long, or whose caller gave up.
func (d *decoding) late(ctx context.Context) error {
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	if ctx.Err() != nil {
		return &LimitError{What: "time", Limit: d.o.Timeout.Round(time.Millisecond).String()}
	}
	return nil
}

// explain marks what is wrong with the file itself.
func (a *archive) explain(err error) error {
	if errors.Is(err, ErrLimit) || a.d.ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: Word: %w", ErrMalformed, err)
}

// maxNesting is how deep elements of a part may lie in each other; Word's own files stay below 50.
const maxNesting = 1000

// read calls f with every token of an XML part and the local names of the elements around it, a start and an end
// with its own name as the last.
func (a *archive) read(name string, f func(t xml.Token, path []string) error) error {
	h, err := a.z.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %s", errAbsent, name)
	}
	defer h.Close() //nolint:errcheck // of memory
	dec := xml.NewDecoder(limitedPart{a, h})
	var path []string
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s, ok := t.(xml.StartElement); ok {
			if path = append(path, s.Name.Local); len(path) > maxNesting {
				return fmt.Errorf("%s: elements lie more than %d deep in each other", name, maxNesting)
			}
		}
		if err := f(t, path); err != nil {
			return err
		}
		if _, ok := t.(xml.EndElement); ok {
			path = path[:len(path)-1]
		}
	}
}

// wordReader turns the body into Markdown.
type wordReader struct {
	out    strings.Builder
	levels map[string]int // heading level, by id of the style
	id     string         // of the style that is read

	paragraph strings.Builder
	level     int  // of the paragraph's heading; 0: none
	item      bool // the paragraph is part of a list
	inList    bool // so was the one before

	depth int // tables around
	cells []string
	cell  []string // paragraphs
	rows  int
}

// style learns which styles are headings, by their English names, which every translation of Word keeps.
func (w *wordReader) style(t xml.Token, _ []string) error {
	s, ok := t.(xml.StartElement)
	if !ok {
		return nil
	}
	switch s.Name.Local {
	case "style":
		w.id = attr(s, "styleId")
	case "name":
		name := strings.ToLower(attr(s, "val"))
		if name == "title" {
			w.levels[w.id] = 1
		} else if n, ok := strings.CutPrefix(name, "heading "); ok && len(n) == 1 && n[0] >= '1' && n[0] <= '9' {
			w.levels[w.id] = min(int(n[0]-'0'), 6)
		}
	}
	return nil
}

func attr(s xml.StartElement, local string) string {
	for _, a := range s.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

func (w *wordReader) body(t xml.Token, path []string) error {
	switch t := t.(type) {
	case xml.StartElement:
		w.start(t)
	case xml.CharData:
		if path != nil && path[len(path)-1] == "t" {
			w.paragraph.Write(t)
		}
	case xml.EndElement:
		w.end(t.Name.Local)
	}
	return nil
}

func (w *wordReader) start(t xml.StartElement) {
	switch t.Name.Local {
	case "pStyle":
		w.level = w.levels[attr(t, "val")]
	case "outlineLvl":
		if v := attr(t, "val"); len(v) == 1 && v[0] >= '0' && v[0] <= '5' {
			w.level = int(v[0]-'0') + 1
		}
	case "numPr":
		w.item = true
	case "tab":
		w.paragraph.WriteByte('\t')
	case "br", "cr":
		w.paragraph.WriteByte('\n')
	case "noBreakHyphen":
		w.paragraph.WriteByte('-')
	case "tbl":
		if w.depth++; w.depth == 1 {
			w.rows = 0
			w.separate(false)
		}
	}
}

func (w *wordReader) end(name string) {
	switch name {
	case "p":
		w.endParagraph()
	case "tc":
		if w.depth == 1 {
			text := strings.Join(strings.Fields(strings.Join(w.cell, " ")), " ")
			w.cells = append(w.cells, strings.ReplaceAll(text, "|", `\|`))
			w.cell = nil
		}
	case "tr":
		if w.depth == 1 && len(w.cells) > 0 {
			w.out.WriteString("| " + strings.Join(w.cells, " | ") + " |\n")
			if w.rows == 0 {
				w.out.WriteString("|" + strings.Repeat("---|", len(w.cells)) + "\n")
			}
			w.cells = nil
			w.rows++
		}
	case "tbl":
		w.depth = max(w.depth-1, 0)
	}
}

func (w *wordReader) endParagraph() {
	text := strings.TrimSpace(w.paragraph.String())
	level, item := w.level, w.item
	w.paragraph.Reset()
	w.level, w.item = 0, false
	switch {
	case text == "":
	case w.depth > 0:
		w.cell = append(w.cell, text)
	case level > 0:
		w.separate(false)
		w.out.WriteString(strings.Repeat("#", level) + " " + strings.Join(strings.Fields(text), " ") + "\n")
	case item:
		w.separate(true)
		w.out.WriteString("- " + text + "\n")
	default:
		w.separate(false)
		w.out.WriteString(text + "\n")
	}
}

// separate puts a blank line before a block, but not between the items of a list.
func (w *wordReader) separate(item bool) {
	if w.out.Len() > 0 && !(item && w.inList) {
		w.out.WriteByte('\n')
	}
	w.inList = item
}
