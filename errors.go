package db

import (
	"errors"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// Errors of the whole module, tested with errors.Is. Each is defined where it arises and named here; typed
// errors with details are in the package of the call's other types. What only graphs can say (a missing
// node, a path that does not exist) is in package graph.

// Errors of the database as a whole.
var (
	// ErrClosed: the database or transaction was closed.
	ErrClosed = kv.ErrClosed
	// ErrReadOnly: opened read-only, or made so by a failed disk; after the latter, reopen.
	ErrReadOnly = kv.ErrReadOnly
	// ErrDiskFull accompanies ErrReadOnly when the file system had no space left.
	ErrDiskFull = kv.ErrDiskFull
	// ErrLocked: another process, or another DB of this one, owns the directory.
	ErrLocked = kv.ErrLocked
	// ErrCorrupt: bytes on disk that no writer produces.
	ErrCorrupt = kv.ErrCorrupt
	// ErrFormat: the directory, or the dump, was written by another program or in a format that this
	// version does not know.
	ErrFormat = kv.ErrFormat
	// ErrOption: an option is out of range; *OptionError names it.
	ErrOption = errors.New("db: invalid option")
	// ErrDropped: the workspace of the call was dropped while it ran.
	ErrDropped = errors.New("db: the workspace was dropped")
	// ErrBusy: Load was called beside a write or another Load, a write beside a Load, or Reembed beside another.
	ErrBusy = errors.New("db: busy")
)

// Errors of documents and models.
var (
	// ErrDocument: a document was refused, and with it its call; *index.DocumentError names document and
	// field. ErrEmptyDocument, ErrText, ErrDuplicate and ErrTooLarge are reasons.
	ErrDocument = index.ErrDocument
	// ErrEmptyDocument: nothing is left of the text once it is cleaned.
	ErrEmptyDocument = index.ErrEmptyDocument
	// ErrText: the text is not UTF-8, nor nearly so.
	ErrText = index.ErrText
	// ErrDuplicate: the id is taken by another text, in the database or earlier in the call.
	ErrDuplicate = index.ErrDuplicate
	// ErrQueueFull: more documents would wait than Index.MaxPending; *index.QueueFullError has the numbers.
	ErrQueueFull = index.ErrQueueFull
	// ErrMismatch: the documents were indexed with another tokenizer, embedding model or dimension;
	// *MismatchError names both sides.
	ErrMismatch = errors.New("db: model mismatch")
	// ErrEmbedding: the embedder returned vectors that cannot be used: too few, of another length, not
	// finite, zero.
	ErrEmbedding = llm.ErrVectors
	// ErrNoModel: an answer was wanted and no chat model is configured.
	ErrNoModel = llm.ErrNoModel
)

// Errors of changes of the graph by hand. ErrNotFound and ErrTooLarge are reasons, too.
var (
	// ErrEdit: the change was refused; *index.EditError names operation, object, field and reason.
	ErrEdit = index.ErrEdit
	// ErrNameTaken: an entity, an alias or a relation of that name exists, or was deleted by hand.
	ErrNameTaken = index.ErrNameTaken
	// ErrName: nothing is left of the name once it is normalised.
	ErrName = index.ErrName
	// ErrAmbiguous: several entities have the name but for letter case and width; *index.AmbiguousError lists them.
	ErrAmbiguous = index.ErrAmbiguous
	// ErrSelfRelation: both ends of a relation are one entity.
	ErrSelfRelation = index.ErrSelfRelation
	// ErrField: a blank description, a weight out of range or below the evidence, something too long.
	ErrField = index.ErrField
)

// Errors of queries. *query.FieldError names the parameter.
var (
	// ErrEmptyQuery: the question holds nothing but white space.
	ErrEmptyQuery = query.ErrEmptyQuery
	// ErrUnknownMode: the mode is none of query.Modes.
	ErrUnknownMode = query.ErrUnknownMode
	// ErrStreamUsed: an answer stream was read a second time.
	ErrStreamUsed = query.ErrStreamUsed
)

// Errors of transactions.
var (
	// ErrNotFound: a key, node, edge, vector, collection, graph, document or workspace is absent.
	ErrNotFound = kv.ErrNotFound
	// ErrTooLarge: a document, key, value or batch exceeds its limit.
	ErrTooLarge = kv.ErrTooLarge
	// ErrDimension: a vector's length is not the collection's dimension.
	ErrDimension = vector.ErrDimension
	// ErrVector: a vector holds NaN or Inf, or is zero where the metric is cosine.
	ErrVector = vector.ErrVector
	// ErrParameter: an argument of a vector search is out of range, or made for another collection;
	// *vector.ParameterError names it.
	ErrParameter = vector.ErrParameter
	// ErrConfig: the configuration of a vector collection is out of range (*vector.ParameterError), or differs
	// from the one that it was created with (*vector.ConfigError).
	ErrConfig = vector.ErrConfig
	// ErrReserved: a transaction tried to write what documents become: KnowledgeGraph, or a collection of
	// theirs. Insert, Put and Delete write those.
	ErrReserved = errors.New("db: written by documents only")
)

// Errors of dumps and of the change feed.
var (
	// ErrNotEmpty: Load was called on a database that was written to.
	ErrNotEmpty = errors.New("db: the database is not empty")
	// ErrDump: the stream given to Load is no whole dump: cut off, changed, or with a record that cannot be.
	ErrDump = errors.New("db: damaged dump")
	// ErrTruncated: changes after the asked LSN were dropped from the feed.
	ErrTruncated = wal.ErrTruncated
	// ErrAhead: the asked LSN was never assigned by this database.
	ErrAhead = wal.ErrAhead
)
