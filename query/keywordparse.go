package query

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of reading a keyword reply. A sound one is a few hundred bytes.
const (
	maxKeywordReply = 64 << 10 // bytes looked at
	maxObjectTries  = 64       // opening braces tried: a program in the reply has many
	maxLooseDepth   = 16       // nesting the repairing reader follows
)

// parsedKeywords is what a model's reply came to.
type parsedKeywords struct {
	Keywords
	// found: the reply held an object with at least one of the lists, empty or not.
	found bool
	// dropped counts items that were no usable keywords.
	dropped int
}

// parseKeywords reads the reply of a keyword model: the first JSON object with one of the two lists that
// stands outside reasoning, in prose or fences or not, strict JSON or damaged in the usual ways (quotes
// of other kinds, bare keys, commas too many or too few). An object that does not end is not used. Any
// input gives a value.
func parseKeywords(reply string) parsedKeywords {
	text := stripReasoning(reply)
	if len(text) > maxKeywordReply {
		text = strings.ToValidUTF8(text[:maxKeywordReply], "")
	}
	for at, tries := 0, 0; tries < maxObjectTries; tries++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		obj, ok := strictObject(text[at:])
		if !ok {
			obj, ok = looseObject(text[at:])
		}
		if ok {
			if p := fieldsOf(obj); p.found {
				return p
			}
		}
		at++
	}
	return parsedKeywords{}
}

// reasoningTag matches the tags in which models think aloud.
var reasoningTag = regexp.MustCompile(`(?i)<(/?)\s*(think|thinking|thought|reasoning|reflection|scratchpad)\s*>`)

// stripReasoning removes reasoning blocks, a dangling end with all before it, and a dangling start with
// all after it.
func stripReasoning(s string) string {
	tags := reasoningTag.FindAllStringSubmatchIndex(s, -1)
	if tags == nil {
		return s
	}
	var out strings.Builder
	depth, kept := 0, 0
	for _, t := range tags {
		if closing := t[2] < t[3]; !closing {
			if depth == 0 {
				out.WriteString(s[kept:t[0]])
			}
			depth++
			continue
		}
		if depth == 0 { // its start was cut off: everything so far was reasoning
			out.Reset()
		} else {
			depth--
		}
		kept = t[1]
	}
	if depth == 0 {
		out.WriteString(s[kept:])
	}
	return out.String()
}

func strictObject(s string) (map[string]any, bool) {
	var obj map[string]any
	err := json.NewDecoder(strings.NewReader(s)).Decode(&obj)
	return obj, err == nil
}

func fieldsOf(obj map[string]any) parsedKeywords {
	var p parsedKeywords
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		list := &p.High
		switch letters(name) {
		case "highlevelkeywords", "highlevel", "high", "hlkeywords":
		case "lowlevelkeywords", "lowlevel", "low", "llkeywords":
			list = &p.Low
		default:
			continue
		}
		p.found = true
		if len(*list) > 0 {
			continue // a second spelling of the same field
		}
		items, dropped := fieldItems(obj[name])
		*list = items
		p.dropped += dropped
	}
	return p
}

// letters folds a key to its lower-case letters, so that "High-level keywords" is known.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// fieldItems reads one field: list items are kept whole, a text is split, anything else is nothing.
func fieldItems(v any) (out []string, dropped int) {
	var items []any
	switch v := v.(type) {
	case nil:
		return nil, 0
	case []any:
		items = v
	case string:
		for _, part := range strings.FieldsFunc(v, isListSeparator) {
			items = append(items, part)
		}
	default:
		return nil, 1
	}
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		s, ok := it.(string)
		if ok {
			s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
		}
		switch {
		case !ok || utf8.RuneCountInString(s) > maxKeywordRunes || len(out) == maxKeywords:
			dropped++
		case s != "" && !seen[strings.ToLower(s)]:
			seen[strings.ToLower(s)] = true
			out = append(out, s)
		}
	}
	return out, dropped
}

func isListSeparator(r rune) bool { return strings.ContainsRune("\n\r,;，；、", r) }

// looseObject reads an object whose JSON is damaged. It reports false when the object does not end.
func looseObject(s string) (map[string]any, bool) {
	r := looseReader{s: s}
	v, ok := r.value(0)
	obj, isObject := v.(map[string]any)
	return obj, ok && isObject
}

// looseReader reads JSON-like text: strings in any quotes, bare words, missing and repeated commas.
type looseReader struct {
	s string
	i int
}

func (r *looseReader) space() {
	for r.i < len(r.s) && strings.IndexByte(" \t\r\n", r.s[r.i]) >= 0 {
		r.i++
	}
}

// byteIs consumes c when it comes next.
func (r *looseReader) byteIs(c byte) bool {
	r.space()
	if r.i < len(r.s) && r.s[r.i] == c {
		r.i++
		return true
	}
	return false
}

func (r *looseReader) value(depth int) (any, bool) {
	switch {
	case depth > maxLooseDepth:
		return nil, false
	case r.byteIs('{'):
		return r.object(depth)
	case r.byteIs('['):
		return r.array(depth)
	}
	return r.scalar()
}

func (r *looseReader) object(depth int) (any, bool) {
	obj := make(map[string]any)
	for {
		for r.byteIs(',') {
		}
		if r.byteIs('}') {
			return obj, true
		}
		key, ok := r.scalar()
		name, isText := key.(string)
		if !ok || !isText || !r.byteIs(':') {
			return nil, false
		}
		if obj[name], ok = r.value(depth + 1); !ok {
			return nil, false
		}
	}
}

func (r *looseReader) array(depth int) (any, bool) {
	list := []any{}
	for {
		for r.byteIs(',') {
		}
		if r.byteIs(']') {
			return list, true
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
}

// looseQuotes pairs opening quotes with what may end them.
var looseQuotes = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”\"", '‘': "’'", '„': "“”\"", '「': "」"}

func (r *looseReader) scalar() (any, bool) {
	r.space()
	c, n := utf8.DecodeRuneInString(r.s[r.i:])
	if ends, ok := looseQuotes[c]; ok {
		r.i += n
		return r.quoted(ends)
	}
	end := strings.IndexAny(r.s[r.i:], ",:{}[]\"\n")
	if end <= 0 {
		return nil, false
	}
	word := strings.TrimSpace(r.s[r.i : r.i+end])
	r.i += end
	switch strings.ToLower(word) {
	case "":
		return nil, false
	case "null", "none", "true", "false":
		return nil, true
	}
	return word, true
}

func (r *looseReader) quoted(ends string) (any, bool) {
	var sb strings.Builder
	for r.i < len(r.s) {
		c, n := utf8.DecodeRuneInString(r.s[r.i:])
		r.i += n
		switch {
		case c == '\\' && r.i < len(r.s):
			c, n = utf8.DecodeRuneInString(r.s[r.i:])
			r.i += n
			sb.WriteRune(r.escaped(c))
		case strings.ContainsRune(ends, c) && r.endsString(c):
			return sb.String(), true
		default:
			sb.WriteRune(c)
		}
	}
	return nil, false
}

// escaped returns the character that a backslash and c stand for.
func (r *looseReader) escaped(c rune) rune {
	switch c {
	case 'n', 't', 'r':
		return ' '
	case 'u':
		if r.i+4 <= len(r.s) {
			if v, err := strconv.ParseUint(r.s[r.i:r.i+4], 16, 16); err == nil {
				r.i += 4
				return rune(v) // half of a surrogate pair is written as U+FFFD
			}
		}
	}
	return c
}

// endsString tells an apostrophe inside a word from a closing quote: only the latter is followed by
// punctuation or the end.
func (r *looseReader) endsString(quote rune) bool {
	if quote != '\'' && quote != '’' {
		return true
	}
	rest := strings.TrimLeft(r.s[r.i:], " \t\r\n")
	return rest == "" || strings.IndexByte(",:]}", rest[0]) >= 0
}
