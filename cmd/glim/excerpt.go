package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/index"
	"github.com/rivo/uniseg"
)

// excerpt is what is shown of a passage: from the sentence that comes nearest to the question on, or all
// of a short text. hit is that sentence's place in text, empty when none shares a word with the question.
// It decides only what is shown, never which passages.
type excerpt struct {
	text string
	hit  line
}

// excerptOf takes at most n columns.
func excerptOf(text, question string, n int) excerpt {
	sentences := split(printableText(strings.ReplaceAll(text, "\r\n", "\n")))
	best := nearest(sentences, question)
	whole := 0
	for _, s := range sentences {
		whole += uniseg.StringWidth(s.gap + s.text)
	}
	var e excerpt
	from := 0
	if whole > n && best > 0 {
		from, e.text = best, "... "
	}
	for i, s := range sentences[from:] {
		if i > 0 {
			e.text += s.gap
		}
		if from+i == best {
			e.hit = line{len(e.text), len(e.text) + len(s.text)}
		}
		e.text += s.text
		if uniseg.StringWidth(e.text) > n {
			break
		}
	}
	e.text = clip(e.text, n)
	e.hit.end = min(e.hit.end, len(strings.TrimSuffix(e.text, cutMark)))
	return e
}

// fragments are the descriptions of one object from several passages, each on one line.
func fragments(description string) []string {
	var out []string
	for f := range strings.SplitSeq(description, index.Separator) {
		if f = strings.Join(strings.Fields(f), " "); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// nearestFragment is the sentence of a description that comes nearest to the question.
func nearestFragment(description, question string) string {
	sentences := split(strings.ReplaceAll(description, index.Separator, "\n\n"))
	if len(sentences) == 0 {
		return ""
	}
	return sentences[max(0, nearest(sentences, question))].text
}

// sentence is a sentence, a heading or an item of a list.
type sentence struct {
	text    string
	gap     string // what stands before it
	heading bool
}

// split takes a text apart. Markdown's marks at the beginning of lines are left out, lines of one
// paragraph are joined.
func split(text string) (out []sentence) {
	var paragraph strings.Builder
	flush := func(heading bool) {
		gap := " / " // between paragraphs, headings and items, as verses are quoted
		for rest := strings.Join(strings.Fields(paragraph.String()), " "); rest != ""; {
			end := sentenceEnd(rest)
			s := strings.TrimSpace(strings.ReplaceAll(rest[:end], "**", ""))
			rest = strings.TrimLeft(rest[end:], " ")
			out = append(out, sentence{s, gap, heading})
			gap = " "
			if last, _ := utf8.DecodeLastRuneInString(s); wide(last) {
				gap = ""
			}
		}
		paragraph.Reset()
	}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		body := strings.TrimLeft(l, "#")
		heading := body != l && (body == "" || body[0] == ' ')
		if item, ok := cutItem(l); ok {
			flush(false)
			l = item
		} else if l == "" || heading {
			flush(false)
			if heading {
				l = body
			}
		}
		if s := paragraph.String(); s != "" {
			last, _ := utf8.DecodeLastRuneInString(s)
			first, _ := utf8.DecodeRuneInString(l)
			if !wide(last) || !wide(first) { // words are spaced, Chinese is not
				paragraph.WriteByte(' ')
			}
		}
		paragraph.WriteString(l)
		if heading {
			flush(true)
		}
	}
	flush(false)
	return out
}

// cutItem is the text of a line of a list.
func cutItem(l string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(l, mark); ok {
			return rest, true
		}
	}
	return l, false
}

// wide says whether r is of a script that is written without spaces, or of its punctuation.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}

// sentenceEnd is where the first sentence of text ends.
func sentenceEnd(text string) int {
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			for _, closing := range []string{"”", "’", "」", "』", "）"} { // they belong to the sentence
				if strings.HasPrefix(text[next:], closing) {
					next += len(closing)
				}
			}
			return next
		case '.', '!', '?':
			if rest := strings.TrimLeft(text[next:], `"'”’)*_`); rest == "" || rest[0] == ' ' && !abbreviation(text[:i]) {
				return len(text) - len(rest)
			}
		}
	}
	return len(text)
}

// abbreviation says whether a full stop after text is no end of a sentence: after an initial or a title.
func abbreviation(text string) bool {
	word := text[strings.LastIndexAny(text, " (")+1:]
	return utf8.RuneCountInString(word) == 1 && unicode.IsUpper([]rune(word)[0]) ||
		slices.Contains([]string{"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "vs", "e.g", "i.e", "cf"}, word)
}

// nearest is the sentence that shares most with the question, -1 when none shares anything. A heading
// only says what follows, so that it never is one.
func nearest(sentences []sentence, question string) int {
	in := make(map[string]int) // sentences that hold a mark: what all of them say tells nothing
	all := make([]map[string]bool, len(sentences))
	for i, s := range sentences {
		all[i] = marks(s.text)
		for w := range all[i] {
			in[w]++
		}
	}
	words := slices.Sorted(maps.Keys(marks(question))) // sums of floats depend on their order
	best, most := -1, 0.0
	for i, s := range sentences {
		score := 0.0
		for _, w := range words { // the weight of a word falls with the number of sentences that hold it
			if all[i][w] {
				score += math.Log(1 + float64(len(sentences))/float64(in[w]))
			}
		}
		if score > most && !s.heading {
			most, best = score, i
		}
	}
	return best
}

// markLetters is how much of a word must agree: endings ("designed", "designer", "shows") must not matter.
const markLetters = 4

// marks are the beginnings of the words of text that say something, and the pairs of characters where
// words are not spaced.
func marks(text string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch runes := []rune(w); {
		case wide(runes[0]):
			for i := range len(runes) - 1 {
				out[string(runes[i:i+2])] = true
			}
		case len(runes) > 2 && !slices.Contains(emptyWords, w):
			out[string(runes[:min(len(runes), markLetters)])] = true
		}
	}
	return out
}

// emptyWords ask and join, and say nothing.
var emptyWords = strings.Fields(`about all and any are because but can could did does for from had has have how into its
may might more most not now off one onto our out over shall should some such tell than that the their them then there these
they this those upon was were what when where which while who whom whose why will with would you your`)
