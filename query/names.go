package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/internal/record"
)

// Bounds of the look-up of names in a question: at most maxNamesRead times the larger of the others keys.
const (
	// maxNamesRead bounds, in bytes, the part of a question that is searched for names.
	maxNamesRead = 2 << 10
	// maxNamePieces is the longest name looked for in words and signs, maxNameRunes in characters of scripts
	// without spaces.
	maxNamePieces = 8
	maxNameRunes  = 16
	// maxEndings is the number of characters of a Korean word that may be its endings instead of the name's.
	maxEndings = 4
)

// spelling is a stretch of a question that may be the name of an entity.
type spelling struct {
	start, end int
	pieces     int  // words, signs and characters of unspaced scripts in it
	function   bool // it has function words only
}

// piece is the smallest part of a name: a word, a sign, a character of an unspaced script.
type piece struct {
	start    int
	ends     []int // where a name may end in it, the whole piece first
	unspaced bool
	function bool
}

// spellings returns every stretch of the question that is looked up.
func spellings(question string) []spelling {
	text := question[:min(len(question), maxNamesRead)]
	for len(text) < len(question) && !utf8.RuneStart(question[len(text)]) {
		text = text[:len(text)-1]
	}
	pieces := piecesOf(text)
	var out []spelling
	for i, first := range pieces {
		most := maxNamePieces
		if first.unspaced {
			most = maxNameRunes
		}
		function := true
		for k := i; k < len(pieces) && k < i+most; k++ {
			p := pieces[k]
			function = function && p.function
			if k == i && p.unspaced && (k+1 < len(pieces) && pieces[k+1].unspaced && pieces[k+1].start == p.ends[0] ||
				k > 0 && pieces[k-1].unspaced && pieces[k-1].ends[0] == p.start) {
				continue // one character inside a run is rarely a word
			}
			for _, end := range p.ends {
				out = append(out, spelling{first.start, end, k - i + 1, function})
			}
		}
	}
	return out
}

func piecesOf(text string) []piece {
	var out []piece
	for _, t := range lexical.Tokens(text) {
		s := text[t.Start:t.End]
		switch t.Class {
		case lexical.Unspaced:
			for i, r := range s {
				out = append(out, piece{start: t.Start + i, ends: []int{t.Start + i + utf8.RuneLen(r)}, unspaced: true})
			}
		case lexical.Sign:
			out = append(out, piece{start: t.Start, ends: []int{t.End}, function: true})
		default:
			out = append(out, piece{t.Start, endsOf(s, t.Start), false, lexical.WordRank(lexical.Normal(s)) == lexical.Stop})
		}
	}
	return out
}

// endsOf returns where a name may end in a word that starts at start: at its end, before a possessive, before
// the endings of a Korean word.
func endsOf(word string, start int) []int {
	ends := []int{start + len(word)}
	for _, s := range []string{"'s", "’s", "'S", "’S", "'", "’"} {
		if rest, ok := strings.CutSuffix(word, s); ok && rest != "" {
			return append(ends, start+len(rest))
		}
	}
	if r, n := utf8.DecodeRuneInString(word); unicode.Is(unicode.Hangul, r) {
		for end := len(word); len(ends) <= maxEndings; {
			_, last := utf8.DecodeLastRuneInString(word[:end])
			if end -= last; end <= n {
				break
			}
			ends = append(ends, start+end)
		}
	}
	return ends
}

// named is an entity whose name stands in the question.
type named struct {
	name string
	as   string // as the question has it
}

// namesIn returns the entities that the question names, those that the filter selects and, as if there were none, all.
func (r *reader) namesIn(question string) (found, all []named, lookups int, err error) {
	list := spellings(question)
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = question[s.start:s.end]
	}
	alike, err := r.graph.NamesAlike(r.snap, texts)
	if err != nil {
		return nil, nil, 0, err
	}
	aliases, err := r.aliases(texts)
	if err != nil {
		return nil, nil, 0, err
	}
	for i, s := range list {
		if s.function {
			alike[i] = slices.DeleteFunc(slices.Clone(alike[i]), func(name string) bool { return name != texts[i] || !capitals(name) })
		}
		for _, a := range aliases[texts[i]] {
			if !s.function || a.alias == texts[i] && capitals(a.alias) {
				alike[i] = append(slices.Clone(alike[i]), a.name)
			}
		}
	}
	all = longest(list, texts, alike)
	if r.sel == nil {
		return all, all, len(list), nil
	}
	for i := range alike {
		alike[i] = slices.DeleteFunc(slices.Clone(alike[i]), func(name string) bool { return !r.sel.hasEntity(name) })
	}
	return longest(list, texts, alike), all, len(list), nil
}

// longest chooses among the names that are alike the spellings of a question: of overlapping ones the longest, longest
// first, then in the order of the question. A name of function words only ("who") must be written as it is, in
// capitals (WHO).
func longest(list []spelling, texts []string, alike [][]string) (found []named) {
	order := make([]int, 0, len(list))
	for i := range list {
		if len(alike[i]) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := list[a], list[b]
		return cmp.Or(cmp.Compare(y.pieces, x.pieces), cmp.Compare(utf8.RuneCountInString(texts[b]), utf8.RuneCountInString(texts[a])), cmp.Compare(x.start, y.start))
	})
	var taken []spelling
	seen := make(map[string]bool)
	for _, i := range order {
		s := list[i]
		if slices.ContainsFunc(taken, func(t spelling) bool { return s.start < t.end && t.start < s.end }) {
			continue
		}
		taken = append(taken, s)
		names := slices.Clone(alike[i])
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(differs(a, texts[i]), differs(b, texts[i])) })
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				found = append(found, named{name, texts[i]})
			}
		}
	}
	return found
}

// alias is another name of an entity, given to it by hand.
type alias struct{ alias, name string }

// aliases returns the aliases that are alike texts (graph.Fold), by text. It costs one seek a text, and a look-up
// where there is none at all.
func (r *reader) aliases(texts []string) (map[string][]alias, error) {
	all := record.AliasesPrefix(r.workspace)
	c, err := r.snap.Cursor(all, codec.PrefixEnd(all))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if !c.First() {
		return nil, c.Err()
	}
	out := make(map[string][]alias)
	for _, text := range texts {
		fold := graph.Fold(text)
		prefix := record.AliasPrefix(r.workspace, fold)
		if out[text] != nil {
			continue
		}
		for ok := c.SeekGE(prefix); ok && bytes.HasPrefix(c.Key(), prefix) && len(out[text]) < graph.MaxAlike; ok = c.Next() {
			if a := string(c.Key()[len(prefix):]); graph.Fold(a) == fold {
				out[text] = append(out[text], alias{a, string(c.Value())})
			}
		}
	}
	return out, c.Err()
}

// differs is 0 for a name written as in the question, so that it comes before others that are alike.
func differs(name, as string) int {
	if name == as {
		return 0
	}
	return 1
}

// capitals reports whether a name is two capital letters or more and nothing else.
func capitals(name string) bool {
	return utf8.RuneCountInString(name) >= 2 && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsUpper(r) })
}

// byName is the path of exact names: the entities that the question names, and their relations by rank.
func (q *run) byName(ctx context.Context, r *reader, l *leg, t *timer) error {
	if r.graph == nil {
		return nil
	}
	found, all, lookups, err := r.namesIn(q.question)
	if err != nil {
		return err
	}
	t.count("look_ups", lookups)
	if l.hits = len(found); r.sel != nil {
		l.hitsBefore = len(all)
	}
	t.cut("named", l.hits, l.hitsBefore)
	if len(found) > q.opt.TopK {
		l.counted(ReasonNamesCut, len(found)-q.opt.TopK, "entities named in the question beyond top_k")
		found = found[:q.opt.TopK]
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	ents, err := q.entities(ctx, r, names, ViaName)
	if err != nil {
		return err
	}
	for i, e := range ents {
		if e == nil {
			continue // an alias of an entity that was deleted by hand
		}
		e.Named = found[i].as
		l.entities = append(l.entities, e)
	}
	t.count("entities", len(l.entities))
	t.note(strings.Join(names, ", "))
	if len(names) == 0 {
		return nil
	}
	if err := q.incident(ctx, r, names, ViaName, l); err != nil {
		return err
	}
	t.count("relations", len(l.relations))
	return nil
}
