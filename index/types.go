package index

import (
	"context"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Updater is the commit path (wal.Log): it runs fn in the writer turn and commits what it staged.
type Updater interface {
	Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error)
	View() (*kv.Snapshot, error)
}

// Document is what a caller hands in.
type Document struct {
	// ID identifies the document; empty means "doc-" + MD5 of the cleaned text (the path is no part of
	// identity, so equal base names in different folders never collide).
	ID string
	// Text is the body, UTF-8.
	Text string
	// Path is where it came from, kept whole and shown in references; may be empty.
	Path string
	// Metadata is kept with the document, shown with it and selected by (Filter). Values are strings, booleans,
	// integers, finite floats and lists of strings; at most MaxMetadata entries of MaxMetadataBytes together. They come
	// back as string, bool, int64, float64 and []string.
	Metadata map[string]any
	// Time is the document's own time (for example a file's modification time), kept in UTC to the nanosecond; years
	// 1 to 9999, zero means none.
	Time time.Time
	// Priority moves the document before all waiting ones of lower priority and behind those of higher; among equals
	// the order of enqueue decides. -128 to 127. It changes when a document is processed, never what comes out.
	Priority int8
	// Chunking is how this document is cut; zero fields are those of Options. Nil: a text that is stored under the ID
	// already is cut as it is, also when its metadata or path are new; any other as Options say when it is enqueued.
	Chunking *chunk.Spec
	// Chunks are the chunks of a caller who has cut Text: spans of it as it stands here, in order (C1 to C3 of package
	// chunk, but that white space at their ends is cut off here); Tokens are not looked at. A chunk over the size is cut
	// into windows. Text that lies in none is stored and not indexed. Nil: Chunking.
	Chunks []chunk.Span
	// Track groups documents, those of one job for example, for Filter.Track; at most MaxTrackBytes. Empty: the track
	// of the Enqueue call.
	Track string
}

// Extractor finds entity and relation records in one chunk of text.
type Extractor interface {
	Extract(ctx context.Context, in ExtractInput) (Extraction, error)
	// ID names the method and everything that changes its output (model, prompt hash, options).
	ID() string
}

// ExtractInput is one chunk. ChunkID and Path are for messages: what is extracted must depend on Context and
// Text alone, since the records of a chunk are taken over when its document is replaced or moved.
type ExtractInput struct {
	ChunkID string
	Path    string
	// Context is chunk.Span's: headings above the text, not part of it. Empty unless the chunker tells.
	Context string
	Text    string
}

// InContext is the text with its context before it, as a model reads it best.
func (in ExtractInput) InContext() string { return record.InContext(in.Context, in.Text) }

// EntityRecord is one mention of an entity as extracted, names already normalised.
type EntityRecord struct {
	Name, Type, Description string
}

// RelationRecord is one mention of a relation; Src and Dst keep the direction of the text.
type RelationRecord struct {
	Src, Dst, Description string
	Keywords              []string
	// Weight is the strength of this mention; 1 unless the format carries one.
	Weight float64
}

// Extraction is what one chunk yielded, in order of the reply.
type Extraction struct {
	Entities  []EntityRecord
	Relations []RelationRecord
	Report    ExtractReport
}

// ExtractReport tells what happened on the way (P7).
type ExtractReport struct {
	// Dropped counts records that were not used, by reason ("self_loop", "field_count", ...).
	Dropped map[string]int
	// Repaired counts what was damaged and used all the same, by kind ("delimiter", "glued", ...).
	Repaired map[string]int
	// Truncated: the model's reply was cut off by its token limit.
	Truncated bool
	// Unusable: the model's reply was empty, stopped by a filter, or neither had records nor said that there
	// are none. Like a truncated one it is asked for again when the document is processed again.
	Unusable bool
	// Warnings are short sentences for a person.
	Warnings []string
	// Calls and CachedCalls count model calls made and answered from the cache.
	Calls, CachedCalls             int
	PromptTokens, CompletionTokens int
}

// Summarizer condenses description fragments of one entity or relation.
type Summarizer interface {
	// Summarize returns one text for the fragments, which are in order. kind is "entity" or "relation".
	Summarize(ctx context.Context, kind, name string, fragments []string) (string, error)
	ID() string
}
