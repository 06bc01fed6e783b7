package index

import (
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
)

// maxRemembered bounds the decisions that Check keeps in memory.
const maxRemembered = 1 << 16

func (c *checker) forget() {
	if len(c.names.known) > maxRemembered {
		clear(c.names.known)
	}
}

// decisions checks what people decided: each alias and the entity it stands for know each other, both ways and in
// the index, no alias stands for another one, and there is a record of everything that is decided about.
func (c *checker) decisions() (err error) {
	if c.names, err = newResolver(c.r, c.ws); err != nil {
		return err
	}
	if c.names.plain != (c.names.dormant == 0) {
		if err := c.report("I10", "one of the two counters of edits is missing"); err != nil {
			return err
		}
	}
	aliases := 0
	for _, relations := range []bool{false, true} {
		prefix := record.ManualPrefix(c.ws, relations)
		for kvp, err := range scan(c.r, prefix) {
			if err != nil {
				return err
			}
			if err := c.ctx.Err(); err != nil {
				return err
			}
			o, err := record.ParseManualKey(kvp.key[len(prefix):], relations)
			if err != nil {
				return c.report("key", "decision: %v", err)
			}
			m, err := record.DecodeManual(kvp.value)
			if err != nil {
				return c.report("value", "decisions about %v: %v", o, err)
			}
			if m.AliasOf != "" {
				aliases++
			}
			if err := c.decision(o, &m); err != nil {
				return err
			}
		}
	}
	return c.aliases(aliases)
}

func (c *checker) decision(o record.Object, m *record.Manual) error {
	c.forget()
	switch {
	case c.names.plain:
		return c.report("I10", "%v was edited, but the counter of edits is missing", o)
	case m.Empty():
		return c.report("I10", "an empty decision about %v", o)
	case o.IsRelation() && (m.AliasOf != "" || len(m.Aliases) > 0 || m.Set.Type != nil),
		!o.IsRelation() && (m.Set.Keywords != nil || m.Set.Weight != nil),
		m.AliasOf != "" && len(m.Aliases) > 0:
		return c.report("I10", "decisions about %v that cannot be", o)
	}
	if m.AliasOf != "" {
		to, err := c.names.decided(record.EntityObject(m.AliasOf))
		if err != nil {
			return err
		}
		if to == nil || !slices.Contains(to.Aliases, o.A) {
			return c.report("I10", "alias %q stands for %q, which does not know it", o.A, m.AliasOf)
		}
	}
	for i, alias := range m.Aliases {
		of, err := c.names.decided(record.EntityObject(alias))
		if err != nil {
			return err
		}
		if of == nil || of.AliasOf != o.A || slices.Contains(m.Aliases[:i], alias) {
			return c.report("I10", "entity %q has the alias %q, which does not stand for it", o.A, alias)
		}
	}
	group, err := c.names.group(o)
	if err != nil {
		return err
	}
	if spoken, err := spokenOf(c.r, c.ws, group); err != nil || !spoken {
		if err != nil {
			return err
		}
		return c.report("I10", "decisions about %v, of which there is no record", o)
	}
	return nil
}

// aliases checks the index of aliases, which has as many entries as there are aliases.
func (c *checker) aliases(want int) error {
	prefix := record.AliasesPrefix(c.ws)
	for kvp, err := range scan(c.r, prefix) {
		if err != nil {
			return err
		}
		alias, err := record.ParseAliasKey(kvp.key[len(prefix):])
		if err != nil {
			return c.report("key", "alias: %v", err)
		}
		m, err := c.names.decided(record.EntityObject(alias))
		if err != nil {
			return err
		}
		right := record.AliasKey(c.ws, graph.Fold(alias), alias)
		if m == nil || m.AliasOf != string(kvp.value) || string(right) != string(kvp.key) {
			if err := c.report("I10", "index entry of alias %q does not fit it", alias); err != nil {
				return err
			}
		}
		want--
	}
	if want != 0 {
		return c.report("I10", "%d aliases are not in their index", want)
	}
	return nil
}
