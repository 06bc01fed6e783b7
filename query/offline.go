package query

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
)

const (
	// maxOfflineKeywords bounds each list.
	maxOfflineKeywords = 16
	// maxRunWords is the longest run of words that is one keyword; of longer ones each word is.
	maxRunWords = 3
	// maxQuestionRead bounds, in bytes, how much of a question is read: keywords of a longer one would be a text.
	maxQuestionRead = 8 << 10
)

// offlineKeyworder finds keywords by the way a question is written.
type offlineKeyworder struct{}

// NewOfflineKeyworder returns a Keyworder that works without a model. Low keywords are the names in the
// question, as the offline extractor spots them, and its words of substance, side by side as phrases; high
// keywords are what the question says or asks about them (its verbs and everyday nouns), then the low ones,
// because relations are found by the words of their sentences too. A question with a letter in it always has
// keywords: if all its words are function words, they are the keyword. It is safe for concurrent use.
func NewOfflineKeyworder() Keyworder { return &offlineKeyworder{} }

// ID implements Keyworder.
func (*offlineKeyworder) ID() string { return "offline/v1" }

// Keywords implements Keyworder. It fails only with the error of ctx.
func (*offlineKeyworder) Keywords(ctx context.Context, question string) (Keywords, error) {
	if err := ctx.Err(); err != nil {
		return Keywords{}, err
	}
	question = strings.ToValidUTF8(question[:min(len(question), maxQuestionRead)], "")
	var low, high keywordList
	rest := []byte(question) // without the names
	for _, m := range lexical.Read(question).Mentions {
		low.add(m.Name)
		for i := m.Start; i < m.End; i++ {
			rest[i] = '|'
		}
	}
	for _, run := range lexical.Runs(string(rest)) {
		if run.Spaceless && utf8.RuneCountInString(run.Words[0]) < 2 {
			continue
		}
		for _, word := range runKeywords(run) {
			if run.Content || run.Start > 0 && startsUpper(word) {
				low.add(word)
			}
			high.add(word)
		}
	}
	for _, word := range low.words {
		high.add(word)
	}
	if len(low.words) == 0 {
		for _, word := range high.words {
			low.add(word)
		}
	}
	if len(low.words) == 0 && strings.IndexFunc(question, unicode.IsLetter) >= 0 {
		whole := strings.TrimFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		low.add(whole)
		high.add(whole)
	}
	return Keywords{High: high.words, Low: low.words}, nil
}

// startsUpper reports whether a word is capitalised: inside a question a sign of a name.
func startsUpper(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// runKeywords returns a run as one keyword, or as its words when it is long or of everyday words only.
func runKeywords(run lexical.Run) []string {
	if run.Content && len(run.Words) <= maxRunWords {
		return []string{strings.Join(run.Words, " ")}
	}
	return run.Words
}

// keywordList collects keywords without repeats, in any case and inflection.
type keywordList struct {
	words []string
	seen  map[string]bool
}

func (l *keywordList) add(word string) {
	word = strings.Join(strings.Fields(word), " ")
	var key strings.Builder
	for w := range strings.FieldsSeq(word) {
		key.WriteString(lexical.Stem(lexical.Normal(w)))
		key.WriteByte(' ')
	}
	if word == "" || len(l.words) == maxOfflineKeywords || l.seen[key.String()] {
		return
	}
	if l.seen == nil {
		l.seen = make(map[string]bool)
	}
	l.seen[key.String()] = true
	l.words = append(l.words, word)
}
