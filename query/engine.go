package query

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// Config is what an Engine works with. View, Vectors, Embedder and Tokenizer are required.
type Config struct {
	// View returns a snapshot of the last published commit; the engine closes it.
	View func() (*kv.Snapshot, error)
	// Vectors are the collections of the same store.
	Vectors *vector.Set
	// Workspace is the one searched.
	Workspace string

	// Embedder embeds questions and keywords; it must be the one that embedded the store, see Engine.SetEmbedder.
	Embedder llm.Embedder
	// Tokenizer counts prompts; it must be the one that counted the stored texts.
	Tokenizer llm.Tokenizer
	// Keyworder finds keywords. nil: Keyword is asked; without that too, they are found offline.
	Keyworder Keyworder
	// Keyword is the chat model for keywords.
	Keyword llm.Chat
	// Language is that of keywords asked of Keyword; "" is English.
	Language string
	// Answer is the chat model for answers. nil: queries end with context and data.
	Answer llm.Chat
	// Reranker reorders chunks; nil: none does.
	Reranker llm.Reranker

	// Clusters returns the present navigation over the chunks, nil where there is none; nil: there never is.
	Clusters func() *cluster.Navigation
	// TextLanguage is the language of full-text search; it must be that of the write side. See index.Options.
	TextLanguage string

	// Views derives what queries with a filter show; nil: those are refused.
	Views Views

	// KeywordCache and AnswerCache keep replies; nil: every query asks again. A cache that fails slows
	// queries down and never fails them.
	KeywordCache, AnswerCache llm.ByteStore
	// Defaults fill zero fields of a query's Options. Keywords and history have none.
	Defaults Options
	// Now is the clock of the trace; nil: time.Now.
	Now func() time.Time
	// Logger receives warnings, never texts; nil discards.
	Logger *slog.Logger
}

// Engine answers questions. Safe for concurrent use.
type Engine struct {
	view      func() (*kv.Snapshot, error)
	vectors   *vector.Set
	workspace string

	embedder      atomic.Pointer[embedder]
	keyworder     Keyworder
	keywordOrigin Origin // of what keyworder finds
	answerer      llm.Chat
	reranker      llm.Reranker

	keywordCache, answerCache llm.ByteStore

	clusters   func() *cluster.Navigation
	views      Views
	selections selections
	words      *analysis.Analyzer // of full-text search

	count    *counter
	defaults Options
	now      func() time.Time
	log      *slog.Logger
}

// New returns an Engine. It reads nothing.
func New(c Config) (*Engine, error) {
	if c.View == nil || c.Vectors == nil || c.Embedder == nil || c.Tokenizer == nil {
		return nil, errors.New("query: new engine: View, Vectors, Embedder and Tokenizer are required")
	}
	if err := c.Defaults.Validate(); err != nil {
		return nil, fmt.Errorf("query: new engine: defaults: %w", err)
	}
	e := &Engine{view: c.View, vectors: c.Vectors, workspace: c.Workspace,
		keyworder: c.Keyworder, keywordOrigin: OriginCustom, answerer: c.Answer, reranker: c.Reranker,
		keywordCache: c.KeywordCache, answerCache: c.AnswerCache,
		clusters: c.Clusters, views: c.Views,
		count: &counter{tok: c.Tokenizer}, defaults: c.Defaults, now: c.Now, log: c.Logger}
	words, err := analysis.New(c.TextLanguage)
	if err != nil {
		return nil, fmt.Errorf("query: new engine: %w", err)
	}
	e.words = words
	e.SetEmbedder(c.Embedder)
	switch {
	case e.keyworder != nil:
	case c.Keyword != nil:
		e.keyworder, e.keywordOrigin = NewModelKeyworder(c.Keyword, c.Language), OriginModel
	default:
		e.keyworder = NewOfflineKeyworder()
	}
	if _, ok := e.keyworder.(*offlineKeyworder); ok {
		e.keywordOrigin = OriginOffline
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e, nil
}

// embedder is an embedder of its time.
type embedder struct{ llm.Embedder }

// SetEmbedder changes the embedder with the commit that changes the vectors: it must be called before a view shows
// them. Queries that embedded their question before and read afterwards embed it again.
func (e *Engine) SetEmbedder(m llm.Embedder) { e.embedder.Store(&embedder{m}) }

// run is one query under way.
type run struct {
	e        *Engine
	embedder *embedder // of the question's vectors
	opt      Options   // resolved
	// entitySearch is opt.Search, or what is done instead.
	entitySearch Search
	question     string      // trimmed
	hyde         string      // hypothetical answer; empty: none
	stats        *statistics // for the reranker; nil: none
	res          *Result
	trace        []TraceStep
	told         []Step // of Options.Progress
	start        time.Time
}

// Query answers question. The error is a joined list of *FieldError, ErrEmptyQuery, ErrNoModel, an
// *UpstreamError, the context's error, or a failure of the store. When only the answer failed, the Result
// with the retrieved context accompanies the error; otherwise it is nil with an error.
//
// A query makes at most one keyword call, one call for a hypothesis (RoutingOptions.HyDE), one embedding call, one rerank call and one answer call, and
// holds a snapshot only between the embedding call and the rerank call.
func (e *Engine) Query(ctx context.Context, question string, o Options) (*Result, error) {
	q, err := e.prepare(question, o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if q.opt.Mode != Bypass {
		if err := q.retrieve(ctx); err != nil {
			return nil, err
		}
	}
	err = q.finish(ctx)
	q.res.Trace = Trace{Total: e.now().Sub(q.start), Steps: q.trace}
	return q.res, err
}

// prepare validates and resolves. It makes no call.
func (e *Engine) prepare(question string, o Options) (*run, error) {
	o = o.over(e.defaults)
	question = strings.TrimSpace(question)
	if err := errors.Join(checkQuestion(question, o), o.Validate()); err != nil {
		return nil, err
	}
	o = o.resolved()
	if !o.Filter.IsZero() && e.views == nil {
		return nil, &FieldError{Field: "filter", Value: "set", Reason: "want none: the engine has no Views"}
	}
	if o.Want == WantAnswer && e.answerer == nil {
		return nil, ErrNoModel
	}
	q := &run{e: e, opt: o, entitySearch: o.Search, question: question, start: e.now()}
	q.res = &Result{Question: question, Mode: o.Mode, Ran: o.Mode, Outcome: OutcomeOK,
		Reasons: []Reason{}, Fallbacks: []Fallback{}, Keywords: UsedKeywords{Keywords: Keywords{High: []string{}, Low: []string{}}},
		Data: Data{Entities: []Entity{}, Relations: []Relation{}, Chunks: []Chunk{}, References: []Reference{}}}
	return q, nil
}

// kg reports whether the data flow that runs shows entities and relations.
func (q *run) kg() bool { return q.res.Ran != Naive && q.res.Ran != Bypass }

// reranks reports whether chunks go to a reranker.
func (q *run) reranks() bool { return q.e.reranker != nil && !q.opt.NoRerank }

// picker settles PickAuto.
func (q *run) picker() Picker {
	if q.opt.Picker != PickAuto {
		return q.opt.Picker
	}
	if q.reranks() {
		return PickVector
	}
	return PickWeight
}

// tell reports the beginning of a step, once.
func (q *run) tell(s Step) {
	if q.opt.Progress != nil && !slices.Contains(q.told, s) {
		q.told = append(q.told, s)
		q.opt.Progress(s)
	}
}

func (q *run) record(t *timer) { q.trace = append(q.trace, t.end()) }

func (q *run) cacheFailed(err error) {
	q.e.log.Warn("query: reply cache", "error", err)
	q.res.reason(ReasonCacheFailed, err.Error())
}

// upstream wraps a model's failure; a cancelled query is the caller's doing, not the model's.
func (e *Engine) upstream(ctx context.Context, s Step, model string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("query: %s: %w", s, ctx.Err())
	}
	return &UpstreamError{Step: s, Model: model, Err: err}
}

// cacheKey digests fields so that neither their borders nor their kind can collide.
func cacheKey(kind string, fields ...string) string {
	h := sha256.New()
	for _, f := range fields {
		h.Write([]byte(strconv.Itoa(len(f)) + ":" + f))
	}
	return kind + ":" + hex.EncodeToString(h.Sum(nil))
}
