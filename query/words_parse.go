package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/analysis"
)

// words is what a search by words asks for.
type words struct {
	may        []string   // terms that raise the score
	all        []string   // terms that must be there, those of phrases among them
	phrases    [][]string // see analysis.Analyzer.Phrase
	beginnings []beginning
	ignored    []string
}

// beginning is a word with a star.
type beginning struct {
	word          string // as it was written
	prefix, whole string // see analysis.Analyzer.Beginning
	must          bool
}

// parseWords reads the language of Engine.SearchText. Errors are joined *FieldErrors.
func parseWords(text string, a *analysis.Analyzer) (*words, error) {
	var f fieldErrors
	if f.text("text", text, maxQuestionRunes); len(f) > 0 {
		return nil, f.err()
	}
	w := &words{ignored: []string{}}
	for rest := text; rest != ""; rest = strings.TrimLeftFunc(rest, unicode.IsSpace) {
		var must bool
		if after, ok := strings.CutPrefix(rest, "+"); ok && after != "" {
			next, _ := utf8.DecodeRuneInString(after)
			if must = !unicode.IsSpace(next); must {
				rest = after
			}
		}
		if after, ok := strings.CutPrefix(rest, `"`); ok {
			phrase, behind, closed := strings.Cut(after, `"`)
			if rest = behind; !closed {
				f.add("text", `"`+phrase, nil, `want a second " where the phrase ends`)
				break
			}
			if !w.phrase(phrase, a) {
				f.add("text", `"`+phrase+`"`, ErrNoWords, "want a phrase with a word that is no function word")
			}
			continue
		}
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		w.word(rest[:end], must, a)
		rest = rest[end:]
	}
	if len(f) == 0 && len(w.may)+len(w.all)+len(w.beginnings) == 0 {
		f.add("text", textLength(text), ErrNoWords, "want a word that is no function word")
	}
	return w, f.err()
}

// phrase adds a phrase, unless it has no terms.
func (w *words) phrase(text string, a *analysis.Analyzer) bool {
	terms := a.Terms(text)
	if len(terms) == 0 {
		return false
	}
	w.all = append(w.all, terms...)
	if p := a.Phrase(text); len(p) > 1 {
		w.phrases = append(w.phrases, p)
	}
	return true
}

func (w *words) word(text string, must bool, a *analysis.Analyzer) {
	if before, ok := strings.CutSuffix(text, "*"); ok {
		if prefix, whole, ok := a.Beginning(before); ok {
			w.beginnings = append(w.beginnings, beginning{text, prefix, whole, must})
			return
		}
	}
	switch terms := a.Terms(text); {
	case len(terms) == 0:
		w.ignored = append(w.ignored, text)
	case must:
		w.all = append(w.all, terms...)
	default:
		w.may = append(w.may, terms...)
	}
}
