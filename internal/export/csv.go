package export

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// CSV writes a table as RFC 4180 has it, with LF: a row of column names, then the rows.
type CSV struct {
	Notes

	w    *csv.Writer
	raw  bool
	rest []string
}

// NewCSV begins a table. A text that a spreadsheet would take for a formula (it begins with = + - @, one of their wide
// forms, or a tab) gets an apostrophe in front, and so does one that begins with an apostrophe: taking one
// apostrophe from the cells that begin with one gives the texts back. With raw they are written as they are.
func NewCSV(w io.Writer, columns []string, raw bool) (*CSV, error) {
	c := &CSV{w: csv.NewWriter(w), raw: raw}
	return c, c.w.Write(columns)
}

// Row writes one row.
func (c *CSV) Row(values []any) error {
	c.rest = c.rest[:0]
	for _, v := range values {
		cell := text(v)
		if _, ok := v.(string); ok {
			cell = c.cell(cell)
		} else {
			cell = c.clean(cell, inCSV)
		}
		c.rest = append(c.rest, cell)
	}
	return c.w.Write(c.rest)
}

func (c *CSV) cell(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	s = c.clean(s, inCSV)
	if c.raw || !strings.ContainsRune("'=+-@\t＝＋－＠", first) {
		return s
	}
	if first != '\'' {
		c.Guarded++
	}
	return "'" + s
}

// Close ends the table; the writer below stays open.
func (c *CSV) Close() error {
	c.w.Flush()
	return c.w.Error()
}

// inCSV: readers differ in what they make of control characters, and of CR.
func inCSV(r rune) bool { return r >= ' ' && r != 0x7f || r == '\t' || r == '\n' }
