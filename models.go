package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/llm/token"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// ModelInfo names the configured models. Stats.Stored names those that the documents are bound to.
type ModelInfo struct {
	Chat      string `json:"chat,omitempty"` // of answers; empty: none configured
	Embedder  string `json:"embedder"`
	Dim       int    `json:"dim"`
	Extractor string `json:"extractor"`
	Keyworder string `json:"keyworder"`
	Reranker  string `json:"reranker,omitempty"`
	Tokenizer string `json:"tokenizer"`
}

// models are the configured models, decorated, with offline stand-ins where none is configured.
type models struct {
	mu       sync.Mutex
	info     ModelInfo    // with embedder, guarded by mu
	embedder llm.Embedder // changes when the database is re-embedded

	vectors    llm.Chain // of embedders
	extractor  index.Extractor
	summarizer index.Summarizer
	keyworder  query.Keyworder // nil: query chooses
	keyword    llm.Chat
	answer     llm.Chat
	reranker   llm.Reranker
	tokenizer  llm.Tokenizer
	keywords   llm.ByteStore // for query; nil when that cache is off
	answers    llm.ByteStore
	meter      *llm.Meter
}

// newModels makes the models that o asks for. It makes no call. Errors: one *OptionError for each option
// out of range, joined.
func newModels(o Options, s *state) (*models, error) {
	m := &models{tokenizer: o.Models.Tokenizer, meter: &llm.Meter{}}
	if m.tokenizer == nil {
		m.tokenizer = token.Default()
	}
	errs := optionErrors("Index", o.Index.Validate(m.tokenizer))
	embedder := o.Models.Embedder
	if embedder == nil {
		offline, err := hashed.New(hashed.Options{Dim: o.LexicalDim})
		if err != nil {
			want := fmt.Sprintf("0 or %d to %d", hashed.MinDim, hashed.MaxDim)
			return nil, errors.Join(append(errs, &OptionError{Field: "LexicalDim", Value: o.LexicalDim, Want: want, Err: err})...)
		}
		embedder = offline
	}
	if err := checkDim("Models.Embedder", embedder); err != nil {
		errs = append(errs, err)
	}
	chain := llm.Chain{Meter: m.meter, Retry: llm.RetryPolicy{Attempts: 1 + max(0, o.ModelRetries), Logger: o.Logger},
		Limiter: s.limits.chat, Timeout: o.ModelTimeout, Cache: llm.CacheOptions{Logger: o.Logger}}
	extracting, summing, vectors := chain, chain, chain
	vectors.Limiter = s.limits.vectors
	vectors.Batch = llm.BatchOptions{Texts: o.EmbedBatch}
	extracting.Store, summing.Store = s.byteStore(CacheExtract), s.byteStore(CacheSummary)
	m.keywords, m.answers = s.byteStore(CacheKeywords), s.byteStore(CacheAnswer)
	if o.Models.Embedder != nil { // the offline embedder costs less than a look-up
		vectors.Store = s.byteStore(CacheEmbed)
	}
	m.vectors = vectors
	m.embedder = vectors.Embedder(embedder)
	m.reranker = s.limits.rerankChain(chain, o).Reranker(o.Models.Reranker)
	if m.reranker == nil && o.Models.Embedder == nil {
		m.reranker = query.NewOfflineReranker() // where vectors are lexical, so is the order of passages
	}
	// Keywords and answers are cached in query, by what they depend on.
	extract := extracting.Chat(cmp.Or(o.Models.Extract, o.Models.Chat))
	summary := summing.Chat(cmp.Or(o.Models.Summary, o.Models.Chat))
	m.keyword = chain.Chat(cmp.Or(o.Models.Keyword, o.Models.Chat))
	m.answer = chain.Chat(cmp.Or(o.Models.Answer, o.Models.Chat))
	m.keyworder = o.Keyworder
	errs = append(errs, optionErrors("Extract", m.setExtractor(o, extract, chain.Retry))...)
	errs = append(errs, optionErrors("Summary", m.setSummarizer(o, summary, chain.Retry))...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	m.describe(o)
	return m, nil
}

// limits bound the calls in flight of a database, of all workspaces together. Chat calls share one, in which queries
// overtake indexing; embeddings have their own, and so has reranking, so that none starves another.
type limits struct{ chat, vectors, rerank *llm.Limiter }

func newLimits(o Options) limits {
	return limits{llm.NewLimiter(o.ModelConcurrency), llm.NewLimiter(o.ModelConcurrency), llm.NewLimiter(o.ModelConcurrency)}
}

// rerankChain is chain for calls of which a question waits for each and can do without any.
func (l limits) rerankChain(chain llm.Chain, o Options) llm.Chain {
	const attempts = 3
	chain.Retry.Attempts = min(chain.Retry.Attempts, attempts)
	chain.Limiter, chain.Timeout = l.rerank, o.RerankTimeout
	return chain
}

func checkDim(field string, e llm.Embedder) error {
	if dim := e.Dim(); dim < 1 || dim > vector.MaxDim {
		want := fmt.Sprintf("an embedder of 1 to %d dimensions", vector.MaxDim)
		return &OptionError{Field: field, Value: fmt.Sprintf("%s of %d", e.ID(), dim), Want: want}
	}
	return nil
}

func (m *models) setExtractor(o Options, chat llm.Chat, p llm.RetryPolicy) (err error) {
	switch {
	case o.Extractor != nil:
		m.extractor = index.RetryExtractor(o.Extractor, p, o.ModelTimeout)
	case chat != nil:
		x := o.Extract
		x.Language = cmp.Or(x.Language, o.Language)
		m.extractor, err = index.NewModelExtractor(chat, m.tokenizer, x)
	default:
		m.extractor, err = index.NewRules(index.RulesOptions{})
	}
	return err
}

func (m *models) setSummarizer(o Options, chat llm.Chat, p llm.RetryPolicy) (err error) {
	switch {
	case o.Summarizer != nil:
		m.summarizer = index.RetrySummarizer(o.Summarizer, p, o.ModelTimeout)
	case chat != nil:
		s := o.Summary
		s.Language = cmp.Or(s.Language, o.Language)
		m.summarizer, err = index.NewModelSummarizer(chat, m.tokenizer, s)
	default:
		m.summarizer, err = index.NewExtractive(index.ExtractiveOptions{Tokenizer: m.tokenizer})
	}
	return err
}

// use makes e the embedder.
func (m *models) use(e llm.Embedder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.embedder, m.info.Embedder, m.info.Dim = e, e.ID(), e.Dim()
}

// names are those of the models as they are now.
func (m *models) names() ModelInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.info
}

func (m *models) describe(o Options) {
	m.info = ModelInfo{Extractor: m.extractor.ID(), Tokenizer: m.tokenizer.ID()}
	m.use(m.embedder)
	if m.answer != nil {
		m.info.Chat = m.answer.ID()
	}
	if m.reranker != nil {
		m.info.Reranker = m.reranker.ID()
	}
	switch {
	case m.keyworder != nil:
		m.info.Keyworder = m.keyworder.ID()
	case m.keyword != nil:
		m.info.Keyworder = m.keyword.ID()
	default:
		m.info.Keyworder = query.NewOfflineKeyworder().ID()
	}
}

// storeGrace is how long a call whose context has ended waits to store a reply: many times what commits of
// others take, and little enough for the call to return within a second.
const storeGrace = 500 * time.Millisecond

// outlive returns a context that ends grace after ctx; end releases it.
func outlive(ctx context.Context, grace time.Duration) (_ context.Context, end func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		cancel()
		if !stop() {
			<-ended
		}
	}
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
