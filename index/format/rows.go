package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
)

// field is a named value of a row, in the order of the file.
type field struct {
	name  string
	value any
}

// The fields that are a row's text and its id, where options name none.
var (
	textFields = []string{"text", "content", "body"}
	idFields   = []string{"id", "_id", "key"}
)

// row makes a document of a row.
func (d *decoding) row(number int, fields []field) error {
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	id := strconv.Itoa(number)
	if i := pick(fields, d.o.IDField, idFields); i >= 0 {
		if own := oneLineOf(fields[i].value); own != "" {
			id = own
		}
	}
	id = d.name + "#" + id
	if d.seen[id] {
		d.repeated++
		id += "#" + strconv.Itoa(number)
	}
	d.seen[id] = true
	doc := index.Document{ID: id}
	if i := pick(fields, d.o.TextField, textFields); i >= 0 {
		doc.Text = textOf(fields[i].value)
		doc.Metadata = metadata(slices.Delete(slices.Clone(fields), i, i+1))
	} else if d.o.TextField == "" {
		doc.Text = lines(fields)
	}
	if strings.TrimSpace(doc.Text) == "" {
		d.empty++
		return nil
	}
	return d.add(doc)
}

// rowsEnd notes what happened to rows, and refuses a file that gave nothing.
func (d *decoding) rowsEnd() error {
	if d.empty > 0 {
		d.res.Report.note("left out: %s without text", counted(d.empty, "row"))
	}
	if d.repeated > 0 {
		d.res.Report.note("%s with the id of another row, told apart by number", counted(d.repeated, "row"))
	}
	if len(d.res.Documents) == 0 {
		return ErrEmpty
	}
	return nil
}

// pick returns the place of the field that was asked for or, if none was, of the first usual one; -1 when it is
// not there.
func pick(fields []field, asked string, usual []string) int {
	names := usual
	if asked != "" {
		names = []string{asked}
	}
	for _, name := range names {
		for i, f := range fields {
			if asked == "" && strings.EqualFold(f.name, name) || f.name == name {
				return i
			}
		}
	}
	return -1
}

// lines is a row as text: a line a field that is not empty.
func lines(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		if v := textOf(f.value); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.name, v)
		}
	}
	return b.String()
}

// textOf is a value in a text.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case []any:
		if len(v) == 0 {
			return ""
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // of decoded JSON: cannot be
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func oneLineOf(v any) string { return strings.Join(strings.Fields(textOf(v)), " ") }

// metadata are the fields beside the text, as index.Document takes them: what it cannot hold, as JSON.
func metadata(fields []field) map[string]any {
	meta := make(map[string]any)
	for _, f := range fields {
		if f.name == "" || textOf(f.value) == "" {
			continue
		}
		switch v := f.value.(type) {
		case bool:
			meta[f.name] = v
		case json.Number:
			meta[f.name] = number(v)
		case []any:
			meta[f.name] = list(v)
		default:
			meta[f.name] = textOf(v)
		}
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

// list is a list of texts as such, any other as JSON.
func list(items []any) any {
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return textOf(items)
		}
		texts[i] = strings.TrimSpace(s)
	}
	return texts
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
		return f
	}
	return n.String()
}

// json makes a document a row of an array of objects, and one of anything else, as it stands.
func (d *decoding) json(text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		if !json.Valid([]byte(text)) {
			d.res.Report.note("not valid JSON, read as text")
		}
		return d.wholeJSON(text)
	}
	d.seen = make(map[string]bool)
	number := 0
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return d.notRows(text)
		}
		fields, err := object(raw)
		if err != nil {
			return d.notRows(text)
		}
		number++
		if err := d.row(number, fields); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return d.notRows(text)
	}
	return d.rowsEnd()
}

// notRows takes the file as one document after all.
func (d *decoding) notRows(text string) error {
	d.res.Documents, d.texts = nil, 0
	d.res.Report.note("not an array of objects, read as text")
	return d.wholeJSON(text)
}

// wholeJSON takes the file as one document. Many programs write all but ASCII as escapes, in which nobody finds a name.
func (d *decoding) wholeJSON(text string) error {
	if json.Valid([]byte(text)) {
		text = unescaped(text)
	}
	return d.whole(text, nil)
}

// unescaped is valid JSON with the characters that can be seen in the place of their escapes: the same values.
func unescaped(text string) string {
	const size = len(`\u0000`)
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at:]
		n := 2
		if text[1] == 'u' {
			n = size
			r := codeUnit(text)
			if utf16.IsSurrogate(r) && strings.HasPrefix(text[size:], `\u`) {
				if both := utf16.DecodeRune(r, codeUnit(text[size:])); both != unicode.ReplacementChar {
					n, r = 2*size, both
				}
			}
			if unicode.IsGraphic(r) && r != '"' && r != '\\' {
				b.WriteRune(r)
				text = text[n:]
				continue
			}
		}
		b.WriteString(text[:n])
		text = text[n:]
	}
}

// codeUnit is the UTF-16 code unit of the escape that valid JSON begins with.
func codeUnit(text string) rune {
	n, _ := strconv.ParseUint(text[2:6], 16, 16) // valid
	return rune(n)
}

func (d *decoding) jsonLines(text string) error {
	d.seen = make(map[string]bool)
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields, err := object([]byte(line))
		if err != nil {
			return fmt.Errorf("%w: line %d is no JSON object: %s", ErrMalformed, number, brief.Quote(line))
		}
		if err := d.row(number, fields); err != nil {
			return err
		}
	}
	return d.rowsEnd()
}

// object reads the fields of a JSON object in order; of a name given twice, the last.
func object(raw []byte) ([]field, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	var fields []field
	place := make(map[string]int)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: t.(string)}
		if err := dec.Decode(&f.value); err != nil {
			return nil, err
		}
		if i, ok := place[f.name]; ok {
			fields[i] = f
			continue
		}
		place[f.name] = len(fields)
		fields = append(fields, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows")
	}
	return fields, nil
}
