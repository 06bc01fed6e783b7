package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// SummaryOptions configure a ModelSummarizer. The zero value is LightRAG's default configuration.
type SummaryOptions struct {
	// Language of summaries; empty means English.
	Language string
	// ContextTokens bounds the descriptions in one call, as they are sent; 0 means 12000, else at least
	// 64.
	ContextTokens int
	// JoinBelow and JoinTokens say when the summaries of groups are few and short enough to stand side by
	// side instead of being summarised once more: fewer than JoinBelow with fewer than JoinTokens tokens
	// in all. 0 means 8 and 1200; JoinBelow 1 never joins.
	JoinBelow, JoinTokens int
	// MaxTokens is the length asked of the model; 0 means 600.
	MaxTokens int
	// Temperature is left to the provider when nil.
	Temperature *float64
}

// Defaults of SummaryOptions.
const (
	defaultContextTokens = 12000
	minContextTokens     = 64
	defaultJoinBelow     = 8
	defaultJoinTokens    = 1200
)

// summarySeparator stands between summaries that are joined.
const summarySeparator = "\n\n"

func (o SummaryOptions) withDefaults() (SummaryOptions, error) {
	var errs []error
	for _, f := range []struct {
		name    string
		v       *int
		def, lo int
	}{
		{"ContextTokens", &o.ContextTokens, defaultContextTokens, minContextTokens},
		{"JoinBelow", &o.JoinBelow, defaultJoinBelow, 1},
		{"JoinTokens", &o.JoinTokens, defaultJoinTokens, 1},
		{"MaxTokens", &o.MaxTokens, prompt.DefaultSummaryTokens, 1},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v < f.lo || *f.v > maxTokens {
			errs = append(errs, &OptionError{Field: f.name, Value: *f.v, Want: fmt.Sprintf("%d to %d", f.lo, maxTokens)})
		}
	}
	return o, errors.Join(errs...)
}

// ModelSummarizer condenses descriptions with a chat model, in groups when they do not fit into one call
// (map-reduce). Every fragment reaches the model whole: groups are sized by what is sent, and a fragment
// over half the context is sent in pieces. It is safe for concurrent use when the chat is.
type ModelSummarizer struct {
	chat   llm.Chat
	tok    llm.Tokenizer
	o      SummaryOptions
	system string
}

// NewModelSummarizer returns a summarizer over chat; tok counts what is sent.
func NewModelSummarizer(chat llm.Chat, tok llm.Tokenizer, o SummaryOptions) (*ModelSummarizer, error) {
	if chat == nil || tok == nil {
		return nil, fmt.Errorf("%w: a model summarizer needs a chat model and a tokenizer", ErrConfig)
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &ModelSummarizer{chat: chat, tok: tok, o: o,
		system: prompt.SummarySystem(prompt.SummaryParams{Language: o.Language, MaxTokens: o.MaxTokens})}, nil
}

// ID names the model, the prompts and every option.
func (s *ModelSummarizer) ID() string {
	id := fmt.Sprintf("model(%s,%s,%q,%d,%d,%d,%d", s.chat.ID(), prompt.Hash(prompt.TemplateSummarySystem, prompt.TemplateSummaryUser),
		s.o.Language, s.o.ContextTokens, s.o.JoinBelow, s.o.JoinTokens, s.o.MaxTokens)
	if s.o.Temperature != nil {
		id += fmt.Sprintf(",t=%g", *s.o.Temperature)
	}
	return id + ")"
}

// Summarize implements Summarizer. No fragment gives an empty text and one is returned as it is, both
// without a call. Two or more are always summarised: whether that is worth a call is the caller's
// decision. n fragments in g groups cost g calls and those of summarising the g results, which are fewer
// than g. Errors are those of the chat, and a reply without text.
func (s *ModelSummarizer) Summarize(ctx context.Context, kind, name string, fragments []string) (string, error) {
	if len(fragments) < 2 {
		return strings.Join(fragments, ""), nil
	}
	items := s.fitting(fragments)
	for {
		groups := groupBySize(s.sizes(items), s.o.ContextTokens)
		next := make([]string, 0, len(groups))
		for _, g := range groups {
			if len(g) == 1 && len(groups) > 1 {
				next = append(next, items[g[0]])
				continue
			}
			text, err := s.call(ctx, kind, name, items[g[0]:g[0]+len(g)])
			if err != nil {
				return "", err
			}
			next = append(next, text)
		}
		if len(next) == 1 {
			return next[0], nil
		}
		if s.joinable(next) {
			return strings.Join(next, summarySeparator), nil
		}
		items = next
		for i := range items { // so that two of them fit and the number of items falls with every round
			items[i] = s.cut(items[i], s.o.ContextTokens/2)
		}
	}
}

// joinable tells whether group summaries may stand side by side.
func (s *ModelSummarizer) joinable(texts []string) bool {
	if len(texts) >= s.o.JoinBelow {
		return false
	}
	n := 0
	for _, t := range texts {
		n += s.tok.Count(t)
	}
	return n < s.o.JoinTokens
}

// call makes one summary.
func (s *ModelSummarizer) call(ctx context.Context, kind, name string, items []string) (string, error) {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = wrapFragment(item)
	}
	title := kind
	if kind != "" {
		title = strings.ToUpper(kind[:1]) + kind[1:]
	}
	reply, err := llm.Complete(ctx, s.chat, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: s.system},
			{Role: llm.User, Content: prompt.SummaryUser(title, name, strings.Join(lines, "\n"))},
		},
		Temperature: s.o.Temperature, Purpose: llm.PurposeSummary, Subject: name,
	})
	if err != nil {
		return "", fmt.Errorf("index: summarise %s %s: %w", kind, name, err)
	}
	text := sanitize(llm.StripReasoning(reply.Text))
	if text == "" {
		return "", fmt.Errorf("index: summarise %s %s: %w", kind, name, errEmptyReply)
	}
	return text, nil
}

// wrapFragment is a fragment as it is sent: one JSON object on one line.
func wrapFragment(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct{ Description string }{text}); err != nil {
		return text // a string always encodes
	}
	return strings.TrimSpace(b.String())
}

// size is the number of tokens of a fragment as it is sent, its line end included.
func (s *ModelSummarizer) size(text string) int { return s.tok.Count(wrapFragment(text) + "\n") }

func (s *ModelSummarizer) sizes(items []string) []int {
	out := make([]int, len(items))
	for i, item := range items {
		out[i] = s.size(item)
	}
	return out
}

// fitting returns the fragments with those over half the context in pieces.
func (s *ModelSummarizer) fitting(fragments []string) []string {
	var out []string
	for _, f := range fragments {
		for s.size(f) > s.o.ContextTokens/2 {
			piece := s.cut(f, s.o.ContextTokens/2)
			out = append(out, piece)
			f = strings.TrimSpace(f[len(piece):])
		}
		if f != "" {
			out = append(out, f)
		}
	}
	return out
}

// cut returns the longest beginning of text, found by halving between characters, whose size as sent is
// within limit, and at least one character. It prefers to end at white space in the last eighth.
func (s *ModelSummarizer) cut(text string, limit int) string {
	if s.size(text) <= limit {
		return text
	}
	low, high := 0, len(text) // text[:low] fits, text[:high] does not
	for high-low > 1 {
		mid := (low + high) / 2
		for mid > low && !utf8.RuneStart(text[mid]) {
			mid--
		}
		if mid == low {
			break // one character between them
		}
		if s.size(text[:mid]) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	if low == 0 {
		_, low = utf8.DecodeRuneInString(text)
	}
	if i := strings.LastIndexAny(text[:low], " \t\n"); i >= low-low/8 && i > 0 {
		low = i
	}
	return text[:low]
}

// groupBySize groups items in order so that each group is within limit and, the last excepted, has at
// least two items; every item is at most half the limit. It returns the items' numbers.
func groupBySize(sizes []int, limit int) [][]int {
	var groups [][]int
	var group []int
	total := 0
	for i, n := range sizes {
		if len(group) > 1 && total+n > limit {
			groups = append(groups, group)
			group, total = nil, 0
		}
		group, total = append(group, i), total+n
	}
	return append(groups, group)
}
