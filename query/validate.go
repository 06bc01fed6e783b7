package query

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// MaxTopK bounds Options.TopK, ChunkTopK, RelatedChunks and RelatedChunkCap.
const MaxTopK = 1000

// Limits of a query. They bound what one call can cost before any model sees it.
const (
	maxTokens          = 1_000_000
	maxQuestionRunes   = 64 << 10
	maxPromptRunes     = 64 << 10
	maxMessageRunes    = 32 << 10
	maxRequestRunes    = 128 << 10 // question, prompts and history together
	maxMessages        = 128
	maxKeywords        = 64
	maxKeywordRunes    = 512
	maxRoleRunes       = 64
	maxResponseTypeLen = 256
)

// Validate returns nil, or one *FieldError for each parameter out of range, joined. Zero fields are valid.
func (o Options) Validate() error {
	var f fieldErrors
	f.check(o.Mode == "" || slices.Contains(Modes(), o.Mode), "mode", bounded(o.Mode), ErrUnknownMode,
		"want naive, local, global, hybrid, mix or bypass")
	f.check(slices.Contains([]Want{WantDefault, WantAnswer, WantContext, WantPrompt, WantData}, o.Want), "want", bounded(o.Want), nil,
		"want answer, context, prompt or data")
	f.check(slices.Contains([]Picker{"", PickVector, PickWeight, PickAuto}, o.Picker), "picker", bounded(o.Picker), nil,
		"want vector, weight or auto")
	f.check(o.Search == "" || slices.Contains(Searches(), o.Search), "search", bounded(o.Search), nil, "want vector, bm25 or hybrid")
	f.check(o.Fusion == "" || slices.Contains(Fusions(), o.Fusion), "fusion", bounded(o.Fusion), nil, "want rrf or scores")
	if v := o.VectorShare.Or(0); !(v >= 0 && v <= 1) {
		f.add("vector_share", v, nil, "want 0 to 1")
	}
	f.within("top_k", o.TopK, 0, MaxTopK)
	f.within("chunk_top_k", o.ChunkTopK, 0, MaxTopK)
	f.within("related_chunks", o.RelatedChunks.Or(0), 0, MaxTopK)
	f.within("related_chunk_cap", o.RelatedChunkCap, 0, MaxTopK)
	f.within("max_entity_tokens", o.Budget.Entities, 0, maxTokens)
	f.within("max_relation_tokens", o.Budget.Relations, 0, maxTokens)
	f.within("max_total_tokens", o.Budget.Total, 0, maxTokens)
	if c := o.CosineThreshold.Or(0); math.IsNaN(c) || c < -1 || c > 1 {
		f.add("cosine_threshold", c, nil, "want -1 to 1")
	}
	if m := o.MinRerankScore.Or(0); math.IsNaN(m) || math.IsInf(m, 0) || m < 0 {
		f.add("min_rerank_score", m, nil, "want a finite number, 0 or more")
	}
	f.keywords("hl_keywords", o.HighKeywords)
	f.keywords("ll_keywords", o.LowKeywords)
	f.filter(o.Filter)
	f.routing(o.Routing)
	f.text("user_prompt", o.Reply.UserPrompt, maxPromptRunes)
	f.text("system_prompt", o.Reply.SystemPrompt, maxPromptRunes)
	if s := o.Reply.SystemPrompt; s != "" && o.Mode != Bypass {
		_, err := prompt.AnswerWith(s, prompt.AnswerParams{})
		f.check(err == nil, "system_prompt", textLength(s), nil, "want the slot {{context}} in it")
	}
	f.text("response_type", o.Reply.ResponseType, maxResponseTypeLen)
	f.history(o.Reply.History)
	return f.err()
}

// checkQuestion validates the trimmed question and what it adds up to with o.
func checkQuestion(question string, o Options) error {
	if question == "" {
		return &FieldError{Field: "query", Value: `""`, Reason: "want a question", Err: ErrEmptyQuery}
	}
	var f fieldErrors
	f.text("query", question, maxQuestionRunes)
	n := runes(question) + runes(o.Reply.UserPrompt) + runes(o.Reply.SystemPrompt)
	for _, m := range o.Reply.History {
		n += runes(m.Content)
	}
	f.check(n <= maxRequestRunes, "request", textSize(n), nil,
		fmt.Sprintf("want at most %d characters in question, prompts and history together", maxRequestRunes))
	return f.err()
}

type fieldErrors []error

func (f *fieldErrors) err() error { return errors.Join(*f...) }

func (f *fieldErrors) add(field string, v any, sentinel error, reason string) {
	*f = append(*f, &FieldError{Field: field, Value: v, Reason: reason, Err: sentinel})
}

func (f *fieldErrors) check(ok bool, field string, v any, sentinel error, reason string) {
	if !ok {
		f.add(field, v, sentinel, reason)
	}
}

// within checks an integer whose zero means the default where lo is above 0 in the documentation.
func (f *fieldErrors) within(field string, v, lo, hi int) {
	f.check(v >= lo && v <= hi, field, v, nil, fmt.Sprintf("want %d to %d", lo, hi))
}

func (f *fieldErrors) text(field, s string, limit int) {
	switch {
	case !utf8.ValidString(s):
		f.add(field, textLength(s), nil, "want valid UTF-8")
	case runes(s) > limit:
		f.add(field, textLength(s), nil, fmt.Sprintf("want at most %d characters", limit))
	}
}

func (f *fieldErrors) keywords(field string, list []string) {
	if len(list) > maxKeywords {
		f.add(field, fmt.Sprintf("%d keywords", len(list)), nil, fmt.Sprintf("want at most %d", maxKeywords))
		return
	}
	for i, k := range list {
		switch {
		case strings.TrimSpace(k) == "":
			f.add(field, fmt.Sprintf("keyword %d", i), nil, "want no blank keyword")
		case !utf8.ValidString(k) || runes(k) > maxKeywordRunes:
			f.add(field, fmt.Sprintf("keyword %d", i), nil, fmt.Sprintf("want valid UTF-8 of at most %d characters", maxKeywordRunes))
		default:
			continue
		}
		return // one error a field
	}
}

func (f *fieldErrors) history(list []llm.Message) {
	const field = "conversation_history"
	if len(list) > maxMessages {
		f.add(field, fmt.Sprintf("%d messages", len(list)), nil, fmt.Sprintf("want at most %d", maxMessages))
		return
	}
	for i, m := range list {
		role := string(m.Role)
		switch {
		case strings.TrimSpace(role) == "" || runes(role) > maxRoleRunes:
			f.add(field, fmt.Sprintf("message %d", i), nil, fmt.Sprintf("want a role of 1 to %d characters", maxRoleRunes))
		case !utf8.ValidString(m.Content) || runes(m.Content) > maxMessageRunes:
			f.add(field, fmt.Sprintf("message %d", i), nil, fmt.Sprintf("want valid UTF-8 of at most %d characters", maxMessageRunes))
		default:
			continue
		}
		return
	}
}

func (f *fieldErrors) filter(given Filter) {
	_, problems := given.Compile()
	for _, p := range problems {
		f.add("filter."+p.JSON, p.Value, p.Err, "want "+p.Want)
	}
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// bounded is the name that was given, or the length of one that is none.
func bounded[T ~string](name T) any {
	if n := runes(string(name)); n > maxRoleRunes {
		return textSize(n)
	}
	return name
}

func textLength(s string) string { return textSize(runes(s)) }

func textSize(n int) string { return fmt.Sprintf("%d characters", n) }
