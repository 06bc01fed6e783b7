package index

import (
	"fmt"
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// find returns the name that the entity goes by that a given name means: see locate. One that was deleted by hand is
// none.
func (c *revision) find(name string) (string, error) {
	at, deleted, err := c.locate(name)
	if err == nil && deleted {
		err = &NoObjectError{Names: []string{name}, Deleted: true}
	}
	if err != nil {
		return "", err
	}
	return at, nil
}

// locate finds an entity by any of its names: by this very spelling, by that of NormalizeName, and when neither is
// there by the only one that is alike but for letter case and width. Those that were deleted by hand come last.
func (c *revision) locate(name string) (at string, deleted bool, err error) {
	defer func() {
		if err == nil && at != NormalizeName(name) && at != name {
			c.called[name] = at
		}
	}()
	for _, spelling := range spellings(name) {
		t, err := c.names.name(spelling)
		if err != nil {
			return "", false, err
		}
		if ok, err := c.exists(record.EntityObject(t)); err != nil || ok {
			return t, false, err
		}
		m, err := c.names.decided(record.EntityObject(spelling))
		if err != nil {
			return "", false, err
		}
		if m != nil && m.Deleted && !deleted {
			at, deleted = t, true
		}
	}
	if deleted {
		return at, true, nil
	}
	if at, err = c.alike(name); at != "" || err != nil {
		return at, false, err
	}
	if at, err = c.deletedAlike(name); at == "" && err == nil {
		err = &NoObjectError{Names: []string{name}}
	}
	return at, true, err
}

// spellings are a name as given and as stored.
func spellings(name string) []string {
	return slices.DeleteFunc(slices.Compact([]string{name, NormalizeName(name)}), func(s string) bool { return s == "" })
}

// folds are the folds of both spellings.
func folds(name string) []string {
	all := spellings(name)
	for i, s := range all {
		all[i] = graph.Fold(s)
	}
	return slices.Compact(all)
}

// alike returns the only entity with a name that has the fold of name; empty for none.
func (c *revision) alike(name string) (string, error) {
	g, err := c.p.openGraph(c.r)
	if g == nil {
		return "", err
	}
	lists, err := g.NamesAlike(c.r, spellings(name))
	if err != nil {
		return "", err
	}
	found := slices.Concat(lists...)
	aliases, err := c.aliasesAlike(name)
	if err != nil {
		return "", err
	}
	for _, of := range aliases {
		if ok, err := c.exists(record.EntityObject(of)); err != nil {
			return "", err
		} else if ok {
			found = append(found, of)
		}
	}
	return only(name, found)
}

// aliasesAlike returns the aliases that have the fold of name, each with the name it stands for.
func (c *revision) aliasesAlike(name string) (map[string]string, error) {
	out := make(map[string]string)
	for _, fold := range folds(name) {
		prefix := record.AliasPrefix(c.names.ws, fold)
		for kvp, err := range scan(c.r, prefix) {
			if err != nil {
				return nil, err
			}
			if alias := string(kvp.key[len(prefix):]); graph.Fold(alias) == fold { // not only its hash
				out[alias] = string(kvp.value)
			}
		}
	}
	return out, nil
}

// deletedAlike is alike for entities that were deleted by hand. It reads all decisions about entities.
func (c *revision) deletedAlike(name string) (string, error) {
	var found []string
	want := folds(name)
	prefix := record.ManualPrefix(c.names.ws, false)
	for kvp, err := range scan(c.r, prefix) {
		if err != nil {
			return "", err
		}
		o, err := record.ParseManualKey(kvp.key[len(prefix):], false)
		if err != nil {
			return "", fmt.Errorf("%w: decision: %w", kv.ErrCorrupt, err)
		}
		if !slices.Contains(want, graph.Fold(o.A)) {
			continue
		}
		m, err := c.names.decided(o)
		if err != nil {
			return "", err
		}
		if m != nil && m.Deleted {
			at, err := c.names.name(o.A)
			if err != nil {
				return "", err
			}
			found = append(found, at)
		}
	}
	return only(name, found)
}

// only returns the one name of a list, empty for none.
func only(given string, found []string) (string, error) {
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousError{Name: given, Candidates: found}
}

// findAlias returns an alias as it is stored, found as locate does, and the entity that goes by it.
func (c *revision) findAlias(name string) (alias, of string, err error) {
	for _, spelling := range spellings(name) {
		m, err := c.names.decided(record.EntityObject(spelling))
		if err != nil {
			return "", "", err
		}
		if m != nil && m.AliasOf != "" {
			c.called[name] = m.AliasOf
			return spelling, m.AliasOf, nil
		}
	}
	aliases, err := c.aliasesAlike(name)
	if err != nil {
		return "", "", err
	}
	var all []string
	for alias := range aliases {
		all = append(all, alias)
	}
	switch alias, err = only(name, all); {
	case err != nil:
		return "", "", err
	case alias == "":
		return "", "", fmt.Errorf("%w: it is no alias", kv.ErrNotFound)
	}
	c.called[name] = aliases[alias]
	return alias, aliases[alias], nil
}

// respelt is the name of one entity made of several: a new one, or another spelling of that of one of them.
func (c *revision) respelt(name, of string) (string, error) {
	if of != "" {
		own, err := c.names.names(of)
		if err != nil || slices.Contains(own, NormalizeName(name)) {
			return of, err // an alias: the entity keeps its name
		}
	}
	delete(c.called, name)
	return c.free(name)
}

// free returns the stored form of a new name, which nothing may go by.
func (c *revision) free(name string) (string, error) {
	stored := NormalizeName(name)
	if stored == "" {
		return "", ErrName
	}
	t, err := c.names.name(stored)
	if err != nil {
		return "", err
	}
	m, err := c.names.decided(record.EntityObject(stored))
	if err != nil {
		return "", err
	}
	switch found, err := c.exists(record.EntityObject(t)); {
	case err != nil:
		return "", err
	case m != nil && m.AliasOf != "":
		return "", taken("it is an alias of %q", t)
	case found:
		return "", taken("an entity has it")
	case m != nil && m.Deleted:
		return "", taken("an entity that was deleted by hand has it")
	}
	return stored, nil
}
