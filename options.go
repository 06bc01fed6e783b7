package db

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
)

// Options is every knob of Open. The zero value is valid: an offline database with documented defaults.
// Fields may differ on every Open unless their comment says so.
type Options struct {
	// FS is the file system; nil: the operating system's. Tests pass an in-memory one.
	FS vfs.FS
	// ReadOnly opens an existing database without writing anything.
	ReadOnly bool
	// CacheBytes is the storage engine's block cache; 0: 64 MiB.
	CacheBytes int64
	// MemTableBytes is the size of one memtable; 0: 32 MiB. Up to two exist at a time.
	MemTableBytes uint64
	// Logger receives warnings; nil discards. Never document text or keys.
	Logger *slog.Logger
	// Now is the clock for times that are stored and shown; nil: time.Now.
	Now func() time.Time

	// Models are the models used; see llm.Models for what a nil field means. The tokenizer's and the
	// embedder's ID and dimension are stored with the first data and must be the same on reopen.
	Models llm.Models
	// LexicalDim is the dimension of the offline embedder used when Models.Embedder is nil; 0: its default.
	// It must be the same on reopen.
	LexicalDim int
	// ModelConcurrency bounds chat calls in flight; 0: 4. Queries overtake indexing.
	ModelConcurrency int
	// ModelTimeout bounds one model call including its retries; 0: 4 minutes.
	ModelTimeout time.Duration
	// ModelRetries is how often a call is repeated after a failure worth repeating (rate limits, 5xx,
	// transport errors); 0: 4, negative: never.
	ModelRetries int
	// EmbedBatch is the number of texts in one embedding call; 0: 64, at most 2,048.
	EmbedBatch int
	// DisableReplyCache turns off the durable caches of model replies and embeddings; work that was paid
	// for is then paid again after a restart.
	DisableReplyCache bool

	// Extractor replaces extraction; nil: a model extractor when a chat model is configured, else rules.
	Extractor index.Extractor
	// Summarizer replaces summaries of long descriptions; nil: as for Extractor.
	Summarizer index.Summarizer
	// Keyworder replaces keyword extraction of queries; nil: as for Extractor.
	Keyworder query.Keyworder

	// Extract configures the extraction that a chat model does; unused offline.
	Extract index.ModelOptions
	// Summary configures the summaries that a chat model writes; unused offline.
	Summary index.SummaryOptions
	// Language is that of descriptions, keywords and summaries asked of a model; empty: English.
	Language string
	// Index are the options of the write side.
	Index index.Options
	// Query fills zero fields of every query's options.
	Query query.Options
	// Vectors sets the parameters of the vector indexes.
	Vectors VectorOptions
}

// VectorOptions are parameters of the HNSW graphs behind vector collections. They are stored when a
// collection is created; later values apply to new collections only.
type VectorOptions struct {
	// M is the number of links per vector; 0: 16, range 4 to 64.
	M int
	// EfConstruction is the beam width of insertion; 0: 128, range M to 2,000.
	EfConstruction int
}

// Option edits the options of one Open call.
type Option func(*Options)

// WithOptions sets the whole struct at once.
func WithOptions(o Options) Option { return func(p *Options) { *p = o } }

// WithFS sets the file system.
func WithFS(fs vfs.FS) Option { return func(o *Options) { o.FS = fs } }

// WithModels sets the models.
func WithModels(m llm.Models) Option { return func(o *Options) { o.Models = m } }

// WithEmbedder sets the embedding model.
func WithEmbedder(e llm.Embedder) Option { return func(o *Options) { o.Models.Embedder = e } }

// WithChat sets the chat model of every role that has no own.
func WithChat(c llm.Chat) Option { return func(o *Options) { o.Models.Chat = c } }

// WithExtractor sets the extractor.
func WithExtractor(x index.Extractor) Option { return func(o *Options) { o.Extractor = x } }

// WithLogger sets the logger.
func WithLogger(l *slog.Logger) Option { return func(o *Options) { o.Logger = l } }

// ReadOnly opens an existing database without writing anything.
func ReadOnly() Option { return func(o *Options) { o.ReadOnly = true } }

const (
	defaultModelConcurrency = 4
	defaultModelTimeout     = 4 * time.Minute
	defaultModelRetries     = 4
	defaultEmbedBatch       = 64

	maxModelConcurrency = 1024 // more open calls than any endpoint serves; a typing error, not a wish
	maxEmbedBatch       = 2048 // the largest input list that public endpoints accept
)

func (o Options) withDefaults() (Options, error) {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: %s %s", ErrOption, field, fmt.Sprintf(format, args...)))
	}
	setDefault(&o.ModelConcurrency, defaultModelConcurrency)
	setDefault(&o.ModelTimeout, defaultModelTimeout)
	setDefault(&o.ModelRetries, defaultModelRetries)
	setDefault(&o.EmbedBatch, defaultEmbedBatch)
	if o.CacheBytes < 0 {
		bad("CacheBytes", "is %d, want 0 or more", o.CacheBytes)
	}
	if o.ModelConcurrency < 1 || o.ModelConcurrency > maxModelConcurrency {
		bad("ModelConcurrency", "is %d, want 1 to %d", o.ModelConcurrency, maxModelConcurrency)
	}
	if o.ModelTimeout < 0 {
		bad("ModelTimeout", "is %v, want a positive duration", o.ModelTimeout)
	}
	if o.EmbedBatch < 1 || o.EmbedBatch > maxEmbedBatch {
		bad("EmbedBatch", "is %d, want 1 to %d", o.EmbedBatch, maxEmbedBatch)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, errors.Join(errs...)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
