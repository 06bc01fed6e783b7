package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
)

const (
	// maxSentenceNames bounds how many names of one sentence are related; a sentence with more is a list.
	maxSentenceNames = 12
	// The weight of one sentence for a pair: neighbours count whole, a subject with what comes later half.
	neighbourWeight, subjectWeight = 1.0, 0.5
	// maxRuleWeight bounds the weight of one record: a chunk that repeats itself is one witness.
	maxRuleWeight = 10.0
	// maxRuleKeywords bounds the keywords of one record.
	maxRuleKeywords = 4
	// aliasWeight is the least weight of the relation between two names of one thing.
	aliasWeight = 2.0
	// aliasKeyword marks that relation.
	aliasKeyword = "same name"
)

// link gathers the sentences that name two entities.
type link struct {
	src, dst *ruleEntity
	weight   float64
	best     float64 // of one sentence
	sentence int     // where it was reached
	from, to int     // the mentions there
	order    int
	alias    bool
}

// significance orders links when there are too many.
func (l *link) significance() float64 {
	return l.weight * (1 + math.Sqrt(l.src.score*l.dst.score))
}

// links relates the kept entities that share a sentence, in order of first appearance: each to its neighbour, to
// the name before it when only phrases stand between, and the first of a sentence, mostly its subject, to all.
func (c *ruleChunk) links() []*link {
	pairs := make(map[[2]*ruleEntity]*link)
	var order []*link
	meet := func(a, b *ruleEntity, s, from, to int, weight float64) {
		l := pairs[[2]*ruleEntity{a, b}]
		if l == nil {
			l = pairs[[2]*ruleEntity{b, a}]
		}
		if l == nil {
			l = &link{src: a, dst: b, order: len(order)}
			pairs[[2]*ruleEntity{a, b}] = l
			order = append(order, l)
		}
		l.weight = min(l.weight+weight, maxRuleWeight)
		if weight > l.best {
			l.best, l.sentence, l.from, l.to = weight, s, from, to
		}
	}
	var names []int
	for s, span := range c.spans {
		names = c.distinct(names[:0], span)
		scale := 1.0
		if c.Sentences[s].Block == lexical.Heading {
			scale = 0.5
		}
		named := -1 // the last name before that is no phrase
		for i, m := range names {
			if i > 0 {
				meet(c.of[names[i-1]], c.of[m], s, names[i-1], m, neighbourWeight*scale)
			}
			if named >= 0 && named != i-1 {
				meet(c.of[names[named]], c.of[m], s, names[named], m, neighbourWeight*scale)
			}
			if i > 1 && named != 0 {
				meet(c.of[names[0]], c.of[m], s, names[0], m, subjectWeight*scale)
			}
			if c.Mentions[m].Origin != lexical.Phrase {
				named = i
			}
		}
	}
	for _, a := range c.aliases {
		if !a.full.kept || !a.short.kept {
			continue
		}
		l := pairs[[2]*ruleEntity{a.full, a.short}]
		if l == nil {
			l = pairs[[2]*ruleEntity{a.short, a.full}]
		}
		if l == nil {
			l = &link{src: a.full, dst: a.short, sentence: c.Mentions[a.mention].Sentence, from: a.mention, to: a.mention, order: len(order)}
			pairs[[2]*ruleEntity{a.full, a.short}] = l
			order = append(order, l)
		}
		l.weight, l.alias = max(l.weight, aliasWeight), true
	}
	return order
}

// distinct appends the mentions of a sentence that name a kept entity for the first time in it.
func (c *ruleChunk) distinct(dst []int, span [2]int) []int {
	for m := span[0]; m < span[1] && len(dst) < maxSentenceNames; m++ {
		e := c.of[m]
		if e == nil || !e.kept || slices.ContainsFunc(dst, func(o int) bool { return c.of[o] == e }) {
			continue
		}
		dst = append(dst, m)
	}
	return dst
}

// relation makes the record of a link.
func (c *ruleChunk) relation(l *link) RelationRecord {
	keywords := c.linkWords(l)
	if l.alias {
		keywords = []string{aliasKeyword}
	}
	return RelationRecord{Src: l.src.name, Dst: l.dst.name, Description: c.quote(l.sentence, l.from), Keywords: keywords, Weight: l.weight}
}

// linkWords returns the words that say how the two entities are related: what stands between them, verbs and
// nouns of everyday prose first class here; when nothing does, what follows or precedes them in the sentence.
func (c *ruleChunk) linkWords(l *link) []string {
	if l.from == l.to {
		return nil
	}
	a, b := c.Mentions[l.from], c.Mentions[l.to]
	s := c.Sentences[l.sentence]
	var out []string
	for _, part := range [][2]int{{a.End, b.Start}, {b.End, s.End}, {s.Start, a.Start}} {
		if part[0] < part[1] {
			out = c.wordsBetween(out, part[0], part[1])
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// wordsBetween appends keywords of text[from:to], without names and without adverbs.
func (c *ruleChunk) wordsBetween(out []string, from, to int) []string {
	// At most this much of a long sentence says how two names in it relate.
	const reach = 160
	if to-from > reach {
		to = from + reach
		for !utf8.RuneStart(c.Text[to]) {
			to--
		}
	}
	for _, run := range lexical.Runs(c.Text[from:to]) {
		if c.named(from+run.Start, from+run.End) {
			continue
		}
		for _, w := range run.Words {
			w = strings.ToLower(w)
			n := utf8.RuneCountInString(w)
			if n < 2 || n > 24 || run.Spaceless && n > 6 || strings.HasSuffix(w, "ly") || strings.ContainsAny(w, "0123456789,/:") || countWords[w] || slices.Contains(out, w) {
				continue
			}
			if out = append(out, w); len(out) == maxRuleKeywords {
				return out
			}
		}
	}
	return out
}

// named reports whether a mention covers a part of text[from:to].
func (c *ruleChunk) named(from, to int) bool {
	i, _ := slices.BinarySearchFunc(c.Mentions, from, func(m lexical.Mention, at int) int { return cmp.Compare(m.End, at+1) })
	return i < len(c.Mentions) && c.Mentions[i].Start < to
}
