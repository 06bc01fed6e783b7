package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
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
	info       ModelInfo
	extractor  index.Extractor
	summarizer index.Summarizer
	keyworder  query.Keyworder // nil: query chooses
	keyword    llm.Chat
	answer     llm.Chat
	embedder   llm.Embedder
	reranker   llm.Reranker
	tokenizer  llm.Tokenizer
	replies    llm.ByteStore // of the query side; nil when caching is off
	meter      *llm.Meter
}

// newModels makes the models that o asks for. It makes no call. Errors: one *OptionError for each option
// out of range, joined.
func newModels(o Options, d *DB) (*models, error) {
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
	if dim := embedder.Dim(); dim < 1 || dim > vector.MaxDim {
		want := fmt.Sprintf("an embedder of 1 to %d dimensions", vector.MaxDim)
		errs = append(errs, &OptionError{Field: "Models.Embedder", Value: fmt.Sprintf("%s of %d", embedder.ID(), dim), Want: want})
	}
	// Chat calls share one limit, in which queries overtake indexing; embeddings have their own, so that
	// neither starves the other.
	chain := llm.Chain{Meter: m.meter, Retry: llm.RetryPolicy{Attempts: 1 + max(0, o.ModelRetries), Logger: o.Logger},
		Limiter: llm.NewLimiter(o.ModelConcurrency), Timeout: o.ModelTimeout, Cache: llm.CacheOptions{Logger: o.Logger}}
	cached, vectors := chain, chain
	vectors.Limiter = llm.NewLimiter(o.ModelConcurrency)
	vectors.Batch = llm.BatchOptions{Texts: o.EmbedBatch}
	if !o.DisableReplyCache && !o.ReadOnly {
		cached.Store = byteStore{d, space.ReplyCache}
		// The offline embedder costs less than a look-up.
		if o.Models.Embedder != nil {
			vectors.Store = byteStore{d, space.VectorCache}
		}
		m.replies = byteStore{d, space.ReplyCache}
	}
	m.embedder = vectors.Embedder(embedder)
	m.reranker = chain.Reranker(o.Models.Reranker)
	if m.reranker == nil && o.Models.Embedder == nil {
		m.reranker = query.NewOfflineReranker() // where vectors are lexical, so is the order of passages
	}
	// Extraction and summaries go through the reply cache. Keywords and answers have caches of their own in
	// query, keyed by what they depend on.
	extract := cached.Chat(cmp.Or(o.Models.Extract, o.Models.Chat))
	summary := cached.Chat(cmp.Or(o.Models.Summary, o.Models.Chat))
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

func (m *models) describe(o Options) {
	m.info = ModelInfo{Embedder: m.embedder.ID(), Dim: m.embedder.Dim(), Extractor: m.extractor.ID(), Tokenizer: m.tokenizer.ID()}
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

// byteStore keeps model replies and embeddings in a key space of the workspace. Every entry is durable
// when Put returns (P6), and no part of the logical state.
type byteStore struct {
	d     *DB // its log is there before the first call
	space space.Space
}

func (s byteStore) key(key string) []byte { return append(space.In(defaultWorkspace, s.space), key...) }

// Get implements llm.ByteStore.
func (s byteStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	snap, err := s.d.log.View()
	if err != nil {
		return nil, false, err
	}
	v, err := snap.Get(s.key(key))
	err = errors.Join(ignore(err, kv.ErrNotFound), snap.Close())
	return v, v != nil && err == nil, err
}

// Put implements llm.ByteStore, see PutMany.
func (s byteStore) Put(ctx context.Context, key string, value []byte) error {
	return s.PutMany(ctx, []string{key}, [][]byte{value})
}

// PutMany implements llm.BatchStore, in one commit. What has arrived was paid for: it is stored even if the
// caller gives up meanwhile, unless the writer turn then does not come within storeGrace.
func (s byteStore) PutMany(ctx context.Context, keys []string, values [][]byte) error {
	ctx, end := outlive(ctx, storeGrace)
	defer end()
	_, err := s.d.log.Update(ctx, changeCache, nil, func(b *kv.Batch) error {
		for i, key := range keys {
			if err := b.SetText(s.key(key), values[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return err
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

const changeCache = "cache"

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
