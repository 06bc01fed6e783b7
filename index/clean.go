package index

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// InvalidPolicy says what CleanText does with bytes that are not UTF-8.
type InvalidPolicy uint8

const (
	// InvalidDrop removes them and counts them; a text that is mostly such bytes is refused all the same,
	// because it is in another encoding or no text.
	InvalidDrop InvalidPolicy = iota
	// InvalidRefuse refuses a text with any of them.
	InvalidRefuse
)

// ErrText is in the chain of a *TextError.
var ErrText = errors.New("index: not UTF-8 text")

// TextError says why bytes were refused as the text of a document.
type TextError struct {
	// Offset is the place of the first byte that is not UTF-8, or of the first NUL.
	Offset int
	// Invalid and Nulls count bytes that are not UTF-8 and NUL bytes, of Bytes in all.
	Invalid, Nulls, Bytes int
}

func (e *TextError) Error() string {
	return fmt.Sprintf("%v: %d of %d bytes are not UTF-8 and %d are NUL, the first at byte %d; convert the text to UTF-8",
		ErrText, e.Invalid, e.Bytes, e.Nulls, e.Offset)
}

// Unwrap returns ErrText.
func (e *TextError) Unwrap() error { return ErrText }

// CleanReport counts what CleanText removed.
type CleanReport struct {
	// Invalid counts bytes that were not UTF-8.
	Invalid int
	// Controls counts control characters, and the characters of terminal codes.
	Controls int
}

// maxDamage is the share of invalid and NUL bytes, 1 in maxDamage, above which a text counts as another
// encoding: UTF-16 in Latin script has half its bytes NUL; Shift-JIS, GBK and EUC-KR texts read as UTF-8
// are invalid for more than half. Stray bytes in a UTF-8 text stay far below.
const maxDamage = 4

// CleanText makes the text of a document out of what a caller hands in. HTML entities become their
// characters; C0 control characters but tab and line ends, DEL, U+FFFE, U+FFFF, terminal codes and bytes
// that are not UTF-8 are removed and counted; white space is cut off both ends. Letter case, line ends,
// a byte order mark and Unicode composition stay as they are.
//
// The result is valid UTF-8. Cleaning it again is not harmless (an entity written as text would be
// decoded), so stored text is never cleaned twice. The error is a *TextError.
func CleanText(text string, policy InvalidPolicy) (string, CleanReport, error) {
	var r CleanReport
	nulls, first := strings.Count(text, "\x00"), -1
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		if bad := c == utf8.RuneError && size == 1; bad || c == 0 {
			if first < 0 && (bad || policy == InvalidDrop) {
				first = i
			}
			if bad {
				r.Invalid++
			}
		}
		i += size
	}
	if r.Invalid > 0 && policy == InvalidRefuse || (r.Invalid+nulls)*maxDamage > len(text) {
		return "", r, &TextError{Offset: max(first, 0), Invalid: r.Invalid, Nulls: nulls, Bytes: len(text)}
	}
	if r.Invalid > 0 {
		text = strings.ToValidUTF8(text, "")
	}
	text = html.UnescapeString(strings.TrimSpace(text))
	text, r.Controls = removeControls(text)
	return strings.TrimSpace(text), r, nil
}

// cleanPart cleans a part of a text as CleanText cleans all of it, white space at its ends kept.
func cleanPart(s string) string {
	s, _ = removeControls(html.UnescapeString(strings.ToValidUTF8(s, "")))
	return s
}

// sanitize cleans text that a model or a caller gave for a field of a record.
func sanitize(s string) string {
	s = html.UnescapeString(strings.TrimSpace(strings.ToValidUTF8(s, "")))
	s, _ = removeControls(s)
	return strings.TrimSpace(s)
}

// removeControls removes control characters, noncharacters and terminal codes and counts their runes.
func removeControls(s string) (string, int) {
	i := strings.IndexFunc(s, isControl)
	if i < 0 {
		return s, 0
	}
	var sb strings.Builder
	sb.Grow(len(s))
	sb.WriteString(s[:i])
	removed := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == escape:
			n := terminalCode(s[i:])
			removed += n
			i += n
			continue
		case isControl(r):
			removed++
		default:
			sb.WriteString(s[i : i+size])
		}
		i += size
	}
	return sb.String(), removed
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r == 0xfffe || r == 0xffff
}

const escape = 0x1b

// terminalCode returns the length of the terminal code at the beginning of s, which is an escape
// character: "ESC [", parameters, one final byte, as ECMA-48 has it; an escape without that form is one
// byte long.
func terminalCode(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	i := 2
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return 1
}
