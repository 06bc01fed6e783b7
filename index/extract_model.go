package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// ModelOptions configure a ModelExtractor. The zero value is LightRAG's default configuration.
type ModelOptions struct {
	// Language of descriptions and keywords; empty means English.
	Language string
	// Types is the guidance on entity types given to the model, one "name: explanation" a line; empty
	// means eleven general types and other.
	Types string
	// MaxRecords and MaxEntities are the most records of a reply asked for; 0 means 100 and 40. A reply
	// with more is used whole.
	MaxRecords, MaxEntities int
	// Gleaning is how often the model is asked for what it missed; 0 means once, negative never. Rounds
	// end early when one brings nothing.
	Gleaning int
	// MaxInputTokens bounds the input of a gleaning call; a chunk over it is not gleaned and the report
	// says so. 0 means 20480, negative no bound.
	MaxInputTokens int
	// MaxTokens bounds a reply; 0 leaves it to the provider.
	MaxTokens int
	// Temperature is left to the provider when nil.
	Temperature *float64
	// Format and Rule are for replaying replies that LightRAG recorded; leave them 0 otherwise, since the
	// prompts ask for FormatLines.
	Format ReplyFormat
	Rule   GleanRule
}

// maxReplyExcerpt is how many characters of a reply without records its warning quotes.
const maxReplyExcerpt = 80

// Defaults of ModelOptions.
const (
	defaultGleaning       = 1
	defaultMaxInputTokens = 20480
)

func (o ModelOptions) withDefaults() (ModelOptions, error) {
	if o.Gleaning == 0 {
		o.Gleaning = defaultGleaning
	}
	if o.MaxInputTokens == 0 {
		o.MaxInputTokens = defaultMaxInputTokens
	}
	var errs []error
	for _, f := range []struct {
		name string
		v    int
	}{{"MaxRecords", o.MaxRecords}, {"MaxEntities", o.MaxEntities}, {"MaxTokens", o.MaxTokens}} {
		if f.v < 0 || f.v > maxTokens {
			errs = append(errs, &OptionError{Field: f.name, Value: f.v, Want: fmt.Sprintf("0 to %d", maxTokens)})
		}
	}
	if o.Format > FormatTuplesUpper {
		errs = append(errs, &OptionError{Field: "Format", Value: uint8(o.Format), Want: "a known format"})
	}
	if o.Rule > GleanAppend {
		errs = append(errs, &OptionError{Field: "Rule", Value: uint8(o.Rule), Want: "a known rule"})
	}
	return o, errors.Join(errs...)
}

// ModelExtractor asks a chat model for the records of a chunk: one call, then the gleaning rounds, which
// see the call and its answer. The system message is the same for every chunk, so providers can cache it.
//
// It neither retries nor caches: decorate the chat. It is safe for concurrent use when the chat is.
type ModelExtractor struct {
	chat   llm.Chat
	tok    llm.Tokenizer
	o      ModelOptions
	params prompt.ExtractParams
	parse  ParseOptions
	system string
	id     string
}

// NewModelExtractor returns an extractor over chat; tok counts the input of gleaning calls.
func NewModelExtractor(chat llm.Chat, tok llm.Tokenizer, o ModelOptions) (*ModelExtractor, error) {
	if chat == nil || tok == nil {
		return nil, fmt.Errorf("%w: a model extractor needs a chat model and a tokenizer", ErrConfig)
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	x := &ModelExtractor{
		chat:   chat,
		tok:    tok,
		o:      o,
		params: prompt.ExtractParams{Language: o.Language, Types: o.Types, MaxRecords: o.MaxRecords, MaxEntities: o.MaxEntities},
		parse:  ParseOptions{Format: o.Format, Types: typeNames(o.Types)},
	}
	x.system = prompt.ExtractSystem(x.params)
	settings, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("index: model extractor: %w", err)
	}
	sum := sha256.Sum256(append(settings, prompt.ExtractHash()...))
	x.id = "model(" + chat.ID() + "," + hex.EncodeToString(sum[:8]) + ")"
	return x, nil
}

// ID names the model, and by a hash the prompts and every option.
func (x *ModelExtractor) ID() string { return x.id }

// Extract implements Extractor. Errors are those of the chat, with the chunk's id; a reply without
// records is none, the report says what happened. A reply cut off by its token limit is used as far as it
// goes, and marked.
func (x *ModelExtractor) Extract(ctx context.Context, in ExtractInput) (Extraction, error) {
	messages := []llm.Message{
		{Role: llm.System, Content: x.system},
		{Role: llm.User, Content: prompt.ExtractUser(x.params, "", in.InContext())},
	}
	text, out, err := x.ask(ctx, llm.PurposeExtract, in.ChunkID, messages)
	if err != nil {
		return Extraction{}, err
	}
	for round := 0; round < x.o.Gleaning && text != ""; round++ {
		messages = append(messages,
			llm.Message{Role: llm.Assistant, Content: text},
			llm.Message{Role: llm.User, Content: prompt.Glean(x.params)})
		if n := x.tokens(messages); x.o.MaxInputTokens > 0 && n > x.o.MaxInputTokens {
			out.Report.Warnings = append(out.Report.Warnings,
				fmt.Sprintf("not gleaned: the call has %d tokens, the limit is %d", n, x.o.MaxInputTokens))
			break
		}
		var more Extraction
		if text, more, err = x.ask(ctx, llm.PurposeGlean, in.ChunkID, messages); err != nil {
			return Extraction{}, err
		}
		out = mergeGleaned(out, more, x.o.Rule)
		if len(more.Entities)+len(more.Relations) == 0 {
			break
		}
	}
	return out, nil
}

// ask makes one call and reads the reply, which is returned without reasoning.
func (x *ModelExtractor) ask(ctx context.Context, purpose llm.Purpose, chunk string, messages []llm.Message) (string, Extraction, error) {
	first := purpose == llm.PurposeExtract
	req := llm.Request{Messages: messages, MaxTokens: x.o.MaxTokens, Temperature: x.o.Temperature, Purpose: purpose, Subject: chunk}
	if first { // that nothing was missed may be said in any words
		req.Usable = func(reply string) bool {
			_, ok := readReply(llm.StripReasoning(reply), x.parse)
			return ok
		}
	}
	reply, err := llm.Complete(ctx, x.chat, req)
	if err != nil {
		return "", Extraction{}, fmt.Errorf("index: %s chunk %s: %w", purpose, chunk, err)
	}
	text := llm.StripReasoning(reply.Text)
	if reply.Finish == llm.FinishLength && strings.HasPrefix(text, "<think>") {
		text = "" // cut off while thinking: records in there are drafts
	}
	out, ok := readReply(text, x.parse)
	r := &out.Report
	r.Unusable = first && !ok && reply.Finish != llm.FinishLength || reply.Finish == llm.FinishFilter
	r.Calls, r.CachedCalls = reply.Usage.Calls, reply.Usage.CachedCalls
	r.PromptTokens, r.CompletionTokens = reply.Usage.PromptTokens, reply.Usage.CompletionTokens
	if r.Calls+r.CachedCalls == 0 { // a model that does not count
		r.Calls = 1
	}
	switch {
	case reply.Finish == llm.FinishLength:
		r.Truncated = true
		delete(r.Repaired, RepairEndMark) // it could not come
		if text == "" {
			r.Warnings = append(r.Warnings, "the model's reply was cut off before it began")
		}
	case reply.Finish == llm.FinishFilter:
		r.Warnings = append(r.Warnings, "the model's reply was stopped by a content filter")
	case first && text == "":
		r.Warnings = append(r.Warnings, "the model's reply was empty")
	case first && !ok:
		r.Warnings = append(r.Warnings, "the model's reply has no records: "+excerpt(collapse(text), 0, maxReplyExcerpt))
	}
	return text, out, nil
}

func (x *ModelExtractor) tokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += x.tok.Count(m.Content)
	}
	return n
}

// typeNames reads the names of a guidance text: what stands before the colon of each line, or all parts
// of a line without one, separated by commas.
func typeNames(guidance string) []string {
	var out []string
	for line := range strings.Lines(guidance) {
		names, _, _ := strings.Cut(line, ":")
		for _, name := range nonEmpty(names, ",") {
			out = append(out, strings.TrimSpace(strings.TrimLeft(name, "-*• ")))
		}
	}
	return out
}

// errEmptyReply is a reply without text where one is needed.
var errEmptyReply = errors.New("the model's reply is empty")
