package export

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Notes count what an output holds otherwise than it was given.
type Notes struct {
	// Replaced characters have another in their place.
	Replaced int
	// Guarded cells begin with an apostrophe that is not part of the value, see CSV.
	Guarded int
}

// clean returns s with the characters that keep refuses replaced.
func (n *Notes) clean(s string, keep func(r rune) bool) string {
	i := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !keep(r) {
			break
		}
		i += size
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r != utf8.RuneError && keep(r) || r == utf8.RuneError && size > 1 {
			b.WriteRune(r)
			continue
		}
		n.Replaced++
		b.WriteRune(picture(r))
	}
	return b.String()
}

// picture is what stands for a character that cannot be written.
func picture(r rune) rune {
	switch {
	case r < ' ':
		return '\u2400' + r
	case r == 0x7f:
		return '\u2421'
	}
	return utf8.RuneError
}

// text is a value as plain text; lists are JSON arrays, so that they can be taken apart again whatever is in them.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []string:
		return jsonOf(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	}
	panic("export: a value of another type")
}

// jsonOf is compact JSON, without escapes for HTML. What is no number becomes null.
func jsonOf(v any) string {
	switch t := v.(type) {
	case []string:
		if t == nil {
			return "[]"
		}
	case float64:
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return "null"
		}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
