package index

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// Options are the knobs of the write side. The zero value is valid; every field may differ on reopen.
// Objects whose records did not change keep what earlier options made of them.
type Options struct {
	// Chunking is how documents are cut that say nothing of their own (Document.Chunking); the zero value: windows.
	// Its Size and Overlap, where 0, are ChunkTokens and ChunkOverlap. What holds for a document is fixed when it is
	// enqueued: documents that wait, and those that are stored, are not touched by other options.
	Chunking chunk.Spec
	// Chunker replaces Chunking by a chunker of the caller's. Chunks that are over ChunkTokens, by the engine's count,
	// are cut into windows. A document that waits is processed only with the Chunker, by its ID, that it was enqueued
	// for (else *ChunkerError).
	Chunker chunk.Chunker
	// ChunkTokens is the largest chunk; 0: 1200, range 1 to 2³⁰.
	ChunkTokens int
	// ChunkOverlap is the number of tokens that a chunk shares with the next; 0: 100 (at most a quarter of
	// ChunkTokens), negative: none; less than ChunkTokens.
	ChunkOverlap int
	// Workers is the number of documents processed at the same time; 0: 3, range 1 to 64.
	Workers int
	// MaxPending is the number of documents that may wait for Process; Enqueue calls that would exceed it are refused
	// with a *QueueFullError. 0: no bound, range 0 to 2³⁰. Failed documents do not wait, and Retry is not refused.
	MaxPending int
	// WaitWhenFull makes Enqueue wait for room instead. Something else must process documents meanwhile.
	WaitWhenFull bool
	// CommitBytes is what the commit of one document may hold; one that needs more fails with a *TooLargeError, as soon as
	// that is certain. It bounds the memory that a document takes while it is processed: about three times as much, and
	// three times its text. 0: 512 MiB, the engine's limit; range 1 MiB to 512 MiB.
	CommitBytes int
	// ChunkWorkers is the number of chunks of one document with the extractor at the same time, and of
	// summaries of one document; 0: 4, range 1 to 256. Model calls are limited once more by the client.
	ChunkWorkers int
	// MaxSources is the number of chunks behind the view of one entity or relation: its description,
	// keywords, source list and paths come from these; 0: 200, range 1 to 10,000. Type votes, weights and
	// source counts are exact whatever the number.
	MaxSources int
	// MaxPaths is the number of paths in the view; 0: 75, range 1 to 10,000.
	MaxPaths int
	// KeepNewest makes the caps keep the last chunks and paths (FIFO) instead of the first (KEEP).
	KeepNewest bool
	// SummaryFragments is the number of description fragments from which an object's description is
	// summarised; 0: 8, range 2 to 10,000.
	SummaryFragments int
	// SummaryTokens is the number of tokens of all fragments from which it is; 0: 1200, range 1 to 2³⁰.
	SummaryTokens int
	// TextLanguage is the language whose words in Latin letters full-text search reduces to stems, one of TextLanguages;
	// "": English, and Russian by its letters. Another one than before makes postings anew, see Pipeline.Tend.
	TextLanguage string
	// EntityWords says whether entities get postings, so that queries find them by words; see EntityWords. A workspace may
	// have another value than the last time.
	EntityWords EntityWords
	// EmbedTokens is the embedding model's input limit: chunks above it are cut further, texts of
	// entities and relations are shortened to their longest prefix that fits; 0: no limit, range 0 to 2³⁰.
	EmbedTokens int
}

// Defaults and ranges of Options. The defaults of caps and thresholds are LightRAG's.
const (
	defaultWorkers      = 3
	defaultChunkWorkers = 4
	defaultMaxSources   = 200
	defaultMaxPaths     = 75
	defaultFragments    = 8
	defaultSummaryTok   = 1200

	maxWorkers      = 64  // each holds a document and its vectors in memory
	maxChunkWorkers = 256 // more calls in flight than endpoints serve
	maxCap          = 10_000
	minCommitBytes  = 1 << 20
	maxTokens       = chunk.MaxSize // of anything that is counted: sums of a few stay numbers
)

// Validate returns nil, or one *OptionError for each field out of range, joined. tok is the tokenizer that
// will count.
func (o Options) Validate(tok llm.Tokenizer) error {
	o, err := o.withDefaults()
	return errors.Join(err, o.checkChunking(tok))
}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	set := func(field string, v *int, def, lo, hi int) {
		if *v == 0 {
			*v = def
		}
		if *v < lo || *v > hi {
			errs = append(errs, &OptionError{Field: field, Value: *v, Want: fmt.Sprintf("%d to %d", lo, hi)})
		}
	}
	set("Workers", &o.Workers, defaultWorkers, 1, maxWorkers)
	set("MaxPending", &o.MaxPending, 0, 0, maxTokens)
	set("CommitBytes", &o.CommitBytes, kv.MaxBatchBytes, minCommitBytes, kv.MaxBatchBytes)
	set("ChunkWorkers", &o.ChunkWorkers, defaultChunkWorkers, 1, maxChunkWorkers)
	set("MaxSources", &o.MaxSources, defaultMaxSources, 1, maxCap)
	set("MaxPaths", &o.MaxPaths, defaultMaxPaths, 1, maxCap)
	set("SummaryFragments", &o.SummaryFragments, defaultFragments, 2, maxCap)
	set("SummaryTokens", &o.SummaryTokens, defaultSummaryTok, 1, maxTokens)
	set("EmbedTokens", &o.EmbedTokens, 0, 0, maxTokens)
	if !slices.Contains([]EntityWords{EntityWordsKeep, EntityWordsOn, EntityWordsOff}, o.EntityWords) {
		errs = append(errs, &OptionError{Field: "EntityWords", Value: o.EntityWords, Want: `"", on or off`})
	}
	if o.TextLanguage != "" && !slices.Contains(TextLanguages(), o.TextLanguage) {
		errs = append(errs, &OptionError{Field: "TextLanguage", Value: o.TextLanguage, Want: "one of " + strings.Join(TextLanguages(), ", ")})
	}
	return o, errors.Join(errs...)
}

func (o Options) caps() Caps {
	return Caps{Sources: o.MaxSources, Paths: o.MaxPaths, KeepNewest: o.KeepNewest}
}

// Config is what a Pipeline works with. Fields without a default must be set.
type Config struct {
	Updater   Updater     // the commit path
	Vectors   *vector.Set // where collections live
	Workspace string
	// Extractor, Summarizer and Embedder are used as they are, but for the names found, which get their
	// stored form (NormalizeName): decorate them with caches, limits and deadlines beforehand.
	Extractor  Extractor
	Summarizer Summarizer
	Embedder   llm.Embedder
	Tokenizer  llm.Tokenizer
	// Layout holds the tuning fields of the vector collections that are created; the zero value means the
	// defaults of package vector. Metric, Dim and Model are not looked at: they follow from the embedder.
	Layout vector.Config
	// Admit may refuse the documents of an Enqueue call, or stage what belongs to the first ones, in the
	// batch that stores them; nil refuses none.
	Admit func(b *kv.Batch) error

	Options Options
	Now     func() time.Time // nil: time.Now
	Random  func() uint32    // for track ids; nil: math/rand/v2
	Logger  *slog.Logger     // nil discards; never gets document text
}

func (c Config) withDefaults() (Config, error) {
	var errs []error
	need := func(field string, missing bool) {
		if missing {
			errs = append(errs, fmt.Errorf("%w: %s is missing", ErrConfig, field))
		}
	}
	need("Updater", c.Updater == nil)
	need("Vectors", c.Vectors == nil)
	need("Extractor", c.Extractor == nil)
	need("Summarizer", c.Summarizer == nil)
	need("Embedder", c.Embedder == nil)
	need("Tokenizer", c.Tokenizer == nil)
	if c.Embedder != nil && c.Embedder.Dim() < 1 {
		errs = append(errs, fmt.Errorf("%w: Embedder has %d dimensions", ErrConfig, c.Embedder.Dim()))
	}
	if c.Extractor != nil {
		c.Extractor = normalized(c.Extractor)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Uint32
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.Options, err = c.Options.withDefaults(); err != nil {
		errs = append(errs, err)
	} else if err = c.Options.checkChunking(c.Tokenizer); err != nil {
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

// rules is a fingerprint of what the derivation of a view depends on beside its records.
func (o Options) rules() uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, o.MaxSources, o.MaxPaths, o.KeepNewest, o.SummaryFragments, o.SummaryTokens)
	return h.Sum32()
}
