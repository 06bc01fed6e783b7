package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
)

// The default limits of Rules. A chunk of 1,200 tokens names a few dozen things; a table or an index names
// hundreds, which would bury the rest.
const (
	DefaultRulesEntities  = 40
	DefaultRulesRelations = 100
)

// rulesVersion is part of the extractor's ID: every change of its rules or of the word lists behind them
// that changes records raises it.
const rulesVersion = 5

// Reasons of ExtractReport.Dropped that Rules use.
const (
	droppedEntityLimit   = "entity_limit"
	droppedRelationLimit = "relation_limit"
)

// RulesOptions configure Rules. The zero value is the default.
type RulesOptions struct {
	// MaxEntities and MaxRelations bound the records of one chunk; the most significant are kept and the others
	// counted in the report. 0 means the default, negative is an error.
	MaxEntities, MaxRelations int
}

// Rules is an Extractor that needs no model. Names are spotted by capitals, repetition and the endings of
// Chinese names, types guessed from cue words, descriptions are sentences of the text, and two entities are
// related when a sentence names both: the weight counts how often and how near, the keywords are the words
// between them. What it finds in a chunk depends on that chunk alone. It is safe for concurrent use.
type Rules struct {
	maxEntities, maxRelations int
}

// NewRules returns the extractor, or an error when an option is out of range.
func NewRules(o RulesOptions) (*Rules, error) {
	if o.MaxEntities < 0 || o.MaxRelations < 0 {
		return nil, fmt.Errorf("%w: limits of rules %d and %d must not be negative", ErrConfig, o.MaxEntities, o.MaxRelations)
	}
	return &Rules{maxEntities: cmp.Or(o.MaxEntities, DefaultRulesEntities), maxRelations: cmp.Or(o.MaxRelations, DefaultRulesRelations)}, nil
}

// ID names the method, its version and the limits.
func (r *Rules) ID() string {
	return fmt.Sprintf("rules/v%d/%d/%d", rulesVersion, r.maxEntities, r.maxRelations)
}

// Extract implements Extractor. It fails only with the error of ctx. Cost is linear in the length of the text,
// about 1 MB/s.
func (r *Rules) Extract(ctx context.Context, in ExtractInput) (Extraction, error) {
	if err := ctx.Err(); err != nil {
		return Extraction{}, err
	}
	text, _ := lineFeeds(in.Text)
	c := readChunk(text)
	out := Extraction{Report: ExtractReport{Dropped: make(map[string]int)}}
	if c.unnamed > 0 {
		out.Report.Dropped[DropName] = c.unnamed
	}
	if n := c.keepEntities(r.maxEntities); n > 0 {
		out.Report.Dropped[droppedEntityLimit] = n
	}
	for _, e := range c.entities {
		if e.kept {
			out.Entities = append(out.Entities, EntityRecord{Name: e.name, Type: e.guess(), Description: c.describe(e)})
		}
	}
	links := c.links()
	if n := len(links) - r.maxRelations; n > 0 {
		out.Report.Dropped[droppedRelationLimit] = n
		slices.SortStableFunc(links, func(a, b *link) int { return cmp.Compare(b.significance(), a.significance()) })
		links = links[:r.maxRelations]
		slices.SortFunc(links, func(a, b *link) int { return cmp.Compare(a.order, b.order) })
	}
	for _, l := range links {
		out.Relations = append(out.Relations, c.relation(l))
	}
	return out, nil
}

var _ Extractor = (*Rules)(nil)

// ruleEntity is what a chunk says about one name.
type ruleEntity struct {
	name     string
	mentions []int // indexes into Reading.Mentions
	origin   lexical.Origin
	title    string
	words    int
	votes    [len(ruleTypes)]float64
	score    float64
	kept     bool
}

// ruleChunk is a chunk that has been read.
type ruleChunk struct {
	*lexical.Reading
	entities []*ruleEntity // in order of first mention
	of       []*ruleEntity // per mention, nil where it has no usable name
	spans    [][2]int      // per sentence: its mentions as a half-open range
	plain    []string      // per sentence: its text without markup, made when first asked for
	aliases  []alias
	manual   bool // the text shows code: it is about programs
	unnamed  int
}

func readChunk(text string) *ruleChunk {
	c := &ruleChunk{Reading: lexical.Read(text)}
	c.of = make([]*ruleEntity, len(c.Mentions))
	c.spans = make([][2]int, len(c.Sentences))
	c.plain = make([]string, len(c.Sentences))
	byKey := make(map[string]*ruleEntity)
	for i, m := range c.Mentions {
		name := NormalizeName(m.Name)
		if name == "" {
			c.unnamed++
			continue
		}
		key := lexical.Normal(name)
		e := byKey[key]
		if e == nil {
			e = &ruleEntity{name: name, origin: m.Origin, words: wordsOf(m)}
			byKey[key] = e
			c.entities = append(c.entities, e)
		}
		e.mentions = append(e.mentions, i)
		if e.title == "" {
			e.title = m.Title
		}
		c.of[i] = e
	}
	at := 0
	for s := range c.Sentences {
		from := at
		for at < len(c.Mentions) && c.Mentions[at].Sentence == s {
			at++
		}
		c.spans[s] = [2]int{from, at}
	}
	spans := 0
	for _, m := range c.Mentions {
		if m.Origin == lexical.Span {
			spans++
		}
	}
	c.manual = spans >= manualSpans
	for _, e := range c.entities {
		c.vote(e)
	}
	c.votePersonal()
	c.findGlosses()
	c.joinShortNames()
	return c
}

// manualSpans is how many mentions set as code make a chunk a manual.
const manualSpans = 3

// alias is a pair of entities that are two names of one thing, and the mention that tells.
type alias struct {
	full, short *ruleEntity
	mention     int
}

func wordsOf(m lexical.Mention) int { return m.Last - m.First + 1 }

// shortPerFull is how many mentions by the short name one by the full name may carry along. A passage that
// introduces somebody and goes on with the surname is about one person; a book that says Scrooge a hundred
// times and Ebenezer Scrooge once keeps both names, linked, so that chunks agree on the usual one.
const shortPerFull = 8

// joinShortNames merges a person's short name into the full one that came first, where only one fits, and
// remembers the pairs that stay apart.
func (c *ruleChunk) joinShortNames() {
	full := make(map[string]*ruleEntity)
	ambiguous := make(map[string]bool)
	for _, e := range c.entities {
		if !e.isPersonal() {
			continue
		}
		parts := e.parts()
		if len(parts) < 2 || len(parts) > 3 || strings.HasSuffix(parts[0], ".") || isAddress(parts[0]) {
			continue // Mrs. Holt is not the person that Holt is
		}
		for _, part := range []string{parts[0], parts[len(parts)-1]} {
			if other := full[part]; other != nil && other != e {
				ambiguous[part] = true
			}
			full[part] = e
		}
	}
	var kept []*ruleEntity
	for _, e := range c.entities {
		f := full[e.name]
		if f == nil || ambiguous[e.name] || len(e.parts()) != 1 {
			kept = append(kept, e)
			continue
		}
		if e.mentions[0] < f.mentions[0] || len(e.mentions) > shortPerFull*len(f.mentions) {
			kept = append(kept, e)
			c.aliases = append(c.aliases, alias{f, e, f.mentions[0]})
			continue
		}
		for _, m := range e.mentions {
			c.of[m] = f
		}
		f.mentions = append(f.mentions, e.mentions...)
		slices.Sort(f.mentions)
		for i, v := range e.votes {
			f.votes[i] += v
		}
	}
	c.entities = kept
}

// parts returns the parts of a name that may be a person's: its words, or what dots join in a foreign name in
// Chinese; nil for other names.
func (e *ruleEntity) parts() []string {
	switch e.origin {
	case lexical.Proper:
		return namePartsOf(e.name)
	case lexical.Persona:
		return strings.FieldsFunc(e.name, func(r rune) bool { return r == '·' || r == '・' || r == '•' })
	}
	return nil
}

// findGlosses finds names that brackets explain by another: "Lin Wei (林薇)", "World Health Organization (WHO)".
// The second is of the first one's type.
func (c *ruleChunk) findGlosses() {
	for i := 1; i < len(c.Mentions); i++ {
		a, b := c.Mentions[i-1], c.Mentions[i]
		full, short := c.of[i-1], c.of[i]
		if full == nil || short == nil || full == short || a.Sentence != b.Sentence {
			continue
		}
		between, after := strings.TrimSpace(c.Text[a.End:b.Start]), c.Text[b.End:]
		if between != "(" && between != "（" || !strings.HasPrefix(after, ")") && !strings.HasPrefix(after, "）") {
			continue
		}
		if isLatin(full.name) == isLatin(short.name) && !isInitials(short.name, full.name) {
			continue
		}
		c.aliases = append(c.aliases, alias{full, short, i - 1})
		if isLatin(full.name) {
			short.votes = full.votes
		}
	}
}

func isLatin(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Latin, r)
}

// isInitials reports whether short is made of the first letters of the words of full, connectors aside.
func isInitials(short, full string) bool {
	var all, capital strings.Builder
	for w := range strings.FieldsSeq(full) {
		r, _ := utf8.DecodeRuneInString(w)
		all.WriteRune(unicode.ToUpper(r))
		if unicode.IsUpper(r) {
			capital.WriteRune(r)
		}
	}
	return len(short) > 1 && (short == all.String() || short == capital.String())
}

// keepEntities marks the most significant entities as kept and returns how many are not.
func (c *ruleChunk) keepEntities(limit int) int {
	for _, e := range c.entities {
		c.rate(e)
	}
	ranked := slices.Clone(c.entities)
	slices.SortStableFunc(ranked, func(a, b *ruleEntity) int { return cmp.Compare(b.score, a.score) })
	for _, e := range ranked[:min(limit, len(ranked))] {
		e.kept = true
	}
	return max(0, len(ranked)-limit)
}
