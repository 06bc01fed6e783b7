package query

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/llm"
)

// Errors that callers test with errors.Is.
var (
	// ErrEmptyQuery: the question holds nothing but white space.
	ErrEmptyQuery = errors.New("query: empty question")
	// ErrUnknownMode: Options.Mode is none of Modes().
	ErrUnknownMode = errors.New("query: unknown mode")
	// ErrNoModel: an answer was wanted and no answer model is configured.
	ErrNoModel = fmt.Errorf("query: answer: %w", llm.ErrNoModel)
	// ErrEmptyReply: the answer model returned no text.
	ErrEmptyReply = errors.New("query: the model returned an empty reply")
	// ErrStreamUsed: Result.Stream was ranged over a second time.
	ErrStreamUsed = errors.New("query: the answer stream can be read only once")
)

// FieldError tells which parameter of a query is not acceptable and what would be.
type FieldError struct {
	// Field is the name of the parameter in its JSON form, "query" for the question itself.
	Field string
	// Value is what was given; long texts are represented by their length.
	Value any
	// Reason says what is wrong and names the range.
	Reason string
	// Err is a sentinel of this package, the cause below, or nil.
	Err error
}

// Error implements error.
func (e *FieldError) Error() string {
	return fmt.Sprintf("query: %s = %v: %s", e.Field, e.Value, e.Reason)
}

// Unwrap returns the sentinel.
func (e *FieldError) Unwrap() error { return e.Err }

// Step names a part of a query in errors, fallbacks and traces.
type Step string

// The steps.
const (
	StepKeywords   Step = "keywords"
	StepPrompt     Step = "prompt"     // what the prompt takes without context is counted; the first query loads the vocabulary
	StepHypothesis Step = "hypothesis" // the answer model writes what clusters are compared with
	StepEmbed      Step = "embed"
	StepRetrieve   Step = "retrieve"
	StepFilter     Step = "filter" // the documents that match are found, and what they speak of
	StepNames      Step = "names"
	StepEntities   Step = "entities"
	StepRelations  Step = "relations"
	StepChunks     Step = "chunks"
	StepVector     Step = "vector" // of a hybrid search of chunks or entities
	StepText       Step = "bm25"   // of a hybrid search of chunks or entities
	StepRoute      Step = "route"  // topic clusters are chosen, and searched
	StepBudget     Step = "budget"
	StepPick       Step = "pick"
	StepRead       Step = "read"
	StepRerank     Step = "rerank"
	StepContext    Step = "context"
	StepAnswer     Step = "answer"
)

// UpstreamError is a failure of a model that the query could not do without. It is never turned into an
// empty result.
type UpstreamError struct {
	Step Step
	// Model is the ID of the model.
	Model string
	Err   error
}

// Error implements error.
func (e *UpstreamError) Error() string {
	return fmt.Sprintf("query: %s: model %s: %v", e.Step, e.Model, e.Err)
}

// Unwrap returns the cause.
func (e *UpstreamError) Unwrap() error { return e.Err }
