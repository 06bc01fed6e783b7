package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
)

// nameHelp is what all commands take for a name, for people.
const nameHelp = "Names may be aliases. Quotes around them, blanks, width and letter case need not be as stored, unless case tells two entities apart."

// node finds the entity that a name means, and tells when it is called otherwise. Without one the error tells which names come near.
func (a *app) node(tx *db.Tx, g *db.Graph, name string) (graph.Node, error) {
	e, err := tx.Entity(name, index.InfoOptions{})
	if none, missing := errors.AsType[*index.NoObjectError](err); missing && !none.Deleted {
		return graph.Node{}, noEntity(g, name)
	}
	if err != nil {
		return graph.Node{}, editFailure(err)
	}
	a.meant(name, e.Name)
	return g.Node(e.Name)
}

// meant tells whom a name was taken for, where it is another name or another letter case.
func (a *app) meant(given, name string) {
	if given != name && index.NormalizeName(given) != name {
		a.err.printf("note: %s is %s\n", brief.Quote(given), name)
	}
}

func noEntity(g *db.Graph, name string) error {
	near, err := namesNear(g, cmp.Or(index.NormalizeName(name), name))
	if err != nil {
		return fmt.Errorf("names near %s: %w", brief.Quote(name), err)
	}
	hint := "`glim graph search TEXT` finds names by a part of them"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return notFound(hint, "no entity %s", brief.Quote(name))
}

// nearNames is how many names are offered instead of one that does not exist.
const nearNames = 5

// namesNear returns up to nearNames names: first those that contain text, then those that are written much like
// it. It reads all names.
func namesNear(g *db.Graph, text string) ([]string, error) {
	found, err := g.SearchLabels(text, nearNames)
	if err != nil {
		return nil, err
	}
	var near []string
	for _, m := range found {
		near = append(near, m.Name)
	}
	if len(near) == nearNames {
		return near, nil
	}
	names, err := g.Labels()
	if err != nil {
		return nil, err
	}
	for _, name := range similar(text, names) {
		if len(near) < nearNames && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	return near, nil
}

// minLikeness keeps names that share more letter pairs with the text than they do not.
const minLikeness = 0.5

// similar returns the names that are written much like text, the most alike first, then in byte order.
func similar(text string, names []string) []string {
	type scored struct {
		name  string
		score float64
	}
	want := pairs(text)
	var like []scored
	for _, name := range names {
		if s := likeness(want, pairs(name)); s >= minLikeness {
			like = append(like, scored{name, s})
		}
	}
	slices.SortFunc(like, func(x, y scored) int { return cmp.Or(cmp.Compare(y.score, x.score), strings.Compare(x.name, y.name)) })
	out := make([]string, len(like))
	for i, s := range like {
		out[i] = s.name
	}
	return out
}

// pairs counts the pairs of neighbouring characters of a name's fold, blanks around each word included, so
// that the order of words matters little.
func pairs(name string) map[[2]rune]int {
	count := make(map[[2]rune]int)
	for word := range strings.FieldsSeq(graph.Fold(name)) {
		prev := ' '
		for _, r := range word + " " {
			count[[2]rune{prev, r}]++
			prev = r
		}
	}
	return count
}

// likeness is Dice's coefficient of two bags of pairs, 0 to 1.
func likeness(a, b map[[2]rune]int) float64 {
	common, all := 0, 0
	for p, n := range a {
		common += min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}
