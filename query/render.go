package query

import (
	"strings"

	"github.com/glimdb/db/internal/record"
)

// The frame of the context. Each block holds whole lines; a line of a JSON block begins with a brace, one
// of the reference block with a bracket, so no content can close its fence.
const (
	entityHead = "## Entities\n\nEntities of the knowledge graph, one JSON object a line.\n\n```json\n"
	relHead    = "\n## Relations\n\nRelations between two entities of the knowledge graph, one JSON object a line.\n\n```json\n"
	chunkHead  = "## Passages\n\nPassages of documents, one JSON object a line. reference_id is a number of the reference list below; it is empty where a passage has none. headings, where it is there, are those above the passage.\n\n```json\n"
	refHead    = "\n## Reference list\n\nDocuments by number.\n\n```\n"
	blockEnd   = "```\n"
)

// frame is the context without any line: what is paid for before anything is shown.
func frame(kg bool) string { return render(kg, nil, nil, nil, nil) }

// render lays out the context: for KG modes entities, relations, passages, references; else the last two.
// Blocks without lines stay, so that the model sees that there is nothing.
func render(kg bool, ents []Entity, rels []Relation, chunks []Chunk, refs []Reference) string {
	const perLine = 64 // keys, quotes and the few escapes of a line
	size := len(entityHead) + len(relHead) + len(chunkHead) + len(refHead) + 5*len(blockEnd)
	for i := range ents {
		size += len(ents[i].Name) + len(ents[i].Type) + len(ents[i].Description) + perLine
	}
	for i := range rels {
		size += len(rels[i].Src) + len(rels[i].Dst) + len(rels[i].Description) + perLine
	}
	for i := range chunks {
		size += len(chunks[i].Context) + len(chunks[i].Content) + len(chunks[i].Content)/16 + perLine // line breaks are escaped
	}
	var sb strings.Builder
	sb.Grow(size)
	var b []byte // of the present line
	line := func() {
		sb.Write(b)
		sb.WriteByte('\n')
	}
	if kg {
		sb.WriteString(entityHead)
		for i := range ents {
			b = record.AppendEntityLine(b[:0], ents[i].Name, ents[i].Type, ents[i].Description)
			line()
		}
		sb.WriteString(blockEnd + relHead)
		for i := range rels {
			b = record.AppendRelationLine(b[:0], rels[i].Src, rels[i].Dst, rels[i].Description)
			line()
		}
		sb.WriteString(blockEnd + "\n")
	}
	sb.WriteString(chunkHead)
	for i := range chunks {
		b = record.AppendChunkLine(b[:0], chunks[i].Reference, chunks[i].Context, chunks[i].Content)
		line()
	}
	sb.WriteString(blockEnd + refHead)
	for _, r := range refs {
		b = append(b[:0], referenceLine(r.ID, r.Path)...)
		line()
	}
	sb.WriteString(blockEnd)
	return sb.String()
}
