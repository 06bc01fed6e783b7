package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
)

// ruleType numbers the entity types that rules guess.
type ruleType uint8

const (
	typePerson ruleType = iota
	typeOrganization
	typeLocation
	typeEvent
	typeConcept
	typeMethod
	typeContent
	typeData
	typeArtifact
	typeNaturalObject
	typeCreature
)

// ruleTypes are their names as stored, those that the extraction prompt offers a model.
var ruleTypes = [...]string{"person", "organization", "location", "event", "concept", "method", "content", "data", "artifact", "naturalobject", "creature"}

// typeOther is the type of a name that nothing tells about.
const typeOther = "other"

// sureVote is what one unmistakable sign is worth; leastVote is what a guess takes.
const (
	sureVote  = 4.0
	leastVote = 1.0
)

// guess returns the type with the most votes.
func (e *ruleEntity) guess() string {
	best := -1
	for i, v := range e.votes {
		if v >= leastVote && (best < 0 || v > e.votes[best]) {
			best = i
		}
	}
	if best < 0 {
		return typeOther
	}
	return ruleTypes[best]
}

// isPersonal reports whether an entity is taken for a person.
func (e *ruleEntity) isPersonal() bool { return e.guess() == ruleTypes[typePerson] }

// vote gathers the signs of an entity's type.
func (c *ruleChunk) vote(e *ruleEntity) {
	c.voteByName(e)
	// A type is clear after a few mentions; the rest of a hub's thousand would not change it.
	const enough = 64
	for _, m := range e.mentions[:min(len(e.mentions), enough)] {
		c.voteByCompany(e, c.Mentions[m])
	}
}

// votePersonal adds what a name's form says about people: two capitalised words are mostly a person, in a text
// that is about people at all. In a manual they are a product.
func (c *ruleChunk) votePersonal() {
	const evidence = 1.5 // one person who speaks, has a title or a kin
	if !slices.ContainsFunc(c.entities, func(e *ruleEntity) bool { return e.votes[typePerson] >= evidence }) {
		return
	}
	for _, e := range c.entities {
		if e.origin == lexical.Proper && looksPersonal(e.name) {
			e.votes[typePerson] += leastVote
		}
	}
}

// voteByName votes by origin, title, first and last word.
func (c *ruleChunk) voteByName(e *ruleEntity) {
	if e.title != "" {
		e.votes[typePerson] += sureVote
	}
	switch e.origin {
	case lexical.Persona:
		e.votes[typePerson] += sureVote
	case lexical.Quoted:
		first := c.Mentions[e.mentions[0]]
		if strings.HasSuffix(c.Text[:first.Start], "《") {
			e.votes[typeContent] += sureVote
		} else {
			e.votes[typeConcept]++
		}
	case lexical.Suffix:
		e.votes[chineseType(e.name)] += sureVote
	case lexical.Phrase, lexical.Mined:
		e.votes[typeConcept]++
		if t, ok := chineseEnding(e.name); ok {
			e.votes[t] += 1.5
		}
		if t, ok := cueTypes[lastWord(e.name)]; ok && t != typePerson && t != typeOrganization {
			e.votes[t] += 0.5
		}
	case lexical.Acronym:
		e.votes[typeConcept]++
	case lexical.Span:
		e.votes[spanType(e.name)] += sureVote
	case lexical.Proper:
		c.voteByWords(e)
	}
}

func (c *ruleChunk) voteByWords(e *ruleEntity) {
	parts := strings.Fields(lexical.Normal(e.name))
	if len(parts) == 0 {
		return
	}
	if slices.Contains(parts, "research") {
		e.votes[typeOrganization] += sureVote
	}
	head := parts[len(parts)-1]
	for i, p := range parts {
		if i > 0 && (p == "of" || p == "for") {
			head = parts[i-1] // Bank of England is a bank
			break
		}
	}
	if t, ok := cueTypes[head]; ok {
		e.votes[t] += sureVote
	} else if t, ok := cueTypes[strings.TrimSuffix(head, "s")]; ok {
		e.votes[t] += sureVote
	} else if len(parts) > 1 {
		if t, ok := leadTypes[parts[0]]; ok {
			e.votes[t] += sureVote
		}
	}
	if isTechnical(e.name) {
		e.votes[typeArtifact] += 1.5
	}
	if i := strings.LastIndexByte(e.name, '.'); i > 0 && fileTypes[strings.ToLower(e.name[i+1:])] != 0 {
		e.votes[fileTypes[strings.ToLower(e.name[i+1:])]] += sureVote
	}
}

// voteByCompany votes by the words around one mention.
func (c *ruleChunk) voteByCompany(e *ruleEntity, m lexical.Mention) {
	if e.origin != lexical.Proper && e.origin != lexical.Acronym {
		return
	}
	from, to := c.TokenRange(m.Sentence)
	m.Last = c.pastBrackets(m.Last, to)
	before, after := c.wordAt(m.First-1, from, to), c.wordAt(m.Last+1, from, to)
	if m.Last+1 < to && c.Word(m.Last+1) == "." {
		after = ""
	}
	switch {
	case personVerbs[after]:
		e.votes[typePerson] += 1.5
	case saidVerbs[before] && (m.First-2 < from || c.Tokens[m.First-2].Class == lexical.Sign):
		e.votes[typePerson] += 1.5 // "..." said X
	}
	if t, ok := kindTypes[before]; ok {
		e.votes[t] += sureVote
	}
	if roleWords[before] {
		e.votes[typePerson] += 2
	}
	if m.Possessive && kinWords[after] {
		e.votes[typePerson] += 2
	}
	if after == "," || after == "" {
		if c.apposition(m, to) {
			e.votes[typePerson] += 2
		}
	}
	if w := c.wordAt(m.Last+2, from, to); after == "," && w == "who" || after == "who" {
		e.votes[typePerson] += 2
	}
	switch before {
	case "in", "near", "inside", "outside", "throughout", "across":
		if e.origin == lexical.Proper && !isTechnical(e.name) && !c.manual {
			e.votes[typeLocation]++ // a manual does things in programs
		}
	case "at", "from", "to", "toward", "towards", "around":
		e.votes[typeLocation] += 0.4
	case "mr", "mrs", "dr", "miss", "sir", "uncle", "aunt", "captain":
		e.votes[typePerson] += sureVote
	}
	// The next sentence goes on with He or She.
	if m.First-from <= 1 && m.Sentence+1 < len(c.Sentences) {
		next, end := c.TokenRange(m.Sentence + 1)
		if w := c.wordAt(next, next, end); w == "he" || w == "she" {
			e.votes[typePerson]++
		}
	}
}

// pastBrackets returns the token that closes the brackets right behind token i, or i when there are none.
func (c *ruleChunk) pastBrackets(i, to int) int {
	const reach = 8 // tokens
	if i+1 >= to || c.Word(i+1) != "(" && c.Word(i+1) != "（" {
		return i
	}
	for j := i + 2; j < min(to, i+reach); j++ {
		if w := c.Word(j); w == ")" || w == "）" {
			return j
		}
	}
	return i
}

// apposition reports whether the mention is explained as a person: "X, a laundress", "X, the keeper of".
func (c *ruleChunk) apposition(m lexical.Mention, to int) bool {
	i := m.Last + 1
	if i >= to || c.Word(i) != "," {
		return false
	}
	if w := lexical.Normal(c.Word(min(i+1, to-1))); lexical.WordRank(w) == lexical.Stop && !articles[w] {
		return false
	}
	// The role is one of the next words, after its article and adjectives.
	const near = 6
	for j := i + 1; j < min(to, i+near); j++ {
		w := lexical.Normal(c.Word(j))
		if roleWords[w] || kinWords[w] {
			return true
		}
		if c.Tokens[j].Class == lexical.Sign {
			return false
		}
	}
	return false
}

// wordAt returns the normal form of token i of a sentence, the sign itself where it is one, "" outside.
func (c *ruleChunk) wordAt(i, from, to int) string {
	if i < from || i >= to {
		return ""
	}
	if c.Tokens[i].Class == lexical.Sign {
		return c.Word(i)
	}
	return lexical.Normal(c.Word(i))
}

// namePartsOf splits a name of plain capitalised words; nil when it has other words, digits or signs.
func namePartsOf(name string) []string {
	parts := strings.Fields(name)
	for _, p := range parts {
		for i, r := range p {
			if i == 0 && !unicode.IsUpper(r) || i > 0 && !unicode.IsLetter(r) && r != '\'' && r != '-' && r != '.' {
				return nil
			}
		}
	}
	return parts
}

// looksPersonal reports whether a name is two or three capitalised words that mean nothing else: mostly people.
func looksPersonal(name string) bool {
	parts := namePartsOf(name)
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for _, p := range parts {
		initial := len(p) == 2 && p[1] == '.'
		if !initial && (lexical.WordRank(lexical.Normal(p)) != lexical.Content || strings.ToUpper(p) == p || strings.Contains(p, ".")) {
			return false
		}
	}
	return !isTechnical(name)
}

// isAddress reports whether a word is a form of address or kinship that goes before a name.
func isAddress(w string) bool {
	t, ok := leadTypes[lexical.Normal(w)]
	return ok && t == typePerson
}

func lastWord(name string) string {
	name = lexical.Normal(name)
	return name[strings.LastIndexByte(name, ' ')+1:]
}

// isTechnical reports whether a name is written like a product or an identifier: inner capitals, digits.
func isTechnical(name string) bool {
	lower := false
	for _, r := range name {
		if unicode.IsDigit(r) || unicode.IsUpper(r) && lower {
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}

// spanType types a code span or path.
func spanType(s string) ruleType {
	if i := strings.LastIndexByte(s, '.'); i > 0 {
		if t, ok := fileTypes[strings.ToLower(s[i+1:])]; ok {
			return t
		}
	}
	return typeArtifact
}

// chineseType types a Chinese name that was spotted by its ending.
func chineseType(name string) ruleType {
	if lexical.IsPlace(name) {
		return typeLocation
	}
	if t, ok := chineseEnding(name); ok {
		return t
	}
	r, n := utf8.DecodeLastRuneInString(name)
	if t, ok := chineseEndings[name[len(name)-n:]]; ok {
		return t
	}
	if strings.ContainsRune("河江湖海山洲川岳", r) {
		return typeNaturalObject
	}
	return typeLocation
}

// chineseEnding returns the type that an ending of two or more characters gives, the longest first.
func chineseEnding(name string) (ruleType, bool) {
	for i := range name {
		if i == 0 || utf8.RuneCountInString(name[i:]) < 2 {
			continue
		}
		if t, ok := chineseEndings[name[i:]]; ok {
			return t, true
		}
	}
	return 0, false
}
