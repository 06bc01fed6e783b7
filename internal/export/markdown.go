package export

import (
	"io"
	"strings"
)

// Markdown writes a table under a heading, for people: lists are joined by commas, line ends become <br>.
type Markdown struct {
	Notes

	w    io.Writer
	rows int
	line strings.Builder
}

// NewMarkdown begins a table.
func NewMarkdown(w io.Writer, title string, columns []string) (*Markdown, error) {
	m := &Markdown{w: w}
	m.line.WriteString("## " + title + "\n\n|")
	for _, c := range columns {
		m.line.WriteString(" " + c + " |")
	}
	m.line.WriteString("\n|" + strings.Repeat(" --- |", len(columns)) + "\n")
	return m, m.flush()
}

// Row writes one row.
func (m *Markdown) Row(values []any) error {
	m.rows++
	m.line.WriteByte('|')
	for _, v := range values {
		cell := ""
		if list, ok := v.([]string); ok {
			cell = strings.Join(list, ", ")
		} else {
			cell = text(v)
		}
		cell = markup.Replace(m.clean(cell, inCSV))
		m.line.WriteString(" " + cell + " |")
	}
	m.line.WriteByte('\n')
	return m.flush()
}

// Close ends the table.
func (m *Markdown) Close() error {
	if m.rows == 0 {
		m.line.WriteString("\nNone.\n")
	}
	m.line.WriteByte('\n')
	return m.flush()
}

func (m *Markdown) flush() error {
	_, err := io.WriteString(m.w, m.line.String())
	m.line.Reset()
	return err
}

// markup takes the meaning from what Markdown and HTML would read.
var markup = strings.NewReplacer("\n", "<br>", "\t", " ", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "|", "\\|",
	"`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "~", "\\~", "$", "\\$")
