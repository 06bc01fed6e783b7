package export

import (
	"io"
	"time"
	"unicode/utf8"
)

// JSONL writes rows as JSON objects, one a line, with the columns in their order behind "kind".
type JSONL struct {
	Notes

	w     io.Writer
	names []string // encoded
	kind  string   // encoded
	line  []byte
}

// NewJSONL begins rows of one kind; several may follow each other in one output.
func NewJSONL(w io.Writer, kind string, columns []string) *JSONL {
	j := &JSONL{w: w, kind: jsonOf(kind)}
	for _, c := range columns {
		j.names = append(j.names, jsonOf(c))
	}
	return j
}

// Row writes one row.
func (j *JSONL) Row(values []any) error {
	b := append(append(j.line[:0], `{"kind":`...), j.kind...)
	for i, v := range values {
		switch t := v.(type) {
		case string:
			v = j.clean(t, utf8.ValidRune)
		case []string:
			list := make([]string, len(t))
			for i, s := range t {
				list[i] = j.clean(s, utf8.ValidRune)
			}
			v = list
		case time.Time:
			v = text(t)
		}
		b = append(append(append(append(b, ','), j.names[i]...), ':'), jsonOf(v)...)
	}
	j.line = append(b, "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}
