package index

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/glimdb/db/internal/record"
)

// ParseMetadata reads a value of metadata as people write it: a number, true, false, a quoted text or a list of quoted
// texts as JSON has them, anything else as the text that it is. Numbers are int64 or, where that does not hold them,
// float64.
func ParseMetadata(text string) any { return record.ParseMetadata(text) }

// FormatMetadata writes a value of metadata on one line so that ParseMetadata reads it back: a text is quoted only where
// it would be read as something else, or holds what a line cannot show.
func FormatMetadata(v any) string {
	s, isText := v.(string)
	if isText && s == strings.TrimSpace(s) && !strings.ContainsFunc(s, unicode.IsControl) && ParseMetadata(s) == v {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // no value of metadata
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}
