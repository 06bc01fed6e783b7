package db

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// Options is every knob of Open. The zero value is valid: an offline database with documented defaults.
// Fields may differ on every Open unless their comment says so.
type Options struct {
	// FS is the file system; nil: the operating system's. Tests pass an in-memory one.
	FS vfs.FS
	// ReadOnly opens an existing database without writing anything.
	ReadOnly bool
	// Workspace is the one that the DB of Open works in; "" is the default workspace. See DB.Workspace.
	Workspace string
	// CacheBytes is the storage engine's block cache; 0: 64 MiB, at least 1 MiB. Memtables count against it. As much
	// again is for single rows that are read again and again.
	CacheBytes int64
	// MemTableBytes is the size of one memtable; 0: 8 MiB, range 64 KiB to 1 GiB. Four of them may exist
	// while they are written out. A larger one absorbs more writes and makes a reopening after a kill slower.
	MemTableBytes uint64
	// Logger receives warnings; nil discards. Never document text or keys.
	Logger *slog.Logger
	// Now is the clock for times that are stored and shown; nil: time.Now.
	Now func() time.Time

	// Models are the models used; see llm.Models for what a nil field means. The tokenizer's and the
	// embedder's ID and dimension are stored with the first data and must be the same on reopen; Reembed changes
	// those of the embedder.
	Models llm.Models
	// LexicalDim is the dimension of the offline embedder used when Models.Embedder is nil; 0: its default.
	// It must be the same on reopen, see Reembed.
	LexicalDim int
	// ModelConcurrency bounds chat calls in flight, and separately embedding calls and reranking calls; 0: 4, range 1 to 1,024.
	// Queries overtake indexing.
	ModelConcurrency int
	// ModelTimeout bounds one attempt of an embedding call, or of a call of the caller's own Extractor or
	// Summarizer, and each silence of a chat model: before its first word and between two; 0: 4 minutes. Retries and their waits come on top; the whole is
	// bounded by the caller's context.
	ModelTimeout time.Duration
	// RerankTimeout bounds one attempt of a reranking call, which a question waits for and can do without; 0: 30 s.
	RerankTimeout time.Duration
	// ModelRetries is how often a call is repeated after a failure worth repeating (rate limits, 5xx,
	// transport errors); 0: 4, negative: never, at most 100. Reranking calls are repeated twice at most.
	ModelRetries int
	// EmbedBatch is the number of texts in one embedding call; 0: 64, range 1 to 2,048.
	EmbedBatch int
	// Prices are what models cost, for the costs that Document and Documents tell; nil: they tell none. They are not
	// stored: other prices give other costs of the same usage.
	Prices llm.Prices
	// DisableReplyCache turns off the durable caches of model replies and embeddings; work that was paid
	// for is then paid again after a restart.
	DisableReplyCache bool
	// CacheLimits bound these caches.
	CacheLimits CacheLimits

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

// VectorOptions are parameters of vectors in memory and of the indexes behind the documents' collections. All but
// ExactBytes, RecallSample and MemoryBytes are stored when a collection is created; later values apply to new
// ones only.
type VectorOptions struct {
	// Kind is the index of a collection that is too large to be scanned; the zero value is vector.HNSW.
	Kind vector.Kind
	// Quantization is what that index compares; the zero value is vector.Int8.
	Quantization vector.Quantization
	// M is the number of links per vector; 0: 16, range 4 to 64.
	M int
	// EfConstruction is the beam width of insertion; 0: 128, range 16 to 2,048.
	EfConstruction int
	// ExtendCandidates and KeepPruned are choices of how a graph links vectors, which vector.Config explains.
	ExtendCandidates, KeepPruned bool
	// ExactBytes is the size of a collection's int8 codes (a byte a dimension and vector) up to which it is
	// only scanned, which is exact; above, it gets an index. 0: 2 MiB; negative: every collection has an
	// index. It may differ on every Open.
	ExactBytes int64
	// RecallSample is the share of index searches, 0 to 1, that are repeated exactly in the background, with at
	// most a tenth of the time of one core, for the estimates of recall in Stats; 0: none. Searches with a
	// predicate and in updates are not. Searches that are routed by topic clusters are sampled likewise, in each workspace
	// (cluster.Monitored). It may differ on every Open.
	RecallSample float64
	// MemoryBytes bounds the float32 rows (4 bytes a dimension and vector) that stay in memory, of all
	// collections together; 0: all of them. Where they are more, the largest collections keep only codes or
	// bits and links in memory, and searches read the rows of their candidates from the store, through the
	// block cache of CacheBytes. Results of exact searches do not change. Collections that compare
	// vector.Float32 keep theirs. It may differ on every Open.
	MemoryBytes int64
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
	defaultRerankTimeout    = 30 * time.Second
	defaultModelRetries     = 4
	defaultEmbedBatch       = 64

	maxModelConcurrency = 1024 // more open calls than any endpoint serves; a typing error, not a wish
	maxModelRetries     = 100  // with back-off, hours of a provider that is down
	maxEmbedBatch       = 2048 // the largest input list that public endpoints accept

	minCacheBytes    = 1 << 20  // the engine keeps memtables in it, too
	minMemTableBytes = 64 << 10 // the engine's own limits
	maxMemTableBytes = 1 << 30
)

// OptionError tells which option of Open is out of range. errors.Is finds ErrOption.
type OptionError struct {
	// Field is the option's name in Options, with a dot before that of a nested one: "Index.ChunkTokens".
	Field string
	// Value is what was given.
	Value any
	// Want says what is accepted.
	Want string
	// Err is the cause in the package that the option belongs to, or nil.
	Err error
}

// Error implements error.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%v: %s is %v, want %s", ErrOption, e.Field, e.Value, e.Want)
}

// Unwrap returns ErrOption and the cause.
func (e *OptionError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrOption}
	}
	return []error{ErrOption, e.Err}
}

// withDefaults fills zero fields and returns one *OptionError for each field out of range, joined. Options
// that models are made of are checked where those are made.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	check := func(ok bool, field string, v any, want string, args ...any) {
		if !ok {
			errs = append(errs, &OptionError{Field: field, Value: v, Want: fmt.Sprintf(want, args...)})
		}
	}
	setDefault(&o.ModelConcurrency, defaultModelConcurrency)
	setDefault(&o.ModelTimeout, defaultModelTimeout)
	setDefault(&o.RerankTimeout, defaultRerankTimeout)
	setDefault(&o.ModelRetries, defaultModelRetries)
	setDefault(&o.EmbedBatch, defaultEmbedBatch)
	if err := checkWorkspace("Workspace", o.Workspace); err != nil {
		errs = append(errs, err)
	}
	check(o.CacheBytes == 0 || o.CacheBytes >= minCacheBytes, "CacheBytes", o.CacheBytes, "0 or at least %d", minCacheBytes)
	check(o.MemTableBytes == 0 || minMemTableBytes <= o.MemTableBytes && o.MemTableBytes <= maxMemTableBytes,
		"MemTableBytes", o.MemTableBytes, "0 or %d to %d", minMemTableBytes, maxMemTableBytes)
	check(1 <= o.ModelConcurrency && o.ModelConcurrency <= maxModelConcurrency, "ModelConcurrency", o.ModelConcurrency, "1 to %d", maxModelConcurrency)
	check(o.ModelTimeout > 0, "ModelTimeout", o.ModelTimeout, "a positive duration")
	check(o.RerankTimeout > 0, "RerankTimeout", o.RerankTimeout, "a positive duration")
	check(o.ModelRetries <= maxModelRetries, "ModelRetries", o.ModelRetries, "at most %d", maxModelRetries)
	for _, model := range slices.Sorted(maps.Keys(o.Prices)) {
		check(o.Prices[model].Valid(), "Prices."+model, o.Prices[model], "numbers of 0 or more")
	}
	check(1 <= o.EmbedBatch && o.EmbedBatch <= maxEmbedBatch, "EmbedBatch", o.EmbedBatch, "1 to %d", maxEmbedBatch)
	v := o.Vectors
	check(v.M == 0 || vector.MinM <= v.M && v.M <= vector.MaxM, "Vectors.M", v.M, "0 or %d to %d", vector.MinM, vector.MaxM)
	check(v.EfConstruction == 0 || vector.MinEfConstruction <= v.EfConstruction && v.EfConstruction <= vector.MaxEfConstruction,
		"Vectors.EfConstruction", v.EfConstruction, "0 or %d to %d", vector.MinEfConstruction, vector.MaxEfConstruction)
	check(v.Kind <= vector.IVF, "Vectors.Kind", v.Kind, "vector.HNSW or vector.IVF")
	check(v.Quantization <= vector.Binary, "Vectors.Quantization", v.Quantization, "vector.Int8, vector.Float32 or vector.Binary")
	check(v.RecallSample >= 0 && v.RecallSample <= 1, "Vectors.RecallSample", v.RecallSample, "0 to 1")
	check(v.MemoryBytes >= 0, "Vectors.MemoryBytes", v.MemoryBytes, "0 or more")
	limits, err := o.CacheLimits.withDefaults()
	o.CacheLimits = limits
	errs = append(append(errs, err), optionErrors("Query", o.Query.Validate())...)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, errors.Join(errs...)
}

// optionErrors turns what a package says about its options, the struct called prefix here, into one
// *OptionError a field.
func optionErrors(prefix string, err error) (out []error) {
	switch e := err.(type) { //nolint:errorlint // the tree itself is taken apart
	case nil:
	case *index.OptionError:
		out = append(out, &OptionError{Field: prefix + "." + e.Field, Value: e.Value, Want: e.Want, Err: e})
	case *query.FieldError:
		out = append(out, &OptionError{Field: prefix + "." + e.Field, Value: e.Value, Want: strings.TrimPrefix(e.Reason, "want "), Err: e})
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			out = append(out, optionErrors(prefix, err)...)
		}
	default:
		out = append(out, &OptionError{Field: prefix, Value: "refused", Want: err.Error(), Err: err})
	}
	return out
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
