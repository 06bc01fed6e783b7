package query

import (
	"fmt"
	"iter"
	"time"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// Outcome tells what a query came to. Failures of models and of the store are errors, never outcomes.
type Outcome string

// The outcomes. Reasons explain the last two.
const (
	OutcomeOK               Outcome = "ok"
	OutcomeNoResult         Outcome = "no_result"          // nothing in the store matched
	OutcomeEmptyAfterFilter Outcome = "empty_after_filter" // what matched is in no document that the filter selects, was cut by the score threshold, or none of it fits the context that was wanted
)

// Result is all that a query found out. Every id in it was read at LSN. Its JSON form is stable.
type Result struct {
	Question string `json:"query"`
	// Mode is the one asked for; Ran is the one whose data flow was used, see Fallbacks for why.
	Mode Mode `json:"mode"`
	Ran  Mode `json:"ran"`

	Outcome Outcome `json:"outcome"`
	// Reasons say why something is absent or less than asked for.
	Reasons []Reason `json:"reasons"`
	// Fallbacks say which way was taken instead of the one asked for.
	Fallbacks []Fallback `json:"fallbacks"`

	// Filter tells what Options.Filter selected; nil without one.
	Filter *Filtered `json:"filter,omitempty"`

	// Routing tells how clusters were used, when Options.Routing asked for them; else nil.
	Routing *Routed `json:"routing,omitempty"`

	// Keywords are the ones searched with, and where they came from.
	Keywords UsedKeywords `json:"keywords"`
	Data     Data         `json:"data"`
	// Context is the rendered context; empty with WantData, when the outcome is not OutcomeOK, and
	// when nothing fits its budget.
	Context string `json:"context,omitempty"`
	// Prompt is the system message, the context in it, and the question; filled with WantPrompt.
	Prompt string `json:"prompt,omitempty"`

	// Answer is the whole answer. With Stream it is filled when the stream has ended.
	Answer string `json:"answer,omitempty"`
	// Stream yields the answer piece by piece; an error comes last. It is nil unless Options.Stream is
	// set and a model is to answer. The model is called when the loop begins; leaving the loop or
	// cancelling the query's context ends the call. It can be read once. When it has ended, Answer,
	// Reply, Usage and Reasons are complete; it writes them on the goroutine that ranges over it.
	Stream iter.Seq2[string, error] `json:"-"`
	// Reply describes the answer.
	Reply ReplyInfo `json:"reply,omitzero"`

	Counts Counts    `json:"counts"`
	Tokens Tokens    `json:"tokens"`
	Usage  llm.Usage `json:"usage"`
	Trace  Trace     `json:"trace"`
	// LSN is the commit whose state was read; 0 when nothing was retrieved or the store is empty.
	LSN kv.LSN `json:"lsn"`
}

// Reason is one cause of an absence.
type Reason struct {
	Code   ReasonCode `json:"code"`
	Detail string     `json:"detail"`
	// Count is the number of things concerned; 0 where that makes no sense.
	Count int `json:"count,omitempty"`
}

// ReasonCode names a Reason for programs.
type ReasonCode string

// The codes.
const (
	ReasonNoModel           ReasonCode = "no_model"           // no answer model is configured
	ReasonNothingIndexed    ReasonCode = "nothing_indexed"    // the workspace holds none of what the mode searches
	ReasonNoLowKeywords     ReasonCode = "no_low_keywords"    // hybrid, mix: the entity index was not searched
	ReasonNoHighKeywords    ReasonCode = "no_high_keywords"   // hybrid, mix: the relation index was not searched
	ReasonNoEntityHits      ReasonCode = "no_entity_hits"     // no entity reaches the threshold, or holds a word
	ReasonNoRelationHits    ReasonCode = "no_relation_hits"   // no relation reaches the threshold
	ReasonNoChunkHits       ReasonCode = "no_chunk_hits"      // no chunk reaches the threshold
	ReasonNoTerms           ReasonCode = "no_terms"           // the question, or the low keywords, have no words that postings know: function words only, or signs
	ReasonFilter            ReasonCode = "filter"             // what was found is in no document that the filter selects
	ReasonFilterCut         ReasonCode = "filter_cut"         // under a filter, sums of what many passages speak of are those of the passages within the caps
	ReasonNoDirection       ReasonCode = "no_direction"       // a text to search with has a zero vector: nothing is like it
	ReasonNamesCut          ReasonCode = "names_cut"          // the question names more entities than TopK
	ReasonNoChunks          ReasonCode = "no_chunks"          // entities and relations were found, chunks of them not
	ReasonDanglingEntities  ReasonCode = "dangling_entities"  // hits without a node
	ReasonDanglingRelations ReasonCode = "dangling_relations" // hits without an edge
	ReasonDanglingChunks    ReasonCode = "dangling_chunks"    // chunk ids without a stored chunk
	ReasonEntitiesCut       ReasonCode = "entities_cut"       // entities over their budget
	ReasonRelationsCut      ReasonCode = "relations_cut"      // relations over their budget
	ReasonChunksCut         ReasonCode = "chunks_cut"         // chunks that the context has no room for; the data has them
	ReasonChunksBelowScore  ReasonCode = "chunks_below_score" // chunks under MinRerankScore
	ReasonChunksUnscored    ReasonCode = "chunks_unscored"    // chunks the reranker gave no usable score
	ReasonPromptOverBudget  ReasonCode = "prompt_over_budget" // system text, history and question alone exceed the budget
	ReasonDocumentsWaiting  ReasonCode = "documents_waiting"  // documents that are stored and not processed yet, counted up to 10,000
	ReasonVectorsMissing    ReasonCode = "vectors_missing"    // candidate chunks without a stored vector
	ReasonKeywordsTruncated ReasonCode = "keywords_truncated" // the keyword reply was cut off by its token limit
	ReasonKeywordsUnusable  ReasonCode = "keywords_unusable"  // the keyword reply held no keyword object
	ReasonKeywordsDropped   ReasonCode = "keywords_dropped"   // items of the keyword reply that were no usable keywords
	ReasonAnswerTruncated   ReasonCode = "answer_truncated"   // the answer was cut off by its token limit
	ReasonUnknownCitation   ReasonCode = "unknown_citation"   // the answer cites numbers that are no references
	ReasonCacheFailed       ReasonCode = "cache_failed"       // a reply cache could not be read or written
)

// Fallback is a way taken instead of another.
type Fallback struct {
	Step Step   `json:"step"`
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
	// Err is the failure that led to it, for errors.As: a reranker's is an *UpstreamError. nil for others.
	Err error `json:"-"`
}

// Origin says where keywords came from.
type Origin string

// The origins.
const (
	OriginNone      Origin = ""           // the mode uses no keywords
	OriginGiven     Origin = "given"      // by the caller
	OriginCached    Origin = "cached"     // an earlier reply to the same question
	OriginModel     Origin = "model"      // asked of the keyword model
	OriginOffline   Origin = "offline"    // the offline keyworder
	OriginCustom    Origin = "custom"     // Config.Keyworder
	OriginQueryText Origin = "query_text" // none were found: the question stands in for them
)

// UsedKeywords are the keywords of one query.
type UsedKeywords struct {
	Keywords
	Origin Origin `json:"origin"`
}

// Data is what was retrieved, in the order shown to the model. Lists are never nil. Entities and relations are
// cut to their own budgets, for only those that stay lead to chunks; chunks are cut to ChunkTopK, and the total
// budget only decides which of them the context has, a prefix.
type Data struct {
	Entities   []Entity    `json:"entities"`
	Relations  []Relation  `json:"relations"`
	Chunks     []Chunk     `json:"chunks"`
	References []Reference `json:"references"`
}

// Entity is an entity as stored, and how it was found.
type Entity struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	// Sources are ids of chunks that mention it, in order of provenance, capped by the indexer;
	// SourceCount is the number before the cap.
	Sources     []string `json:"sources"`
	SourceCount int      `json:"source_count"`
	Paths       []string `json:"paths"`
	// References are the ids of the references that its documents have.
	References []string `json:"references"`
	// Degree is the number of its relations.
	Degree int `json:"degree"`
	// Score is the cosine to the low keywords; 0 for an entity that came with a relation, or was found by words only.
	Score float32 `json:"score"`
	Via   Via     `json:"via"`
	// Found tells the searches with the low keywords that found it, by vector and by words, and its place and score in each;
	// absent where only vectors were searched, and for an entity that came in another way.
	Found []Found `json:"found,omitempty"`
	// Named is what the question calls it, when that is its name but for case and width; else empty.
	Named  string `json:"named,omitempty"`
	Tokens int    `json:"tokens"`

	cut bool // see record.Part
}

// Relation is a relation as stored, and how it was found. Src <= Dst in code-point order.
type Relation struct {
	Src         string   `json:"src"`
	Dst         string   `json:"dst"`
	Keywords    []string `json:"keywords"`
	Description string   `json:"description"`
	Weight      float64  `json:"weight"`
	Sources     []string `json:"sources"`
	SourceCount int      `json:"source_count"`
	Paths       []string `json:"paths"`
	References  []string `json:"references"`
	// Rank is the sum of the degrees of both ends; 0 for a relation found by its own vector only.
	Rank int `json:"rank"`
	// Score is the cosine to the high keywords; 0 for a relation that came with an entity.
	Score  float32 `json:"score"`
	Via    Via     `json:"via"`
	Tokens int     `json:"tokens"`

	cut bool // see record.Part
}

// Via says which path found something.
type Via string

// The paths.
const (
	ViaName     Via = "name"     // only by a name that stands in the question, or as a relation of that entity
	ViaLow      Via = "low"      // low keywords, by the entity index
	ViaHigh     Via = "high"     // high keywords, by the relation index
	ViaBoth     Via = "both"     // low and high keywords
	ViaVector   Via = "vector"   // the question's vector, by the chunk index; of an entity, that of the low keywords
	ViaText     Via = "bm25"     // the question's words, by the postings; of an entity, those of the low keywords
	ViaEntity   Via = "entity"   // a source of an entity
	ViaRelation Via = "relation" // a source of a relation
)

// Chunk is a chunk as stored, and every path that found it.
type Chunk struct {
	ID       string `json:"id"`
	Document string `json:"document"`
	Order    int    `json:"order"`
	Path     string `json:"path"`
	// Start and End are its byte span in the stored text of the document.
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Content string `json:"content"`
	// Context is the headings above the passage, when the document was cut by its structure. A model is shown it beside
	// Content.
	Context string `json:"context,omitempty"`
	// Reference is the id of its document in References; empty when the document has no path.
	Reference string `json:"reference"`
	// InContext: the context had room for the chunk.
	InContext bool    `json:"in_context"`
	Found     []Found `json:"found"`
	// RerankScore is set when the reranker scored the chunk.
	RerankScore Optional[float64] `json:"rerank_score,omitzero"`
	Tokens      int               `json:"tokens"`

	lineTokens int // of its context line, reference id included
}

// Found is one path to a chunk or an entity.
type Found struct {
	Via Via `json:"via"`
	// Rank is the 1-based place in the list of this path, before lists are merged.
	Rank int `json:"rank"`
	// Owner is the entity's name, or both names of the relation joined by " - ", that the chunk is a
	// source of: the first one in order of importance.
	Owner string `json:"owner,omitempty"`
	// Occurrences counts the owners that name the chunk as a source.
	Occurrences int `json:"occurrences,omitempty"`
	// Score is the cosine to the question, or the low keywords, or, by words, the BM25 score; absent where the path compares neither.
	Score Optional[float32] `json:"score,omitzero"`
}

// Reference is a document of the chunks. Those that the context cites come first.
type Reference struct {
	ID   string `json:"id"` // "1", "2", ... by number of chunks in the context, then first appearance
	Path string `json:"path"`
	// Documents are the ids of the documents with this path whose chunks are shown.
	Documents []string `json:"documents"`
	// Chunks is the number of its chunks in the data, InContext of those in the context.
	Chunks    int `json:"chunks"`
	InContext int `json:"in_context"`
}

// ReplyInfo describes an answer.
type ReplyInfo struct {
	Model  string     `json:"model"`
	Finish llm.Finish `json:"finish"`
	// Cached: the answer came from the answer cache and no model was called.
	Cached bool `json:"cached"`
	// UnknownCitations are cited numbers that are no references, in order of first appearance.
	UnknownCitations []string `json:"unknown_citations,omitempty"`
}

// Counts are the numbers before and after each cut.
type Counts struct {
	// Named is the number of entities that the question names.
	Named     int `json:"named"`
	Entities  Cut `json:"entities"`
	Relations Cut `json:"relations"`
	// RelationsBounded: relations beyond the ones counted may exist; none of them could fit the budget.
	RelationsBounded bool        `json:"relations_bounded,omitempty"`
	Chunks           ChunkCounts `json:"chunks"`
}

// Cut is a number before and after a budget.
type Cut struct {
	Found int `json:"found"`
	Kept  int `json:"kept"`
}

// Dropped is the number that the budget cut.
func (c Cut) Dropped() int { return c.Found - c.Kept }

// ChunkCounts follow the chunks through their cuts.
type ChunkCounts struct {
	Vector     int `json:"vector"`         // hits of the question's vector
	Text       int `json:"bm25,omitempty"` // hits of the question's words
	Entities   int `json:"from_entities"`  // picked from entities
	Relations  int `json:"from_relations"`
	Merged     int `json:"merged"`       // after removing repeats
	Reranked   int `json:"reranked"`     // after the reranker (equal to Merged without one)
	AboveScore int `json:"above_score"`  // after MinRerankScore
	WithinTopK int `json:"within_top_k"` // after ChunkTopK
	Kept       int `json:"kept"`         // in the context, within the token budget
}

// Dropped is the number that the context has no room for.
func (c ChunkCounts) Dropped() int { return c.WithinTopK - c.Kept }

// Tokens account for the prompt, by stored counts and the engine's tokenizer.
type Tokens struct {
	Budget     int `json:"budget"`
	Fixed      int `json:"fixed"` // system text, frame of the context, history, question, safety margin
	Entities   int `json:"entities"`
	Relations  int `json:"relations"`
	Chunks     int `json:"chunks"`
	References int `json:"references"`
}

// Total is the size of the prompt, the safety margin included.
func (t Tokens) Total() int { return t.Fixed + t.Entities + t.Relations + t.Chunks + t.References }

// Trace tells what a query did, step by step, for a person who asks why.
type Trace struct {
	Total time.Duration `json:"total_ns"`
	Steps []TraceStep   `json:"steps"`
}

// TraceStep is one step. Steps inside one step may have run at the same time.
type TraceStep struct {
	Name     Step          `json:"name"`
	Duration time.Duration `json:"duration_ns"`
	Counts   []Count       `json:"counts,omitempty"`
	// Scores are those of the hits or of the reranker; nil where there are none.
	Scores *Scores     `json:"scores,omitempty"`
	Note   string      `json:"note,omitempty"`
	Steps  []TraceStep `json:"steps,omitempty"`
}

// Count is a named number of a step.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	// Of is the number before a cut, of which N are left, or the budget that N is within; 0 where there is neither.
	Of int `json:"of,omitempty"`
}

// Scores are the ends of a list of scores.
type Scores struct {
	Best  float64 `json:"best"`
	Least float64 `json:"least"`
}

// reasons collect causes.
type reasons []Reason

func (r *reasons) reason(c ReasonCode, detail string) {
	*r = append(*r, Reason{Code: c, Detail: detail})
}

// counted records a cause that concerns n things, if it concerns any.
func (r *reasons) counted(c ReasonCode, n int, detail string) {
	if n > 0 {
		*r = append(*r, Reason{Code: c, Count: n, Detail: fmt.Sprintf("%s: %d", detail, n)})
	}
}

func (r *Result) reason(c ReasonCode, detail string) { (*reasons)(&r.Reasons).reason(c, detail) }
func (r *Result) counted(c ReasonCode, n int, detail string) {
	(*reasons)(&r.Reasons).counted(c, n, detail)
}

func (r *Result) fallback(s Step, from, to, why string) {
	r.Fallbacks = append(r.Fallbacks, Fallback{Step: s, From: from, To: to, Why: why})
}
