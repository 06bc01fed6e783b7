package chunk

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// markdown fills chunks with neighbouring blocks of Markdown and cuts at the strongest heading in the second half
// of what fits. A heading stays with what follows it; tables and code stay whole where they fit, and a table that
// does not is cut between its rows. Other blocks that are too large are cut as recursive does.
type markdown struct {
	tok           llm.Tokenizer
	size, overlap int
	id            string
}

// atom is the least that a chunk is made of. It ends where the next one begins, save inside a block that was cut.
type atom struct {
	start, end, tokens int
	// strength of the border before it: 6 of a first heading to 1 of a sixth, 0 between blocks, -1 inside of one.
	strength int
	context  string // of a chunk that begins here
}

func (m *markdown) ID() string { return m.id }

func (m *markdown) Split(ctx context.Context, text string) ([]Span, error) {
	if !utf8.ValidString(text) {
		return nil, ErrUTF8
	}
	atoms, err := m.atoms(ctx, text)
	if err != nil {
		return nil, err
	}
	var out []Span
	for i := 0; i < len(atoms); {
		next := m.cut(atoms, i)
		var s Span
		for ; ; next-- { // joined parts can have a token more than both
			s.Start, s.End = trim(text, atoms[i].start, atoms[next-1].end)
			if s.Tokens = m.tok.Count(s.Text(text)); s.Tokens <= m.size || next == i+1 {
				break
			}
		}
		if s.Start < s.End {
			s.Context = atoms[i].context
			out = append(out, s)
		}
		i = next
	}
	return out, nil
}

// cut returns the atom before which a chunk that begins with atom i ends: the strongest border in the second half of
// what fits, the last of equal ones.
func (m *markdown) cut(atoms []atom, i int) int {
	best, half := i+1, false
	total := atoms[i].tokens
	for next := i + 1; next < len(atoms) && total <= m.size; next++ {
		if !half || atoms[next].strength >= atoms[best].strength {
			best = next
			half = total*2 >= m.size
		}
		total += atoms[next].tokens
	}
	if total <= m.size {
		return len(atoms)
	}
	return best
}

// outline is the headings above a place in the text.
type outline []heading

type heading struct {
	level int
	title string
}

// below leaves out the headings that a heading of this level ends.
func (o outline) below(level int) outline {
	for len(o) > 0 && o[len(o)-1].level >= level {
		o = o[:len(o)-1]
	}
	return o
}

// String is the breadcrumb. Where it is too long, the outermost headings are left out.
func (o outline) String() string {
	for {
		var titles []string
		for _, h := range o {
			if h.title != "" {
				titles = append(titles, h.title)
			}
		}
		if s := strings.Join(titles, " > "); len(s) <= MaxContext {
			return s
		}
		o = o[1:]
	}
}

// atoms divides a text.
func (m *markdown) atoms(ctx context.Context, text string) ([]atom, error) {
	var (
		out   []atom
		above outline
		err   error
	)
	blocks := scan(text)
	for i := 0; i < len(blocks); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := blocks[i]
		whole := atom{start: b.start, context: above.String()}
		if b.kind == headingBlock {
			above = above.below(b.level)
			whole.strength, whole.context = 7-b.level, above.String()
			above = append(above[:len(above):len(above)], heading{b.level, b.title})
			// A heading goes with the deeper ones after it, and with what these are about.
			for i+1 < len(blocks) && blocks[i+1].kind == headingBlock && blocks[i+1].level > b.level {
				i++
				b = blocks[i]
				above = append(above, heading{b.level, b.title})
			}
			if i+1 < len(blocks) && blocks[i+1].kind != headingBlock {
				i++
				b = blocks[i]
			}
		}
		whole.end = b.end
		if whole.tokens = m.tok.Count(text[whole.start:whole.end]); whole.tokens <= m.size {
			out = append(out, whole)
			continue
		}
		if out, err = m.divide(ctx, out, text, whole, b, above.String()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// divide appends the parts of a block that is too large. whole is the block with the headings before it.
func (m *markdown) divide(ctx context.Context, dst []atom, text string, whole atom, b block, inside string) ([]atom, error) {
	first := len(dst)
	size := m.size
	if head := m.tok.Count(text[whole.start:b.start]); head > 0 && head <= size/2 {
		size -= head // the first part takes the headings in
	} else if head > 0 {
		dst = append(dst, atom{start: whole.start, end: b.start, tokens: head, strength: whole.strength, context: whole.context})
		first++
		whole.start, whole.strength, whole.context = b.start, -1, inside
	}
	var err error
	if b.kind == tableBlock {
		dst, err = m.rows(ctx, dst, text, b, size, inside)
	} else {
		dst, err = m.parts(ctx, dst, text, b.start, b.end, size, m.overlap, inside)
	}
	if err != nil || len(dst) == first { // nothing but white space
		return dst, err
	}
	f := &dst[first]
	f.start, f.strength, f.context = whole.start, whole.strength, whole.context
	f.tokens = m.tok.Count(text[f.start:f.end])
	return dst, nil
}

// parts appends text[start:end], cut as recursive does.
func (m *markdown) parts(ctx context.Context, dst []atom, text string, start, end, size, overlap int, inside string) ([]atom, error) {
	r := &recursive{tok: m.tok, size: size, overlap: min(overlap, size-1), separators: DefaultSeparators()}
	spans, err := r.split(ctx, nil, text, start, end, r.separators)
	for _, s := range spans {
		dst = append(dst, atom{start: s.Start, end: s.End, tokens: s.Tokens, strength: -1, context: inside})
	}
	return dst, err
}

// tableHeader is the header row of a table as one line: without the dashes below it, or without tags.
func tableHeader(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<") {
		return strings.Join(strings.Fields(htmlTag.ReplaceAllString(s, " ")), " ")
	}
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// rows appends a table as groups of whole rows; its later parts know the header.
func (m *markdown) rows(ctx context.Context, dst []atom, text string, b block, size int, inside string) ([]atom, error) {
	later := strings.TrimSpace(inside + "\n" + tableHeader(text[b.start:b.rows[0]]))
	if len(later) > MaxContext {
		later = inside
	}
	group := atom{start: b.start, end: b.start, strength: -1, context: inside}
	var err error
	for i := range len(b.rows) + 1 {
		start, end := group.end, b.end
		if i < len(b.rows) {
			end = b.rows[i]
		}
		n := m.tok.Count(text[start:end])
		if group.tokens+n <= size {
			group.tokens += n
			group.end = end
			continue
		}
		if group.tokens > 0 {
			dst = append(dst, group)
			size = m.size
			group = atom{start: start, end: start, strength: -1, context: later}
		}
		if n <= size {
			group.tokens, group.end = n, end
			continue
		}
		if dst, err = m.parts(ctx, dst, text, start, end, size, 0, group.context); err != nil {
			return nil, err
		}
		size = m.size
		group = atom{start: end, end: end, strength: -1, context: later}
	}
	if group.tokens > 0 {
		dst = append(dst, group)
	}
	return dst, nil
}
