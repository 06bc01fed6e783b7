package lexical

// Run is a stretch of a text between function words and signs: what a question asks about, a phrase.
type Run struct {
	// Words are the words as written, without possessive endings; one for unspaced text and code.
	Words []string
	// Content tells whether any of them is a word of substance, not of everyday prose.
	Content bool
	// Spaceless: the words are to be joined without a space.
	Spaceless bool
	// Start and End are the run's bytes in the text.
	Start, End int
}

// Runs returns the runs of a text in order: words that are not Stop and stand side by side, segments of
// unspaced scripts between function words, code.
func Runs(text string) []Run {
	r := Reading{Text: text, Tokens: Tokens(text)}
	var out []Run
	open := false // the last run may go on
	for i, t := range r.Tokens {
		switch t.Class {
		case Word, Number:
			w := r.Word(i)
			rank := WordRank(Normal(w))
			if rank == Stop || shapeOf(w).runes == 1 && t.Class == Word {
				open = false
				continue
			}
			end := t.End - len(possessiveEnd(w))
			w = spell(text[t.Start:end])
			if open && r.gap(i-1) {
				last := &out[len(out)-1]
				last.Words = append(last.Words, w)
				last.End = end
				last.Content = last.Content || rank == Content
			} else {
				out = append(out, Run{Words: []string{w}, Content: rank == Content, Start: t.Start, End: end})
			}
			open = end == t.End
		case Code:
			out = append(out, Run{Words: []string{r.Word(i)}, Content: true, Start: t.Start, End: t.End})
			open = false
		case Unspaced:
			m := miner{Reading: &r}
			m.cut(i)
			for _, s := range m.segments {
				from, to := s.offsets[0], s.offsets[len(s.runes)]
				out = append(out, Run{Words: []string{text[from:to]}, Content: true, Spaceless: true, Start: from, End: to})
			}
			open = false
		case Tag, Sign:
			open = false
		}
	}
	return out
}
