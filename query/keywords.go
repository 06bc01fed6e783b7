package query

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// shortQuestion is the length in characters below which a question without keywords is one itself.
const shortQuestion = 50

// keywordSeparator joins a list of keywords to the text that is embedded.
const keywordSeparator = ", "

// modelKeyworder asks a chat model.
type modelKeyworder struct {
	chat     llm.Chat
	language string
}

// NewModelKeyworder returns a Keyworder that asks chat, with keywords in language ("" is English). A
// reply without a usable object gives two empty lists, not an error.
func NewModelKeyworder(chat llm.Chat, language string) Keyworder {
	if language == "" {
		language = prompt.DefaultLanguage
	}
	return &modelKeyworder{chat: chat, language: language}
}

// ID implements Keyworder.
func (m *modelKeyworder) ID() string {
	return strings.Join([]string{"model", m.chat.ID(), m.language, prompt.Hash(prompt.TemplateKeywords)}, "/")
}

// Keywords implements Keyworder.
func (m *modelKeyworder) Keywords(ctx context.Context, question string) (Keywords, error) {
	p, _, err := m.ask(ctx, question)
	return p.Keywords, err
}

func (m *modelKeyworder) ask(ctx context.Context, question string) (parsedKeywords, llm.Reply, error) {
	reply, err := llm.Complete(ctx, m.chat, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: prompt.Keywords(m.language, question)}},
		JSON:     true, Schema: keywordSchema(), Purpose: llm.PurposeKeywords,
	})
	if err != nil {
		return parsedKeywords{}, llm.Reply{}, err
	}
	return parseKeywords(reply.Text), reply, nil
}

// keywords settles which keywords a query searches with and which data flow it runs.
func (e *Engine) keywords(ctx context.Context, q *run) error {
	res, o := q.res, q.opt
	if o.Mode == Naive {
		return nil
	}
	if len(o.HighKeywords)+len(o.LowKeywords) > 0 {
		res.Keywords = UsedKeywords{Keywords{o.HighKeywords, o.LowKeywords}, OriginGiven}
	} else if err := e.findKeywords(ctx, q); err != nil {
		return err
	}
	k := &res.Keywords
	k.High, k.Low = list(k.High), list(k.Low)
	if len(k.High)+len(k.Low) == 0 {
		if runes(q.question) >= shortQuestion {
			res.fallback(StepKeywords, string(o.Mode), string(Naive), "no keywords were found in a long question")
			res.Ran = Naive
			return nil
		}
		res.fallback(StepKeywords, string(k.Origin), string(OriginQueryText), "no keywords were found: the question stands in as a low keyword")
		*k = UsedKeywords{Keywords{High: []string{}, Low: []string{q.question}}, OriginQueryText}
	}
	switch {
	case o.Mode == Local && len(k.Low) == 0:
		res.fallback(StepKeywords, string(Local), string(Global), "there are no low keywords: the high ones search the relation index")
		res.Ran = Global
	case o.Mode == Global && len(k.High) == 0:
		res.fallback(StepKeywords, string(Global), string(Local), "there are no high keywords: the low ones search the entity index")
		res.Ran = Local
	case (o.Mode == Hybrid || o.Mode == Mix) && len(k.Low) == 0:
		res.reason(ReasonNoLowKeywords, "there are no low keywords: the entity index was not searched")
	case (o.Mode == Hybrid || o.Mode == Mix) && len(k.High) == 0:
		res.reason(ReasonNoHighKeywords, "there are no high keywords: the relation index was not searched")
	}
	return nil
}

// findKeywords asks the cache, then the keyworder.
func (e *Engine) findKeywords(ctx context.Context, q *run) error {
	res := q.res
	m, isModel := e.keyworder.(*modelKeyworder)
	cacheable := e.keywordCache != nil && e.keywordOrigin != OriginOffline
	key := cacheKey("keywords", e.keyworder.ID(), q.question)
	if cacheable && e.cachedKeywords(ctx, q, key) {
		return nil
	}
	switch {
	case isModel:
		p, reply, err := m.ask(ctx, q.question)
		if err != nil {
			return e.upstream(ctx, StepKeywords, m.chat.ID(), err)
		}
		res.Usage = res.Usage.Add(reply.Usage)
		res.Keywords = UsedKeywords{p.Keywords, OriginModel}
		if reply.Finish == llm.FinishLength {
			cacheable = false
			res.reason(ReasonKeywordsTruncated, "the keyword reply was cut off by its token limit")
		}
		if !p.found {
			cacheable = false
			res.reason(ReasonKeywordsUnusable, "the keyword reply holds no object with keyword lists")
		}
		res.counted(ReasonKeywordsDropped, p.dropped, "unusable items of the keyword reply")
	default:
		k, err := e.keyworder.Keywords(ctx, q.question)
		if err != nil {
			return e.upstream(ctx, StepKeywords, e.keyworder.ID(), err)
		}
		res.Keywords = UsedKeywords{k, e.keywordOrigin}
	}
	if k := res.Keywords.Keywords; cacheable && len(k.High)+len(k.Low) > 0 {
		e.storeKeywords(ctx, q, key, k)
	}
	return nil
}

// cachedKeywords reports whether the cache settled the keywords. A cache that fails is no obstacle.
func (e *Engine) cachedKeywords(ctx context.Context, q *run, key string) bool {
	v, ok, err := e.keywordCache.Get(ctx, key)
	if err == nil && !ok {
		return false
	}
	var k Keywords
	if err == nil {
		err = json.Unmarshal(v, &k)
	}
	if err != nil {
		q.cacheFailed(fmt.Errorf("read keywords: %w", err))
		return false
	}
	q.res.Usage.CachedCalls++
	q.res.Keywords = UsedKeywords{k, OriginCached}
	return true
}

func (e *Engine) storeKeywords(ctx context.Context, q *run, key string, k Keywords) {
	v, err := json.Marshal(k)
	if err == nil {
		err = e.keywordCache.Put(ctx, key, v)
	}
	if err != nil {
		q.cacheFailed(fmt.Errorf("write keywords: %w", err))
	}
}
