package query

import (
	"encoding/json"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// Mode is a retrieval strategy.
type Mode string

// The modes. KG modes are local, global, hybrid and mix.
const (
	Naive  Mode = "naive"  // question → chunks
	Local  Mode = "local"  // low keywords → entities → their relations → chunks of both
	Global Mode = "global" // high keywords → relations → their entities → chunks of both
	Hybrid Mode = "hybrid" // local and global interleaved
	Mix    Mode = "mix"    // hybrid, and naive's chunks interleaved: the default
	Bypass Mode = "bypass" // nothing is retrieved: the question goes to the answer model as it is
)

// Modes lists all modes.
func Modes() []Mode { return []Mode{Naive, Local, Global, Hybrid, Mix, Bypass} }

// Want says how far a query goes.
type Want string

// What can be wanted. The default is an answer where an answer model is configured, else the context
// with a reason that says so.
const (
	WantDefault Want = ""
	WantAnswer  Want = "answer"  // an answer, or ErrNoModel
	WantContext Want = "context" // structured data and the rendered context
	WantPrompt  Want = "prompt"  // also the whole prompt, but no model is called with it
	WantData    Want = "data"    // structured data only
)

// Picker chooses the chunks of entities and relations.
type Picker string

// The pickers.
const (
	PickVector Picker = "vector" // the chunks nearest to the question: the default
	PickWeight Picker = "weight" // by importance of their owners, linear-gradient weighted polling
	PickAuto   Picker = "auto"   // vector when a reranker works, else weight
)

// Search is how passages are searched for the question, and entities for the low keywords.
type Search string

// The searches.
const (
	SearchVector Search = "vector" // by vector, in the chunk index and the entity index
	SearchText   Search = "bm25"   // by words, in the postings, as BM25 scores them
	SearchHybrid Search = "hybrid" // both, merged, see Fusion
)

// Searches lists all searches.
func Searches() []Search { return []Search{SearchVector, SearchText, SearchHybrid} }

// Optional is a setting whose zero is a meaningful value: Some(0.0) is zero, the zero Optional is "use
// the default".
type Optional[T any] struct {
	v   T
	set bool
}

// Some returns a set Optional.
func Some[T any](v T) Optional[T] { return Optional[T]{v: v, set: true} }

// Or returns the value, or def when none was set.
func (o Optional[T]) Or(def T) T {
	if o.set {
		return o.v
	}
	return def
}

// IsZero reports whether no value was set.
func (o Optional[T]) IsZero() bool { return !o.set }

// MarshalJSON writes the value, or null when none was set.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.set {
		return []byte("null"), nil
	}
	return json.Marshal(o.v)
}

// UnmarshalJSON reads a value; null unsets it.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*o = Optional[T]{}
		return nil
	}
	o.set = true
	return json.Unmarshal(b, &o.v)
}

// Options shape one query. A zero field takes Config.Defaults' value, then the default named here.
// Validate tells what is out of range; Engine.Query calls it.
type Options struct {
	// Mode is the strategy; default Mix.
	Mode Mode `json:"mode,omitempty"`
	// Want says how far to go; default: as far as the configured models allow.
	Want Want `json:"want,omitempty"`
	// Stream delivers the answer through Result.Stream instead of Result.Answer.
	Stream bool `json:"stream,omitempty"`
	// Progress is called when a step begins that may take long, once for each: StepKeywords, StepHypothesis, StepEmbed,
	// then what is searched of StepEntities, StepRelations and StepChunks, StepRerank, StepAnswer. Steps that a query does
	// not take are left out; the three searches are told in this order and run at the same time. One call at a time,
	// without locks, on the goroutine of Query, or of who reads the stream for the StepAnswer of one. The query waits for it.
	Progress func(Step) `json:"-"`

	// TopK is the number of hits taken from the entity index, and separately from the relation index;
	// default 40, range 1 to 1,000.
	TopK int `json:"top_k,omitempty"`
	// Search is how naive and mix find passages for the question itself, and how local, hybrid and mix find entities for the
	// low keywords; default SearchVector. Where postings are absent or do not cover all, vectors are used, and
	// Result.Fallbacks says so; those of entities are made where index.Options.EntityWords says so.
	Search Search `json:"search,omitempty"`
	// Fusion is how SearchHybrid merges what its two searches find; default FuseScores.
	Fusion Fusion `json:"fusion,omitempty"`
	// VectorShare is what the search by vector counts in SearchHybrid, beside the one by words; default 0.5, range 0 to 1.
	// Package db takes 0.35 where the offline embedder made the vectors: it hashes the very words that are searched by.
	VectorShare Optional[float64] `json:"vector_share,omitzero"`
	// ChunkTopK is the number of chunks fetched by the question itself (naive, mix), of SearchHybrid by each of its searches, and
	// the number kept after reranking; default 20, range 1 to 1,000. Without a reranker SearchHybrid keeps that many as well.
	ChunkTopK int `json:"chunk_top_k,omitempty"`
	// CosineThreshold drops vector hits below it (inclusive: equal stays); default 0.2, range -1 to 1.
	CosineThreshold Optional[float64] `json:"cosine_threshold,omitzero"`
	// RelatedChunks steers how many chunks come from entities and from relations: under PickWeight the
	// quota of the first owner, falling linearly to 1 at the last; under PickVector half of it per owner
	// on average. Default 5, range 0 (none) to 1,000.
	RelatedChunks Optional[int] `json:"related_chunks,omitzero"`
	// RelatedChunkCap bounds the chunks of a single entity or relation; 0: no bound. Range 0 to 1,000.
	RelatedChunkCap int `json:"related_chunk_cap,omitempty"`
	// Picker chooses the chunks of entities and relations; default PickVector.
	Picker Picker `json:"picker,omitempty"`
	// NoNames leaves out the look-up of names that stand in the question. By default local, hybrid and mix
	// begin with the entities that the question names, letter case and width ignored: at most TopK, beside
	// those that the entity index finds.
	NoNames bool `json:"no_names,omitempty"`
	// NoRerank leaves the configured reranker out.
	NoRerank bool `json:"no_rerank,omitempty"`
	// MinRerankScore drops chunks that the reranker scored lower; default 0, which is off; range 0 up.
	MinRerankScore Optional[float64] `json:"min_rerank_score,omitzero"`

	// HighKeywords and LowKeywords, when any is given, are used exactly as they are, and no keywords are
	// looked for. At most 64 each, of at most 512 characters.
	HighKeywords []string `json:"hl_keywords,omitempty"`
	LowKeywords  []string `json:"ll_keywords,omitempty"`

	// Routing searches the chunks of a few topic clusters instead of all; default: all.
	Routing RoutingOptions `json:"routing,omitzero"`

	// Filter restricts what is searched and shown to some documents; zero: none. Bypass does not look at it.
	Filter Filter `json:"filter,omitzero"`

	// Budget bounds the prompt.
	Budget Budget `json:"budget,omitzero"`
	// Reply shapes the answer and never what is retrieved.
	Reply Reply `json:"reply,omitzero"`
}

// Budget bounds the prompt in tokens of the engine's tokenizer. Stored counts are summed; no stored text
// is tokenized.
type Budget struct {
	// Entities bounds the entity lines; default 6,000, range 1 to 1,000,000.
	Entities int `json:"max_entity_tokens,omitempty"`
	// Relations bounds the relation lines; default 8,000, range 1 to 1,000,000.
	Relations int `json:"max_relation_tokens,omitempty"`
	// Total bounds the whole prompt: system text, context, references, history and question; default
	// 30,000, range 1 to 1,000,000. When the entity and relation lines would leave less than a fifth of
	// it for chunks, relations are shortened first, then entities. It cuts the context only: chunks that it
	// has no room for stay in the data.
	Total int `json:"max_total_tokens,omitempty"`
}

// Reply shapes the answer.
type Reply struct {
	// History holds earlier turns, given to the answer model only; at most 128 of at most 32 Ki
	// characters. With it no answer is cached.
	History []llm.Message `json:"conversation_history,omitempty"`
	// UserPrompt holds further instructions; at most 64 Ki characters.
	UserPrompt string `json:"user_prompt,omitempty"`
	// SystemPrompt replaces the answer template. It must hold the slot {{context}} (in bypass mode it
	// need not) and may hold {{response_type}} and {{user_prompt}}; other braces are literal. At most
	// 64 Ki characters.
	SystemPrompt string `json:"system_prompt,omitempty"`
	// ResponseType says which form the answer takes; default "Multiple Paragraphs", at most 256
	// characters.
	ResponseType string `json:"response_type,omitempty"`
}

// Defaults of Options.
const (
	defaultMode         = Mix
	defaultSearch       = SearchVector
	defaultFusion       = FuseScores
	defaultVectorShare  = 0.5
	defaultTopK         = 40
	defaultChunkTopK    = 20
	defaultCosine       = 0.2
	defaultRelated      = 5
	defaultPicker       = PickVector
	defaultEntityBudget = 6000
	defaultRelBudget    = 8000
	defaultTotalBudget  = 30000
	defaultMinRerank    = 0
	defaultResponseType = prompt.DefaultResponseType
)

// over returns o with every zero field taken from d.
func (o Options) over(d Options) Options {
	fill(&o.Mode, d.Mode)
	fill(&o.Want, d.Want)
	fill(&o.Search, d.Search)
	fill(&o.Fusion, d.Fusion)
	fill(&o.VectorShare, d.VectorShare)
	fill(&o.TopK, d.TopK)
	fill(&o.ChunkTopK, d.ChunkTopK)
	fill(&o.RelatedChunkCap, d.RelatedChunkCap)
	fill(&o.Picker, d.Picker)
	o.Routing = o.Routing.over(d.Routing)
	fill(&o.CosineThreshold, d.CosineThreshold)
	fill(&o.RelatedChunks, d.RelatedChunks)
	fill(&o.MinRerankScore, d.MinRerankScore)
	fill(&o.Budget.Entities, d.Budget.Entities)
	fill(&o.Budget.Relations, d.Budget.Relations)
	fill(&o.Budget.Total, d.Budget.Total)
	fill(&o.Reply.UserPrompt, d.Reply.UserPrompt)
	fill(&o.Reply.SystemPrompt, d.Reply.SystemPrompt)
	fill(&o.Reply.ResponseType, d.Reply.ResponseType)
	if o.Filter.IsZero() {
		o.Filter = d.Filter
	}
	o.Stream = o.Stream || d.Stream
	if o.Progress == nil {
		o.Progress = d.Progress
	}
	o.NoRerank = o.NoRerank || d.NoRerank
	o.NoNames = o.NoNames || d.NoNames
	return o
}

// resolved returns o with every field set.
func (o Options) resolved() Options {
	return o.over(Options{
		Mode: defaultMode, Search: defaultSearch, Fusion: defaultFusion, VectorShare: Some(defaultVectorShare), TopK: defaultTopK, ChunkTopK: defaultChunkTopK, Picker: defaultPicker,
		CosineThreshold: Some(defaultCosine), RelatedChunks: Some(defaultRelated), MinRerankScore: Some(float64(defaultMinRerank)),
		Budget: Budget{Entities: defaultEntityBudget, Relations: defaultRelBudget, Total: defaultTotalBudget},
		Reply:  Reply{ResponseType: defaultResponseType},
	})
}

func fill[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
