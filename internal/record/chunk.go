package record

import (
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// Chunk is a stored piece of a document. Content is exactly text[Start:End] of the stored document.
type Chunk struct {
	Doc        string `json:"doc"`
	Order      int    `json:"order"`
	Start      int    `json:"start"` // byte span in the stored text
	End        int    `json:"end"`
	Tokens     int    `json:"tokens,omitempty"`      // tokens of Content
	LineTokens int    `json:"line_tokens,omitempty"` // tokens of its context line without Context, see CountLine
	Path       string `json:"path,omitempty"`        // of its document
	Content    string `json:"content"`
	// Context is what a reader of Content alone misses: the headings above it. It is handed to extractor and embedder
	// before Content, shown to the answer model beside it, and is no part of the text.
	Context string `json:"context,omitempty"`
	// ContextTokens is what Context adds to LineTokens. It is 0 without Context, and in chunks that were stored before
	// Context was shown to models: of those the line's tokens are not known.
	ContextTokens int `json:"context_tokens,omitempty"`
	// Extractor is the id of what extracted its records.
	Extractor string `json:"extractor,omitempty"`
	// Truncated: the extractor's reply was cut off, so records may be missing. Unusable: it was of no use. Such
	// a chunk is asked again when its document is processed again.
	Truncated bool `json:"truncated,omitempty"`
	Unusable  bool `json:"unusable,omitempty"`
	// Dropped counts records of the reply that were not used, by reason.
	Dropped []Count `json:"dropped,omitempty"`
	// Repaired counts damage of the reply that was made good, by kind.
	Repaired []Count `json:"repaired,omitempty"`
	// Warnings are the extractor's remarks.
	Warnings []string `json:"warnings,omitempty"`
}

// ID is the chunk's id.
func (c *Chunk) ID() string { return ChunkID(c.Doc, c.Order) }

// CountLine counts the tokens of the chunk's context line; count counts those of a text.
func (c *Chunk) CountLine(count func(string) int) {
	c.LineTokens, c.ContextTokens = count(ChunkLine(ReferencePlaceholder, "", c.Content)), 0
	if c.Context != "" {
		c.ContextTokens = max(1, count(ChunkLine(ReferencePlaceholder, c.Context, c.Content))-c.LineTokens)
	}
}

// Line is the tokens of the chunk's context line; 0 when they are not stored.
func (c *Chunk) Line() int {
	if c.LineTokens == 0 || c.Context != "" && c.ContextTokens == 0 {
		return 0
	}
	return c.LineTokens + c.ContextTokens
}

// InContext is Content with what goes before it; extractor and embedder read that.
func (c *Chunk) InContext() string { return InContext(c.Context, c.Content) }

// InContext puts a chunk's context before it.
func InContext(context, content string) string {
	if context == "" {
		return content
	}
	return context + "\n\n" + content
}

// ChunkPrefix covers all chunks of a document, in order.
func ChunkPrefix(ws, doc string) []byte {
	return codec.AppendKeyString(space.In(ws, space.Chunk), doc)
}

// ChunkKey is the key of one chunk.
func ChunkKey(ws, doc string, order int) []byte {
	return codec.AppendKeyUint32(ChunkPrefix(ws, doc), uint32(order))
}

// ParseChunkKey reads what follows space.Chunk in a key.
func ParseChunkKey(rest []byte) (doc string, order int, err error) {
	doc, rest, err = codec.KeyString(rest)
	if err != nil {
		return "", 0, err
	}
	n, rest, err := codec.KeyUint32(rest)
	if err == nil && len(rest) > 0 {
		err = codec.ErrCorrupt
	}
	return doc, int(n), err
}

// Encode returns the stored form (Doc and Order are in the key). Store it with Batch.SetText.
func (c *Chunk) Encode() []byte {
	b := make([]byte, 0, len(c.Content)+len(c.Path)+32)
	b = codec.AppendInt(b, c.Start)
	b = codec.AppendInt(b, c.End)
	b = codec.AppendInt(b, c.Tokens)
	b = codec.AppendInt(b, c.LineTokens)
	b = codec.AppendString(b, c.Path)
	b = codec.AppendString(b, c.Extractor)
	b = codec.AppendBool(b, c.Truncated)
	b = codec.AppendBool(b, c.Unusable)
	b = appendCounts(b, c.Dropped)
	b = appendCounts(b, c.Repaired)
	b = codec.AppendStrings(b, c.Warnings)
	b = codec.AppendString(b, c.Content)
	b = codec.AppendString(b, c.Context)
	if c.ContextTokens > 0 { // which earlier builds did not count
		b = codec.AppendInt(b, c.ContextTokens)
	}
	return b
}

// DecodeChunk reads what Encode wrote.
func DecodeChunk(doc string, order int, v []byte) (Chunk, error) {
	r := codec.NewTextReader(v)
	c := Chunk{Doc: doc, Order: order}
	c.Start, c.End, c.Tokens, c.LineTokens = r.Int(), r.Int(), r.Int(), r.Int()
	c.Path, c.Extractor = r.String(), r.String()
	c.Truncated, c.Unusable = r.Bool(), r.Bool()
	c.Dropped, c.Repaired = readCounts(r), readCounts(r)
	c.Warnings = r.Strings()
	c.Content, c.Context = r.String(), r.String()
	if r.Err() == nil && r.Len() > 0 {
		if c.ContextTokens = r.Int(); c.ContextTokens == 0 {
			r.Fail("context tokens")
		}
	}
	return c, r.Done()
}
