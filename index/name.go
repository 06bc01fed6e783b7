package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The longest name, first in characters, then in bytes of UTF-8, cut between characters. Longer names
// are a model's mistake (a sentence, a blob of base64), and keys hold names.
const (
	MaxNameRunes = 256
	MaxNameBytes = 512
)

// NormalizeName makes the name under which an entity is stored of any spelling of it. Every path uses
// it: extraction, manual edits, look-ups. An empty result means that s is no name.
//
// Removed: control characters and terminal codes, characters that nobody sees (zero-width spaces, byte order
// marks, soft hyphens, direction marks), HTML paragraph and line-break tags, quotes and Markdown emphasis around
// the whole name, curly quotes anywhere, straight quotes beside Chinese characters, white space around the name
// and between Chinese characters or between them and Latin ones. Decoded or mapped: HTML entities, full-width
// letters, digits and signs, every dash to a hyphen, a curly apostrophe inside a word to a straight one.
// Composed: Unicode NFC. Runs of white space become one space. Cut: to MaxNameRunes and MaxNameBytes. Not a name: one or two digits, and digits with dots
// of fewer than six characters, which models take from lists and headings.
//
// Letter case stays and counts: "Orbit Desk" and "orbit desk" are two entities; the extraction prompt
// asks for title case where case has no meaning. NormalizeName(NormalizeName(s)) == NormalizeName(s).
func NormalizeName(s string) string { return normalizeName(s, cleanName) }

func normalizeName(s string, clean func(string) string) string {
	for range maxNameRounds {
		next := capName(clean(s))
		if next == s {
			break
		}
		s = next
	}
	if isListNumber(s) {
		return ""
	}
	return s
}

// cleanName is one round of cleaning, without the rules on length and numbers.
func cleanName(s string) string { return cleanRecordedName(spellName(s)) }

// cleanRecordedName is cleanName as LightRAG's recorded runs had it, which told dashes and apostrophes apart.
func cleanRecordedName(s string) string { return norm.NFC.String(collapse(cleanField(s, true))) }

// spellName maps what only looks differently: invisible characters, dashes, apostrophes, emphasis.
func spellName(s string) string {
	s = strings.TrimSpace(unseenReplacer.Replace(sanitize(s)))
	for _, mark := range []string{"**", "*", "`"} {
		if inner, ok := strings.CutPrefix(s, mark); ok {
			if inner, ok = strings.CutSuffix(inner, mark); ok && inner != "" && !strings.Contains(inner, mark) {
				s = inner
			}
		}
	}
	if !strings.ContainsRune(s, apostrophe) {
		return s
	}
	var sb strings.Builder
	prev := rune(-1)
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == apostrophe && isSpaced(prev) && isSpaced(next) {
			r = '\''
		}
		sb.WriteRune(r)
		prev = r
	}
	return sb.String()
}

const apostrophe = '’'

// isSpaced reports whether r is a letter of a script that separates its words.
func isSpaced(r rune) bool { return unicode.IsLetter(r) && !isChinese(r) }

// unseenReplacer removes characters without width, but for the joiners that scripts and emoji need, and writes
// dashes and hyphens as one.
var unseenReplacer = strings.NewReplacer(
	"\u200b", "", "\u2060", "", "\ufeff", "", "\u00ad", "", "\u200e", "", "\u200f", "",
	"\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "",
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2015", "-",
)

// maxNameRounds bounds how often a name is cleaned until nothing changes: nested quotes and entities come
// off one layer a round.
const maxNameRounds = 16

// normalizeType returns an entity type in the form that is stored: lower case, without spaces, the first
// of a list. An empty result means that s is no type.
func normalizeType(s string) string {
	s = cleanField(s, true)
	if isListNumber(s) || strings.ContainsAny(s, `'()<>|/\`) {
		return ""
	}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.ToLower(strings.ReplaceAll(part, " ", "")); part != "" {
			if reservedTypes[part] {
				return ""
			}
			return part
		}
	}
	return ""
}

// reservedTypes break programs that use types as keys of objects.
var reservedTypes = map[string]bool{"__proto__": true, "constructor": true, "prototype": true}

// cleanKeywords splits a keyword field at commas, ASCII or full-width.
func cleanKeywords(s string) []string {
	s = cleanField(strings.ReplaceAll(s, "，", ","), true)
	if isListNumber(s) {
		return nil
	}
	return splitKeywords(s)
}

func splitKeywords(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// cleanDescription cleans a description; unlike a name it may be a number and keeps its inner quotes.
func cleanDescription(s string) string { return cleanField(s, false) }

// cleanField cleans one field of a record; with name the rules for names, types and keywords apply too.
func cleanField(s string, name bool) string {
	s = sanitize(s)
	s = tagReplacer.Replace(s)
	s = wideReplacer.Replace(s)
	s = squeezeChinese(s)
	s = unquote(s)
	if name {
		s = curlyReplacer.Replace(s)
		s = dropQuotesBesideChinese(s)
		s = narrowSpaces(s)
	}
	return strings.TrimSpace(s)
}

// tagReplacer removes HTML paragraph and line-break tags.
var tagReplacer = strings.NewReplacer(
	"<p>", "", "</p>", "", "<p/>", "", "<P>", "", "</P>", "", "<P/>", "",
	"<br>", "", "</br>", "", "<br/>", "", "<br />", "", "<BR>", "", "</BR>", "", "<BR/>", "", "<BR />", "",
)

// wideReplacer maps full-width letters, digits and some signs to ASCII.
var wideReplacer = strings.NewReplacer(widePairs()...)

func widePairs() []string {
	pairs := []string{"－", "-", "＋", "+", "／", "/", "＊", "*", "（", "(", "）", ")", "—", "-", "\u3000", " "}
	const wide = '！' - '!' // full-width forms stand in the order of ASCII
	for _, r := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" {
		pairs = append(pairs, string(r+wide), string(r))
	}
	return pairs
}

var curlyReplacer = strings.NewReplacer("“", "", "”", "", "‘", "", "’", "")

// quotes are the pairs that are taken off a field, one layer of each, when they do not occur inside.
var quotes = [][2]string{
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"《", "》"}, // those of the reference
	{"„", "“"}, {"„", "”"}, {"«", "»"}, {"「", "」"}, {"『", "』"},
}

func unquote(s string) string {
	for _, q := range quotes {
		inner, ok := strings.CutPrefix(s, q[0])
		if !ok {
			continue
		}
		inner, ok = strings.CutSuffix(inner, q[1])
		if ok && !strings.Contains(inner, q[0]) && !strings.Contains(inner, q[1]) {
			s = inner
		}
	}
	return s
}

func isChinese(r rune) bool { return r >= 0x4e00 && r <= 0x9fa5 }

// joinsChinese tells whether white space between r and a Chinese character is removed.
func joinsChinese(r rune) bool {
	return isChinese(r) || r < utf8.RuneSelf &&
		(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("()[]@#$%!&*-=+_", r))
}

// squeezeChinese removes white space between Chinese characters and between them and Latin ones.
func squeezeChinese(s string) string {
	if strings.IndexFunc(s, isChinese) < 0 {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	prev := rune(-1) // last character that is not white space
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			sb.WriteString(s[i : i+size])
			prev, i = r, i+size
			continue
		}
		rest := strings.TrimLeftFunc(s[i:], unicode.IsSpace)
		next, _ := utf8.DecodeRuneInString(rest)
		end := len(s) - len(rest)
		if !(rest != "" && prev >= 0 && (isChinese(prev) && joinsChinese(next) || joinsChinese(prev) && isChinese(next))) {
			sb.WriteString(s[i:end])
		}
		i = end
	}
	return sb.String()
}

// dropQuotesBesideChinese removes runs of straight quotes that touch a Chinese character.
func dropQuotesBesideChinese(s string) string {
	if !strings.ContainsAny(s, `'"`) || strings.IndexFunc(s, isChinese) < 0 {
		return s
	}
	var sb strings.Builder
	prev := rune(-1)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r != '\'' && r != '"' {
			sb.WriteString(s[i : i+size])
			prev, i = r, i+size
			continue
		}
		rest := strings.TrimLeft(s[i:], `'"`)
		next, _ := utf8.DecodeRuneInString(rest)
		end := len(s) - len(rest)
		if !isChinese(prev) && !(rest != "" && isChinese(next)) {
			sb.WriteString(s[i:end])
		}
		prev, i = r, end
	}
	return sb.String()
}

// narrowSpaces turns no-break spaces into spaces, the narrow one only where it does not follow a digit (it
// groups digits in French numbers).
func narrowSpaces(s string) string {
	const noBreak, narrow = '\u00a0', '\u202f'
	if !strings.ContainsRune(s, noBreak) && !strings.ContainsRune(s, narrow) {
		return s
	}
	var sb strings.Builder
	prev := rune(-1)
	for _, r := range s {
		if r == noBreak || r == narrow && prev >= 0 && !unicode.IsDigit(prev) {
			r = ' '
		}
		sb.WriteRune(r)
		prev = r
	}
	return sb.String()
}

// collapse makes one space of every run of white space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// capName cuts s to the longest name allowed.
func capName(s string) string {
	runes := 0
	for i := range s {
		if runes == MaxNameRunes {
			s = s[:i]
			break
		}
		runes++
	}
	if len(s) > MaxNameBytes {
		end := MaxNameBytes
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return strings.TrimSpace(s)
}

// Numbers that stand for items of a list rather than for things.
const (
	maxListDigits = 2 // "7", "12"
	maxListRunes  = 5 // "1.2", "10.11"
)

func isListNumber(s string) bool {
	digits, dots := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		default:
			return false
		}
	}
	return dots == 0 && digits > 0 && digits <= maxListDigits || dots > 0 && digits+dots <= maxListRunes
}
