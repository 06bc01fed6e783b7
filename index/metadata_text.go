package index

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode"
)

// ParseMetadata reads a value of metadata as people write it: a number, true, false, a quoted text or a list of quoted
// texts as JSON has them, anything else as the text that it is. Numbers are int64 or, where that does not hold them,
// float64.
func ParseMetadata(text string) any {
	if !json.Valid([]byte(text)) {
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	switch v := v.(type) {
	case bool, string:
		return v
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil && !math.IsInf(f, 0) {
			return f
		}
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return text
			}
			list[i] = s
		}
		return list
	}
	return text
}

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
