package index

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// Errors that callers test with errors.Is. ErrNotFound and ErrTooLarge are package kv's.
var (
	// ErrDocument is in the chain of every *DocumentError.
	ErrDocument = errors.New("index: document refused")
	// ErrEmptyDocument: a text without content.
	ErrEmptyDocument = errors.New("index: empty document")
	// ErrDuplicate: the id is taken, in the store or earlier in the same call.
	ErrDuplicate = errors.New("index: duplicate document")
	// ErrEmbedding: an embedder answered with something that cannot be stored.
	ErrEmbedding = llm.ErrVectors
	// ErrQueueFull is in the chain of every *QueueFullError.
	ErrQueueFull = errors.New("index: queue is full")
	// ErrConfig: the pipeline's configuration, or an option, cannot be used.
	ErrConfig = errors.New("index: bad configuration")

	// errSuperseded: the version being processed was replaced or deleted meanwhile.
	errSuperseded = errors.New("index: document changed while it was processed")
)

// OptionError tells which option is out of range. ErrConfig is in its chain.
type OptionError struct {
	Field string // of Options, ModelOptions, SummaryOptions or ProcessOptions; "Policy", "Filter.Status"
	Value any
	Want  string // what would be accepted
	Err   error  // the cause below, if there is one
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%v: %s is %v, want %s", ErrConfig, e.Field, e.Value, e.Want)
}

// Unwrap returns ErrConfig and the cause.
func (e *OptionError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrConfig}
	}
	return []error{ErrConfig, e.Err}
}

// DocumentError says why one document of an Enqueue call was refused. The call wrote nothing.
type DocumentError struct {
	Index int    // place in the call
	ID    string // as given; may be empty
	Field string // "id", "text", "path", "metadata", "time", "chunking", "chunks", ..., "track"
	Err   error
}

func (e *DocumentError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("index: document %d: %s: %v", e.Index, e.Field, e.Err)
	}
	return fmt.Sprintf("index: document %d (%s): %s: %v", e.Index, brief.Quote(e.ID), e.Field, e.Err)
}

// Unwrap returns ErrDocument and the cause.
func (e *DocumentError) Unwrap() []error { return []error{ErrDocument, e.Err} }

// DuplicateError is the cause of a DocumentError about an id that is taken.
type DuplicateError struct {
	ID string
	// Status of the stored document; empty when the id was given twice in one call.
	Status string
}

func (e *DuplicateError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("id %s is given twice in one call", brief.Quote(e.ID))
	}
	return fmt.Sprintf("id %s is already stored with another text (%s); put replaces it", brief.Quote(e.ID), e.Status)
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// QueueFullError says that the documents of an Enqueue call are more than may wait (Options.MaxPending). Nothing was
// written.
type QueueFullError struct {
	Waiting int // documents in the queue, counted up to Limit
	Adding  int // documents of the call that would join them
	Limit   int
}

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%v: %d documents wait, %d more are above the limit of %d", ErrQueueFull, e.Waiting, e.Adding, e.Limit)
}

// Unwrap returns ErrQueueFull.
func (e *QueueFullError) Unwrap() error { return ErrQueueFull }

// NotFoundError lists documents that do not exist.
type NotFoundError struct{ IDs []string }

func (e *NotFoundError) Error() string {
	if len(e.IDs) == 1 {
		return "index: no document " + brief.Quote(e.IDs[0])
	}
	return fmt.Sprintf("index: %d documents do not exist, the first is %s", len(e.IDs), brief.Quote(e.IDs[0]))
}

// Unwrap returns kv.ErrNotFound.
func (e *NotFoundError) Unwrap() error { return kv.ErrNotFound }

// ChunkerError says that a document waits for a chunker of the caller's that is not there. Opening the database
// with it and retrying the document helps, and so does putting the document again. ErrConfig is in its chain.
type ChunkerError struct {
	ID    string // of Options.Chunker when the document was enqueued
	Given string // ID of Options.Chunker now; "none" without one
}

func (e *ChunkerError) Error() string {
	return fmt.Sprintf("%v: the document was enqueued for the chunker %s, and Options.Chunker is %s", ErrConfig, brief.Quote(e.ID), brief.Quote(e.Given))
}

// Unwrap returns ErrConfig.
func (e *ChunkerError) Unwrap() error { return ErrConfig }

// ChunkError says which chunk could not be extracted. Replies of the other chunks are kept by the reply
// cache.
type ChunkError struct {
	Number, Of int // counted from 1
	ID         string
	Failed     int // chunks of the document that failed, this one included
	Err        error
}

func (e *ChunkError) Error() string {
	s := fmt.Sprintf("chunk %d of %d (%s): %s", e.Number, e.Of, e.ID, cause(e.Err))
	if e.Failed > 1 {
		s += fmt.Sprintf(" (and %d more chunks failed)", e.Failed-1)
	}
	return s
}

// Unwrap returns the cause.
func (e *ChunkError) Unwrap() error { return e.Err }

// cause never is empty, nor ends in nothing, whatever a model client returned.
func cause(err error) string {
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	if inner.Error() != "" {
		return err.Error()
	}
	return fmt.Sprintf("%serror of type %T without a message", err.Error(), inner)
}

// CallError is what a summarizer or an embedder failed with while a document was processed.
type CallError struct {
	Op  string // what was asked of it
	Err error
}

func (e *CallError) Error() string { return e.Op + ": " + cause(e.Err) }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// EmbeddingError says what is wrong with an embedder's answer.
type EmbeddingError struct {
	Model  string
	Index  int // place of the vector in the call, -1 when the number of vectors is wrong
	Reason string
}

func (e *EmbeddingError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%v: model %s: %s", ErrEmbedding, e.Model, e.Reason)
	}
	return fmt.Sprintf("%v: model %s: vector %d: %s", ErrEmbedding, e.Model, e.Index, e.Reason)
}

// Unwrap returns ErrEmbedding.
func (e *EmbeddingError) Unwrap() error { return ErrEmbedding }

// ModelError says that the store was made with another embedding model. Nothing was written.
type ModelError struct {
	StoredModel, GivenModel string
	StoredDim, GivenDim     int
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("index: the store's vectors are of model %s (%d dimensions), the configured one is %s (%d)",
		e.StoredModel, e.StoredDim, e.GivenModel, e.GivenDim)
}

// TooLargeError says that the documents of one commit do not fit one.
type TooLargeError struct {
	IDs   []string
	Bytes int // of text
	Needs int // the least a commit would hold; 0: not known, the commit was begun and grew too large
	Limit int // of a commit: Options.CommitBytes, or kv.MaxBatchBytes
}

func (e *TooLargeError) Error() string {
	what, advice := brief.Quote(e.IDs[0]), "divide the text"
	if n := len(e.IDs); n > 1 {
		what, advice = fmt.Sprintf("%d documents, the first %s", n, what), "take fewer at once"
	}
	needs := "more"
	if e.Needs > 0 {
		needs = fmt.Sprintf("%d bytes or more, which is more", e.Needs)
	}
	return fmt.Sprintf("index: %s: %d bytes of text need %s than one commit holds, %d bytes; %s", what, e.Bytes, needs, e.Limit, advice)
}

// Unwrap returns kv.ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return kv.ErrTooLarge }
