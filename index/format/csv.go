package format

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// tableReader reads rows of any length. It takes a quote inside a cell that does not begin with one for a character:
// quoted has refused the others.
func tableReader(text string, comma rune) *csv.Reader {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	return r
}

// separator is what stands between the columns of a .csv: a comma, unless that makes one column of the header and
// another usual one makes several of it and of the first row; of those, the one that makes most.
func separator(text string) rune {
	comma, most := ',', 1
	for _, c := range ",;\t|" {
		r := tableReader(text, c)
		header, err := r.Read()
		n := len(header)
		if err != nil || n <= most {
			continue
		}
		if first, err := r.Read(); err == nil && len(first) < 2 {
			continue
		}
		if comma, most = c, n; c == ',' {
			break
		}
	}
	return comma
}

// quoted refuses a table with a cell that begins with a quote and does not end with one: it would swallow the rows that
// follow.
func quoted(text string, comma byte) error {
	line, begins := 1, true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && begins:
			end, opened := closing(text, i+1), line
			if end < 0 {
				return fmt.Errorf("%w: line %d: the quote that opens a cell there is not closed", ErrMalformed, opened)
			}
			line += strings.Count(text[i:end], "\n")
			i = end
			if rest := strings.TrimPrefix(text[i+1:], "\r"); rest != "" && rest[0] != comma && rest[0] != '\n' {
				return fmt.Errorf("%w: line %d: the quote that opens a cell there is not closed, or one inside the cell is not doubled", ErrMalformed, opened)
			}
			begins = false
		case c == '\n':
			line++
			begins = true
		default:
			begins = c == comma
		}
	}
	return nil
}

// closing is the place of the quote that ends a cell, -1 when there is none. Two are one of the text.
func closing(text string, from int) int {
	for {
		n := strings.IndexByte(text[from:], '"')
		if n < 0 {
			return -1
		}
		from += n
		if !strings.HasPrefix(text[from:], `""`) {
			return from
		}
		from += 2
	}
}

// csv makes a document a row below the header. Several names with no row below are ErrEmpty; one cell alone in its file is
// no table but a line of text.
func (d *decoding) csv(text string, comma rune) error {
	if err := quoted(text, byte(comma)); err != nil {
		return err
	}
	r := tableReader(text, comma)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return ErrEmpty
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	header = slices.Clone(header)
	for i, name := range header {
		if header[i] = strings.TrimSpace(name); header[i] == "" {
			header[i] = "column " + strconv.Itoa(i+1)
		}
	}
	d.seen = make(map[string]bool)
	number, ragged := 0, 0
	for {
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		number++
		if len(values) != len(header) {
			ragged++
		}
		fields := make([]field, len(values))
		for i, v := range values {
			name := "column " + strconv.Itoa(i+1)
			if i < len(header) {
				name = header[i]
			}
			fields[i] = field{name, v}
		}
		if err := d.row(number, fields); err != nil {
			return err
		}
	}
	if number == 0 && len(header) == 1 {
		return d.whole(text, nil)
	}
	if number == 0 {
		return fmt.Errorf("%w: a row of names and none below it", ErrEmpty)
	}
	if ragged > 0 {
		d.res.Report.note("more or fewer fields than the header: %s of %d", counted(ragged, "row"), number)
	}
	return d.rowsEnd()
}
