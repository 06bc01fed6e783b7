package token

import "unicode/utf8"

// The scanners below return the length in bytes of the first pre-token of a text that is not empty. Each
// stands for one of tiktoken's regular expressions, quoted above it, whose alternatives are tried in order
// with backtracking. The classes are chosen so that each scanner needs one pass and remembers where
// backtracking would have stopped. A byte that is no valid UTF-8 counts as U+FFFD, a symbol.

// nextO200k is o200k_base:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func nextO200k(text string) int {
	first, size := classAt(text, 0)
	prefix := 0
	if first&(letter|number|newline) == 0 {
		prefix = size
	}
	// The optional prefix is greedy: with it first, without it after. Only a mark can do without it.
	bare := prefix > 0 && first&mark != 0
	end := casedWord(text, prefix)
	if end == 0 && bare {
		end = casedWord(text, 0)
	}
	if end == 0 {
		end = upperWord(text, prefix)
	}
	if end == 0 && bare {
		end = upperWord(text, 0)
	}
	if end > 0 {
		return end + contraction(text[end:], true)
	}
	if first&number != 0 {
		return run(text, 0, number, 3)
	}
	if n := symbols(text); n > 0 {
		for n < len(text) && (text[n] == '\n' || text[n] == '\r' || text[n] == '/') {
			n++
		}
		return n
	}
	return spaces(text, true)
}

// casedWord matches [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ at i and returns its end, or 0.
func casedWord(text string, i int) int {
	// back is the end after the last character that both sets hold: where the match ends when the
	// greedy first set leaves nothing to the second.
	back := 0
	for i < len(text) {
		c, size := classAt(text, i)
		if c&(upper|caseless|mark) == 0 {
			break
		}
		i += size
		if c&(caseless|mark) != 0 {
			back = i
		}
	}
	if end := run(text, i, lower|caseless|mark, len(text)); end > i {
		return end
	}
	return back
}

// upperWord matches [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]* at i and returns its end, or 0.
func upperWord(text string, i int) int {
	end := run(text, i, upper|caseless|mark, len(text))
	if end == i {
		return 0
	}
	return run(text, end, lower|caseless|mark, len(text))
}

// nextCl100k is cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func nextCl100k(text string) int {
	if n := contraction(text, true); n > 0 {
		return n
	}
	first, size := classAt(text, 0)
	prefix := 0
	if first&(letter|number|newline) == 0 {
		prefix = size
	}
	if end := run(text, prefix, letter, len(text)); end > prefix {
		return end
	}
	if first&number != 0 {
		return run(text, 0, number, 3)
	}
	if n := symbols(text); n > 0 {
		for n < len(text) && (text[n] == '\n' || text[n] == '\r') {
			n++
		}
		return n
	}
	return spaces(text, true)
}

// nextP50k is p50k_base, p50k_edit and r50k_base:
//
//	's|'t|'re|'ve|'m|'ll|'d
//	 ?\p{L}+
//	 ?\p{N}+
//	 ?[^\s\p{L}\p{N}]+
//	\s+(?!\S)
//	\s+
func nextP50k(text string) int {
	if n := contraction(text, false); n > 0 {
		return n
	}
	prefix := 0
	if text[0] == ' ' {
		prefix = 1
	}
	for _, set := range []class{letter, number} {
		if end := run(text, prefix, set, len(text)); end > prefix {
			return end
		}
	}
	if n := symbols(text); n > 0 {
		return n
	}
	return spaces(text, false)
}

// run returns the end of the longest run of at most limit characters of the set, from i on.
func run(text string, i int, set class, limit int) int {
	for ; limit > 0 && i < len(text); limit-- {
		c, size := classAt(text, i)
		if c&set == 0 {
			break
		}
		i += size
	}
	return i
}

// symbols matches " ?[^\s\p{L}\p{N}]+" and returns its end, or 0.
func symbols(text string) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if end := run(text, start, symbol|mark, len(text)); end > start {
		return end
	}
	return 0
}

// spaces matches "\s*[\r\n]+" (when lines is set), "\s+(?!\S)" or "\s+" at the start of a text that begins
// with a space.
func spaces(text string, lines bool) int {
	end, last, line := 0, 0, 0
	for end < len(text) {
		c, size := classAt(text, end)
		if c&(space|newline) == 0 {
			break
		}
		last = end
		end += size
		if c&newline != 0 {
			line = end
		}
	}
	switch {
	case lines && line > 0:
		return line
	case end == len(text) || last == 0:
		return end
	}
	// The last space before a word belongs to the word.
	return last
}

// contraction matches an English 's, 't, 're, 've, 'm, 'll or 'd and returns its length, or 0.
func contraction(text string, fold bool) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	at := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if c := text[i]; fold && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return text[i]
	}
	switch c, d := at(1), at(2); {
	case c == 's' || c == 't' || c == 'm' || c == 'd':
		return 2
	case c == 'r' && d == 'e', c == 'v' && d == 'e', c == 'l' && d == 'l':
		return 3
	}
	return 0
}

// classAt returns the class of the character at i, which must be below len(text), and its size.
func classAt(text string, i int) (class, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return classOf(r), size
}
