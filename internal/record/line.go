package record

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// EntityLine is the line that shows an entity to a model: one compact JSON object, keys in this order,
// characters outside ASCII literal. Its tokens are what Entity.Tokens counts.
func EntityLine(name, typ, description string) string {
	return string(AppendEntityLine(nil, name, typ, description))
}

// AppendEntityLine appends EntityLine to b.
func AppendEntityLine(b []byte, name, typ, description string) []byte {
	b = slices.Grow(b, len(name)+len(typ)+len(description)+48)
	b = append(b, `{"entity":`...)
	b = AppendJSON(b, name)
	b = append(b, `,"type":`...)
	b = AppendJSON(b, typ)
	b = append(b, `,"description":`...)
	b = AppendJSON(b, description)
	return append(b, '}')
}

// RelationLine is the line that shows a relation to a model. Its tokens are what Relation.Tokens counts.
func RelationLine(src, dst, description string) string {
	return string(AppendRelationLine(nil, src, dst, description))
}

// AppendRelationLine appends RelationLine to b.
func AppendRelationLine(b []byte, src, dst, description string) []byte {
	b = slices.Grow(b, len(src)+len(dst)+len(description)+48)
	b = append(b, `{"entity1":`...)
	b = AppendJSON(b, src)
	b = append(b, `,"entity2":`...)
	b = AppendJSON(b, dst)
	b = append(b, `,"description":`...)
	b = AppendJSON(b, description)
	return append(b, '}')
}

// ChunkLine is the line that shows a chunk to a model, context being its Chunk.Context. Its tokens, with
// ReferencePlaceholder for the reference id, are what Chunk.CountLine counts.
func ChunkLine(reference, context, content string) string {
	return string(AppendChunkLine(nil, reference, context, content))
}

// AppendChunkLine appends ChunkLine to b.
func AppendChunkLine(b []byte, reference, context, content string) []byte {
	b = slices.Grow(b, len(reference)+len(context)+len(content)+56)
	b = append(b, `{"reference_id":`...)
	b = AppendJSON(b, reference)
	if context != "" {
		b = append(b, `,"headings":`...)
		b = AppendJSON(b, context)
	}
	b = append(b, `,"content":`...)
	b = AppendJSON(b, content)
	return append(b, '}')
}

// ReferencePlaceholder stands for the reference id while it is not known: as wide as ids are in practice.
const ReferencePlaceholder = "10"

const hexDigits = "0123456789abcdef"

// AppendJSON appends s as a JSON string. Unlike encoding/json it leaves everything literal that JSON
// allows to be: no HTML escaping, no \u for line separators. Bytes that are not UTF-8 become U+FFFD.
func AppendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// EntityText is what an entity's vector is made of.
func EntityText(e *Entity) string { return e.Name + "\n" + e.Description }

// RelationText is what a relation's vector is made of; Src <= Dst.
func RelationText(r *Relation) string {
	return strings.Join(r.Keywords, ",") + "\t" + r.Src + "\n" + r.Dst + "\n" + r.Description
}
