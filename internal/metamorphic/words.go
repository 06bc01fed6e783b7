package metamorphic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// searchEntities searches entities by words and holds what is found against every entity read in turn and scored by the
// formula; a filter takes away the entities of other documents, and no score changes.
func (r *runner) searchEntities(ctx context.Context, op Op) error {
	if err := r.d.Settle(ctx); err != nil {
		return err
	}
	s := selection(op.Other)
	got, err := r.d.SearchEntities(ctx, op.Text, query.TextOptions{K: everything, Filter: s.filter()})
	if r.cfg.Options.Index.EntityWords != index.EntityWordsOn {
		if err == nil && len(got.Entities) == 0 && len(r.m.docs) == 0 { // there was none yet
			return nil
		}
		if !errors.Is(err, query.ErrNoEntityWords) {
			return fmt.Errorf("without postings of entities: %w", orMissing(err))
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !got.Complete || got.Waiting > 0 {
		return fmt.Errorf("found without all entities: %+v", got)
	}
	all, err := r.entities(ctx)
	if err != nil {
		return err
	}
	want := score(all, op.Text)
	if s != "" && r.cfg.Whole {
		spoken, _ := r.m.spokenBy(r.m.selected(s))
		maps.DeleteFunc(want, func(name string, _ float64) bool { return !spoken[name] })
	}
	for i, e := range got.Entities {
		if is, ok := want[e.Name]; !ok || math.Abs(e.Score-is) > 1e-9*is {
			return fmt.Errorf("%s %q: %q scores %v, want %v", op.Text, s, e.Name, e.Score, is)
		}
		if i > 0 && cmp.Or(cmp.Compare(got.Entities[i-1].Score, e.Score), cmp.Compare(e.Name, got.Entities[i-1].Name)) <= 0 {
			return fmt.Errorf("%s %q: %q out of order", op.Text, s, e.Name)
		}
	}
	if missing := len(want) - len(got.Entities); missing != 0 && (s == "" || r.cfg.Whole) {
		return fmt.Errorf("%s %q: %d entities are not found", op.Text, s, missing)
	}
	best, err := r.d.SearchEntities(ctx, op.Text, query.TextOptions{K: op.N, Filter: s.filter()})
	if err != nil {
		return err
	}
	if a, b := best.Entities, got.Entities[:min(op.N, len(got.Entities))]; !slices.EqualFunc(a, b, func(a, b query.TextEntity) bool { return a.Name == b.Name && a.Score == b.Score }) {
		return fmt.Errorf("%s %q: the best %d are %+v, want %+v", op.Text, s, op.N, a, b)
	}
	return nil
}

// entities reads the description of each entity, by name.
func (r *runner) entities(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := r.d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		names, err := g.Labels()
		for _, name := range names {
			out[name] = ""
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for name := range out {
		i, err := r.d.Entity(ctx, name, index.InfoOptions{})
		if err != nil {
			return nil, err
		}
		out[name] = i.Description
	}
	return out, nil
}

// asked is a search of entities, in the part of the language that operations draw from.
type asked struct {
	any, all, beginnings, phrase []string
}

func ask(text string) (a asked) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		quoted, text, _ = strings.Cut(quoted, `"`)
		a.phrase = spoken(quoted)
		a.any = content(a.phrase)
	}
	for w := range strings.FieldsSeq(text) {
		if must, ok := strings.CutPrefix(w, "+"); ok {
			a.all = append(a.all, content(spoken(must))...)
		} else if begin, ok := strings.CutSuffix(w, "*"); ok {
			a.beginnings = append(a.beginnings, begin)
		} else {
			a.any = append(a.any, content(spoken(w))...)
		}
	}
	return a
}

// spoken is a text as words in their stems; there are few different ones in texts of operations.
func spoken(text string) (words []string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9') }) {
		switch w {
		case "crosses":
			w = "cross"
		case "sep": // of fragments
			continue
		}
		words = append(words, w)
	}
	return words
}

// content is words without function words.
func content(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "the" || w == "by" })
}

// score is BM25 over names and descriptions, k1 1.2, b 0.75, a word of a name counting three times: entities that fit, by name.
func score(entities map[string]string, text string) map[string]float64 {
	a := ask(text)
	counts, length, holders := map[string]map[string]float64{}, 0.0, map[string]float64{}
	for name, description := range entities {
		c := map[string]float64{}
		for _, w := range content(spoken(name)) {
			c[w] += 3
		}
		for _, w := range content(spoken(description)) {
			c[w]++
		}
		for w, n := range c {
			holders[w]++
			length += n / float64(len(entities))
		}
		counts[name] = c
	}
	terms := slices.Concat(a.any, a.all)
	for w := range holders {
		if slices.ContainsFunc(a.beginnings, func(b string) bool { return strings.HasPrefix(w, b) }) {
			terms = append(terms, w)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	out := map[string]float64{}
	for name, c := range counts {
		if slices.ContainsFunc(a.all, func(w string) bool { return c[w] == 0 }) || !holds(spoken(name), a.phrase) && !holds(spoken(entities[name]), a.phrase) {
			continue
		}
		own, sum := 0.0, 0.0
		for _, n := range c {
			own += n
		}
		for _, w := range terms {
			rarity := math.Log(1 + (float64(len(entities))-holders[w]+0.5)/(holders[w]+0.5))
			sum += rarity * c[w] * 2.2 / (c[w] + 1.2*(0.25+0.75*own/length))
		}
		if sum > 0 {
			out[name] = sum
		}
	}
	return out
}

// holds reports whether a phrase stands in words.
func holds(words, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}
