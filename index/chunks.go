package index

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Chunk is a part of a document as it was cut, embedded and extracted from.
type Chunk struct {
	ID       string `json:"id"` // as entities, relations and query results name it
	Document string `json:"document"`
	Order    int    `json:"order"` // its place in the document, from 0
	// Start and End are its byte span in the document's text: Content is exactly that. Spans may overlap, and what lies
	// in none is not indexed.
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Content string `json:"content"`
	// Context is the headings above it, which are no part of Content. Empty unless the chunker tells.
	Context string `json:"context,omitempty"`
	Tokens  int    `json:"tokens"` // of Content
	// Extractor is the ID of what found its entities and relations.
	Extractor string `json:"extractor,omitempty"`
	// Truncated: the model's reply about it was cut off; Unusable: it was of no use.
	Truncated bool `json:"truncated,omitempty"`
	Unusable  bool `json:"unusable,omitempty"`
}

// Chunks iterates the chunks of a document's visible version in order, beginning with that of Order from; none
// beyond the last, and none of a document that waits for the first time. An unknown document is a *NotFoundError.
// It costs one get, one seek and what it yields.
func Chunks(r kv.Reader, ws, id string, from int) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if _, err := GetInfo(r, ws, id); err != nil {
			yield(Chunk{}, err)
			return
		}
		for c, err := range chunksFrom(r, ws, id, from) {
			if err != nil {
				yield(Chunk{}, fmt.Errorf("index: chunks: %w", err))
				return
			}
			if !yield(Chunk{ID: c.ID(), Document: c.Doc, Order: c.Order, Start: c.Start, End: c.End, Content: c.Content, Context: c.Context,
				Tokens: c.Tokens, Extractor: c.Extractor, Truncated: c.Truncated, Unusable: c.Unusable}, nil) {
				return
			}
		}
	}
}

func chunksFrom(r kv.Reader, ws, id string, from int) iter.Seq2[record.Chunk, error] {
	prefix := record.ChunkPrefix(ws, id)
	skip := len(space.In(ws, space.Chunk))
	return func(yield func(record.Chunk, error) bool) {
		if from > math.MaxUint32 {
			return
		}
		for kvp, err := range scanRange(r, record.ChunkKey(ws, id, max(0, from)), codec.PrefixEnd(prefix)) {
			var c record.Chunk
			if err == nil {
				c, err = decodeChunk(kvp, skip)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// chunkNamed returns the chunk of an id, which must be there.
func chunkNamed(r kv.Reader, ws, id string) (record.Chunk, error) {
	doc, order, ok := record.ParseChunkID(id)
	if !ok {
		return record.Chunk{}, fmt.Errorf("%w: %q is no chunk", kv.ErrCorrupt, id)
	}
	v, err := r.Get(record.ChunkKey(ws, doc, order))
	if errors.Is(err, kv.ErrNotFound) {
		err = fmt.Errorf("%w: chunk %q is not there", kv.ErrCorrupt, id)
	}
	if err != nil {
		return record.Chunk{}, err
	}
	c, err := record.DecodeChunk(doc, order, v)
	if err != nil {
		err = fmt.Errorf("%w: chunk %q: %w", kv.ErrCorrupt, id, err)
	}
	return c, err
}

func decodeChunk(kvp pair, skip int) (record.Chunk, error) {
	doc, order, err := record.ParseChunkKey(kvp.key[skip:])
	if err != nil {
		return record.Chunk{}, fmt.Errorf("%w: chunk key: %w", kv.ErrCorrupt, err)
	}
	c, err := record.DecodeChunk(doc, order, kvp.value)
	if err != nil {
		return c, fmt.Errorf("%w: chunk %s: %w", kv.ErrCorrupt, record.ChunkID(doc, order), err)
	}
	return c, nil
}
