package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class is the kind of a token.
type Class uint8

// The classes of tokens.
const (
	// Word is letters with their marks and digits, and the signs that hold a word together inside:
	// don't, tide-mill, book.txt, GPT-4, llama3.2:latest, snake_case.
	Word Class = iota
	// Number starts with a digit and has no letter but an ending: 1,204, 3.5, 16:30, 1990s, 11th.
	Number
	// Unspaced is a run of one of the scripts that are written without spaces.
	Unspaced
	// Code is the inside of a `code span`, an address or a path.
	Code
	// Tag is markup and data that nobody reads: an HTML tag from < to >, an entity, the ](target) of a Markdown
	// link, a run of base64 or hexadecimal digits.
	Tag
	// Sign is one other rune that is not a space: punctuation, a symbol, an emoji, an invalid byte.
	Sign
)

// Token is a piece of a text, by byte offsets.
type Token struct {
	Start, End int
	Class      Class
}

const (
	// maxToken bounds a token in bytes. Longer runs (base64, a paragraph of Han) continue in the next
	// token. It is far above any word and keeps work per token constant.
	maxToken = 256
	// maxTag bounds how far a < looks for its >, and maxSpan how far a backtick looks for its partner.
	maxTag, maxSpan = 200, 80
)

// Tokens splits text. White space separates and is no token; every other byte belongs to exactly one,
// but for the backticks around code.
func Tokens(text string) []Token {
	return appendTokens(make([]Token, 0, len(text)/5+1), text, 0, len(text))
}

// appendTokens appends the tokens of text[from:to].
func appendTokens(dst []Token, text string, from, to int) []Token {
	s := text[:to]
	for i := from; i < to; {
		r, n := decode(s, i)
		switch {
		case isSpace(r):
			i += n
		case r == '`':
			if t, next, ok := codeSpan(s, i); ok {
				dst = append(dst, t)
				i = next
				continue
			}
			dst = append(dst, Token{i, i + n, Sign})
			i += n
		case r == '<' || r == '&' || r == ']' || r == '\\':
			end := markupEnd(s, i)
			class := Tag
			if end < 0 {
				end, class = i+n, Sign
			}
			dst = append(dst, Token{i, end, class})
			i = end
		case isUnspaced(r):
			end := unspacedEnd(s, i)
			dst = append(dst, Token{i, end, Unspaced})
			i = end
		case isWordRune(r):
			if end := blobEnd(s, i); end > 0 {
				dst = append(dst, Token{i, end, Tag})
				i = end
				continue
			}
			t := word(s, i)
			dst = append(dst, t)
			i = t.End
		case r == '/' || r == '~' || r == '.':
			if end := pathEnd(s, i); end > 0 {
				dst = append(dst, Token{i, end, Code})
				i = end
				continue
			}
			dst = append(dst, Token{i, i + n, Sign})
			i += n
		default:
			dst = append(dst, Token{i, i + n, Sign})
			i += n
		}
	}
	return dst
}

// codeSpan reads `code` at i: one line, one to maxSpan bytes, single backticks.
func codeSpan(s string, i int) (Token, int, bool) {
	limit := min(len(s), i+1+maxSpan+1)
	n := strings.IndexAny(s[i+1:limit], "`\n")
	if n <= 0 || s[i+1+n] != '`' {
		return Token{}, 0, false
	}
	start, end := i+1, i+1+n
	for start < end && s[start] == ' ' {
		start++
	}
	for end > start && s[end-1] == ' ' {
		end--
	}
	return Token{start, end, Code}, i + 1 + n + 1, start < end
}

// markupEnd returns where the markup that starts at i ends, or -1: a tag, an entity, a link target, or one of the
// escapes \n, \r and \t that text pulled out of JSON is left with.
func markupEnd(s string, i int) int {
	switch s[i] {
	case '<':
		return tagEnd(s, i)
	case '&':
		limit := min(len(s), i+10)
		n := strings.IndexByte(s[i:limit], ';')
		if n < 3 || strings.IndexFunc(s[i+1:i+n], func(r rune) bool { return r >= utf8.RuneSelf || !isASCIIWord(byte(r)) && r != '#' }) >= 0 {
			return -1
		}
		return i + n + 1
	case ']':
		if i+1 >= len(s) || s[i+1] != '(' {
			return -1
		}
		limit := min(len(s), i+maxTag)
		n := strings.IndexAny(s[i+2:limit], "()\n")
		if n < 0 || s[i+2+n] != ')' {
			return -1
		}
		return i + 2 + n + 1
	default:
		if i+1 < len(s) && strings.IndexByte("nrt", s[i+1]) >= 0 && (i+2 == len(s) || s[i+2] == '\\' || 'A' <= s[i+2] && s[i+2] <= 'Z' || s[i+2] == ' ') {
			return i + 2
		}
		return -1
	}
}

// minBlob is the length of a run that is data, not a word: shorter than any common digest.
const minBlob = 32

// blobEnd returns where a run of base64 or hexadecimal digits that starts at i ends, at most maxToken on, or -1.
func blobEnd(s string, i int) int {
	var upper, lower, digit, hex int
	end := i
	for end < len(s) && end-i < maxToken {
		c := s[end]
		switch {
		case isASCIIDigit(c):
			digit++
			hex++
		case 'a' <= c && c <= 'z':
			lower++
			if c <= 'f' {
				hex++
			}
		case 'A' <= c && c <= 'Z':
			upper++
			if c <= 'F' {
				hex++
			}
		case c != '+' && c != '/' && c != '=':
			if end-i < minBlob {
				return -1
			}
			return blob(i, end, upper, lower, digit, hex)
		}
		end++
	}
	if end-i < minBlob {
		return -1
	}
	return blob(i, end, upper, lower, digit, hex)
}

func blob(i, end, upper, lower, digit, hex int) int {
	if hex == end-i && digit > 0 || upper > 2 && lower > 2 && digit > 2 || end-i == maxToken && upper > 2 && lower > 2 {
		return end
	}
	return -1
}

// tagEnd returns where the tag that starts at i ends, or -1.
func tagEnd(s string, i int) int {
	if i+1 >= len(s) {
		return -1
	}
	c := s[i+1]
	if c != '/' && c != '!' && (c|0x20 < 'a' || c|0x20 > 'z') {
		return -1
	}
	limit := min(len(s), i+maxTag)
	n := strings.IndexAny(s[i+1:limit], "<>")
	if n < 0 || s[i+1+n] != '>' {
		return -1
	}
	return i + 1 + n + 1
}

// unspacedEnd returns where the run of unspaced script that starts at i ends, at most maxToken bytes on.
func unspacedEnd(s string, i int) int {
	end := i
	for end < len(s) {
		r, n := decode(s, end)
		if !isUnspaced(r) && !unicode.IsMark(r) || end+n-i > maxToken && end > i {
			break
		}
		end += n
	}
	return end
}

// pathEnd recognises /a/b, ./a, ../a and ~/a at i: at least one name after a slash, at a word's start.
func pathEnd(s string, i int) int {
	if i > 0 && (isASCIIWord(s[i-1]) || s[i-1] == '/' || s[i-1] == '.') {
		return -1
	}
	j := i
	for j < len(s) && j-i < 2 && (s[j] == '.' || s[j] == '~') {
		j++
	}
	if j+1 >= len(s) || s[j] != '/' || !isASCIIWord(s[j+1]) {
		return -1
	}
	for j < len(s) && j-i < maxToken && (isASCIIWord(s[j]) || strings.IndexByte("/.-_:{}", s[j]) >= 0) {
		j++
	}
	return trimTail(s, i, j)
}

// trimTail moves end back over signs that close a sentence rather than belong to an address.
func trimTail(s string, start, end int) int {
	for end > start && strings.IndexByte(".,;:!?'\")]}-", s[end-1]) >= 0 {
		end--
	}
	return end
}

// word reads a word, number or address that starts at i.
func word(s string, i int) Token {
	if end := addressEnd(s, i); end > 0 {
		return Token{i, end, Code}
	}
	var letters, digits, parts int
	end := i
	for end < len(s) {
		r, n := decode(s, end)
		if end+n-i > maxToken && end > i {
			break
		}
		switch {
		case isUnspaced(r):
			return wordToken(i, end, letters, digits, parts)
		case unicode.IsLetter(r):
			letters++
		case isDigit(r):
			digits++
		case unicode.IsMark(r) || r == '\u200d' || r == '\u00ad':
		default:
			if !joins(s, i, end, r, n, digits) {
				return wordToken(i, end, letters, digits, parts)
			}
			parts++
		}
		end += n
	}
	return wordToken(i, end, letters, digits, parts)
}

func wordToken(start, end, letters, digits, parts int) Token {
	class := Word
	if digits > 0 && (letters == 0 || parts == 0 && letters <= 2 && digits >= letters) {
		class = Number
	}
	return Token{start, end, class}
}

// joins reports whether the sign r at end (n bytes long) holds two halves of the word from start together.
func joins(s string, start, end int, r rune, n, digits int) bool {
	if end == start || end+n >= len(s) {
		return false
	}
	next, _ := decode(s, end+n)
	if !unicode.IsLetter(next) && !isDigit(next) || isUnspaced(next) {
		return false
	}
	switch r {
	case '\'', '’', '-', '‐', '‑', '·', '.', '_':
		return true
	case ',':
		return isDigit(next) && isASCIIDigit(s[end-1])
	case ':':
		return digits > 0 || isDigit(next) && s[end-1] != ')'
	}
	return false
}

// addressEnd recognises scheme://..., www... and name@host at i.
func addressEnd(s string, i int) int {
	rest := s[i:min(len(s), i+maxToken)]
	scheme := 0
	for scheme < len(rest) && scheme < 12 && isASCIIWord(rest[scheme]) {
		scheme++
	}
	end := scheme
	switch {
	case strings.HasPrefix(rest[scheme:], "://"):
	case strings.HasPrefix(rest, "www."):
	default:
		for end < len(rest) && (isASCIIWord(rest[end]) || rest[end] == '.' || rest[end] == '-' || rest[end] == '+') {
			end++
		}
		if end == 0 || end+1 >= len(rest) || rest[end] != '@' || !isASCIIWord(rest[end+1]) {
			return -1
		}
	}
	for end < len(rest) && rest[end] > ' ' && rest[end] < utf8.RuneSelf && strings.IndexByte("<>\"`|\\^{}()[]", rest[end]) < 0 {
		end++
	}
	return trimTail(s, i+1, i+end)
}

// decode reads the rune at i; an invalid byte is utf8.RuneError of length 1.
func decode(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[i:])
}

func isASCIIDigit(c byte) bool { return '0' <= c && c <= '9' }

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isASCIIDigit(c) || c == '_'
}

func isDigit(r rune) bool {
	return '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r)
}

func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b'
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(byte(r)) && r != '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// isUnspaced reports whether r belongs to a script that is written without spaces between words.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, // Thai, Lao
		0x1000 <= r && r <= 0x109F,                         // Myanmar
		0x1780 <= r && r <= 0x17FF,                         // Khmer
		0x3040 <= r && r <= 0x30FF && r != '・' && r != '゠', // kana
		0x31F0 <= r && r <= 0x31FF,
		0xFF66 <= r && r <= 0xFF9F:
		return true
	}
	return IsHan(r)
}

// IsHan reports whether r is a Chinese character, wherever it is used.
func IsHan(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF || r == '々' || r == '〇' ||
		0xF900 <= r && r <= 0xFAFF || 0x20000 <= r && r <= 0x3FFFF || 0x2E80 <= r && r <= 0x2FDF
}

func isHiragana(r rune) bool { return 0x3041 <= r && r <= 0x309F }

func isKatakana(r rune) bool {
	return 0x30A1 <= r && r <= 0x30FF && r != '・' || 0x31F0 <= r && r <= 0x31FF || 0xFF66 <= r && r <= 0xFF9F
}

func isHangul(r rune) bool { return 0xAC00 <= r && r <= 0xD7A3 || 0x1100 <= r && r <= 0x11FF }
