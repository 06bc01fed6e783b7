package index

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mendJSON rewrites what models write for JSON and JSON does not have: commas before a closing bracket, strings in
// single quotes, bare keys and Python's constants, line ends and other control characters inside strings, comments.
// What it does not know it leaves. It costs time linear in s; the result of valid JSON is the same values.
func mendJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			i += mendString(&b, s[i:])
		case c == ',':
			rest := strings.TrimLeft(s[i+1:], " \t\r\n,")
			if !strings.HasPrefix(rest, "}") && !strings.HasPrefix(rest, "]") {
				b.WriteByte(c)
			}
			i = len(s) - len(rest)
		case strings.HasPrefix(s[i:], "//"):
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return b.String()
			}
			i += n
		case c == '_' || unicode.IsLetter(rune(c)) && c < utf8.RuneSelf:
			word := s[i:]
			if n := strings.IndexFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); n >= 0 {
				word = word[:n]
			}
			i += len(word)
			b.WriteString(mendWord(word, strings.HasPrefix(strings.TrimLeft(s[i:], " \t\r\n"), ":")))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// mendWord returns a word outside strings as JSON has it.
func mendWord(word string, key bool) string {
	if key {
		return strconv.Quote(word)
	}
	switch word {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None", "undefined", "NaN":
		return "null"
	}
	return word
}

// mendString writes the string that s begins with, in double quotes, and returns its length in s. A string without its
// closing quote stays open.
func mendString(b *strings.Builder, s string) int {
	quote := s[0]
	b.WriteByte('"')
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			b.WriteByte('"')
			return i + 1
		case c == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] == '\'':
				b.WriteByte('\'')
			case strings.IndexByte(`"\/bfnrtu`, s[i]) >= 0:
				b.WriteString(s[i-1 : i+1])
			default: // LaTeX
				b.WriteString(`\\`)
				i-- // the sign itself comes next
			}
		case c == '"':
			b.WriteString(`\"`)
		case c < ' ':
			quoted := strconv.QuoteToASCII(string(rune(c)))
			if c != '\n' && c != '\t' && c != '\r' {
				quoted = `" "`
			}
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteByte(c)
		}
	}
	return len(s)
}
