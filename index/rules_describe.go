package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
)

const (
	// maxQuoteRunes bounds one sentence of a description; a longer one is cut around what it is quoted for.
	maxQuoteRunes = 280
	// describeSentences is how many sentences describe an entity in one chunk.
	describeSentences = 2
)

// originWeights say how surely a mention of each origin is a thing worth an entity.
var originWeights = map[lexical.Origin]float64{
	lexical.Proper: 1, lexical.Acronym: 0.9, lexical.Span: 0.5, lexical.Phrase: 0.6,
	lexical.Mined: 0.6, lexical.Quoted: 0.9, lexical.Suffix: 0.9, lexical.Persona: 1.2,
}

// rate scores the significance of an entity in its chunk: how sure its kind is, how often it comes, whether a
// heading names it, how specific its name is.
func (c *ruleChunk) rate(e *ruleEntity) {
	e.score = originWeights[e.origin] * (1 + math.Log(float64(len(e.mentions))))
	if e.words > 1 {
		e.score += 0.2
	}
	for _, m := range e.mentions {
		if c.Sentences[c.Mentions[m].Sentence].Block == lexical.Heading {
			e.score += 0.3
			break
		}
	}
}

// describe returns the sentences that say most about an entity, in the order of the text.
func (c *ruleChunk) describe(e *ruleEntity) string {
	type choice struct {
		sentence, mention int
		score             float64
	}
	var choices []choice
	for _, m := range e.mentions {
		s := c.Mentions[m].Sentence
		score := c.informs(m)
		if n := len(choices); n > 0 && choices[n-1].sentence == s {
			if score > choices[n-1].score {
				choices[n-1].score, choices[n-1].mention = score, m
			}
			continue
		}
		choices = append(choices, choice{s, m, score})
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(b.score, a.score) })
	choices = choices[:min(describeSentences, len(choices))]
	if len(choices) > 1 && choices[1].score < choices[0].score-2 {
		choices = choices[:1] // the second says too little to stand beside the first
	}
	slices.SortFunc(choices, func(a, b choice) int { return cmp.Compare(a.sentence, b.sentence) })
	var parts []string
	for _, ch := range choices {
		q := c.quote(ch.sentence, ch.mention)
		if q != "" && !slices.Contains(parts, q) {
			parts = append(parts, q)
		}
	}
	return strings.Join(parts, " ")
}

// informs scores how much the sentence of mention m says about what it mentions.
func (c *ruleChunk) informs(m int) float64 {
	mention := c.Mentions[m]
	s := c.Sentences[mention.Sentence]
	score := 0.0
	switch s.Block {
	case lexical.Heading:
		score -= 2
	case lexical.Row, lexical.Listing:
		score--
	case lexical.Prose, lexical.Item:
	}
	if c.defines(mention) {
		score += 2
	}
	from, to := c.TokenRange(mention.Sentence)
	if mention.First-from <= 2 && !mention.Possessive {
		score++ // the subject
	}
	switch n := s.End - s.Start; {
	case n < 25:
		score -= 1.5
	case n >= 60 && n <= 260:
		score += 0.5
	case n > 600:
		score -= 0.5
	}
	if to-from > 0 && c.broken(mention.Sentence) {
		score--
	}
	span := c.spans[mention.Sentence]
	score += 0.2 * float64(min(span[1]-span[0]-1, 3))
	return score
}

// defines reports whether a verb of being or an apposition follows the mention: "X is", "X, a", "X（", "X是".
func (c *ruleChunk) defines(m lexical.Mention) bool {
	rest := strings.TrimLeft(c.Text[m.End:min(len(c.Text), m.End+16)], "`*_)\"”》」 \n")
	for _, cue := range definingCues {
		if strings.HasPrefix(rest, cue) {
			return true
		}
	}
	return false
}

var definingCues = []string{"is ", "is\n", "was ", "are ", "were ", "means ", ", a ", ", an ", ", the ", ", who ", ", which ", "( ", "— ", "- ", ": ", "是", "为", "指", "，是", "（", "："}

// broken reports whether a sentence was cut by the border of the chunk.
func (c *ruleChunk) broken(sentence int) bool {
	s := c.Sentences[sentence]
	if sentence == 0 {
		r, _ := utf8.DecodeRuneInString(c.Text[s.Start:s.End])
		if unicode.IsLower(r) || unicode.IsPunct(r) && strings.ContainsRune(",.;:)，。、；）", r) {
			return true
		}
	}
	if sentence == len(c.Sentences)-1 && s.Block == lexical.Prose {
		r, _ := utf8.DecodeLastRuneInString(c.Text[s.Start:s.End])
		return unicode.IsLetter(r) || r == ','
	}
	return false
}

// quote returns a sentence without markup, cut around a mention when it is long.
func (c *ruleChunk) quote(sentence, mention int) string {
	s := c.text(sentence)
	if utf8.RuneCountInString(s) <= maxQuoteRunes {
		return s
	}
	at := 0
	if name := c.Text[c.Mentions[mention].Start:c.Mentions[mention].End]; name != "" {
		at = max(0, strings.Index(s, name))
	}
	return excerpt(s, at, maxQuoteRunes)
}

// excerpt cuts about limit runes around byte at out of s, at spaces where there are any.
func excerpt(s string, at, limit int) string {
	start := at
	for n := 0; start > 0 && n < limit/3; n++ {
		_, w := utf8.DecodeLastRuneInString(s[:start])
		start -= w
	}
	end := start
	for n := 0; end < len(s) && n < limit; n++ {
		_, w := utf8.DecodeRuneInString(s[end:])
		end += w
	}
	head, tail := "", ""
	if start > 0 {
		head = "… "
		if k := strings.IndexByte(s[start:at], ' '); k >= 0 {
			start += k + 1
		}
	}
	if end < len(s) {
		tail = " …"
		if k := strings.LastIndexByte(s[at:end], ' '); k > 0 {
			end = at + k
		}
	}
	return head + strings.TrimSpace(s[start:end]) + tail
}

// text returns a sentence without markup and with single spaces.
func (c *ruleChunk) text(sentence int) string {
	if c.plain[sentence] == "" {
		c.plain[sentence] = c.strip(sentence)
	}
	return c.plain[sentence]
}

func (c *ruleChunk) strip(sentence int) string {
	from, to := c.TokenRange(sentence)
	var b strings.Builder
	space, lastUnspaced := false, false
	end := c.Sentences[sentence].Start
	for i := from; i < to; i++ {
		t := c.Tokens[i]
		if strings.TrimFunc(c.Text[end:t.Start], isGapRune) != c.Text[end:t.Start] {
			space = true
		}
		end = t.End
		word := c.Text[t.Start:t.End]
		if t.Class == lexical.Tag {
			space = space || strings.HasPrefix(word, "&") || strings.HasPrefix(word, `\`) || word == "<br>" || word == "<br/>"
			continue
		}
		if t.Class == lexical.Sign && strings.ContainsAny(word, "*_`|[") {
			space = space || word == "|"
			continue
		}
		unspaced := t.Class == lexical.Unspaced
		if space && b.Len() > 0 && !(unspaced && lastUnspaced) {
			b.WriteByte(' ')
		}
		space, lastUnspaced = false, unspaced
		b.WriteString(word)
	}
	return cleanDescription(dropLoneQuote(b.String()))
}

// dropLoneQuote removes a quote at the start or the end of a sentence whose partner is in another one.
func dropLoneQuote(s string) string {
	for _, q := range []string{"\"", "'", "“", "‘", "「", "『"} {
		if rest, ok := strings.CutPrefix(s, q); ok && !strings.ContainsAny(rest, closingQuotes[q]) {
			s = rest
		}
	}
	for _, q := range []string{"\"", "'", "”", "’", "」", "』"} {
		if rest, ok := strings.CutSuffix(s, q); ok && !strings.ContainsAny(rest, openingQuotes[q]) {
			s = rest
		}
	}
	return s
}

var (
	closingQuotes = map[string]string{"\"": "\"", "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』"}
	openingQuotes = map[string]string{"\"": "\"", "'": "'", "”": "“", "’": "‘", "」": "「", "』": "『"}
)

// isGapRune reports whether r separates words.
func isGapRune(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }
