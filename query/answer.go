package query

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/glimdb/db/llm"
)

// userQueryMark separates the system message from the question in Result.Prompt.
const userQueryMark = "\n\n---User Query---\n\n"

// NoContextAnswer is the answer given without asking a model when there is no context to answer from. The
// mark at its end is for programs.
const NoContextAnswer = "Sorry, nothing was found that could answer this question. [no-context]"

// answerPolicy is part of answer cache keys: raise it when the way answers are made changes.
const answerPolicy = "1"

// finish ends the query as wanted: with what is there, the prompt, or an answer.
func (q *run) finish(ctx context.Context) error {
	res, o := q.res, q.opt
	if o.Want == WantContext || o.Want == WantData {
		return nil
	}
	if res.Outcome != OutcomeOK {
		q.refuse()
		return nil
	}
	system, err := q.system()
	if err != nil {
		return fmt.Errorf("query: system prompt: %w", err)
	}
	if o.Want == WantPrompt {
		res.Prompt = system + userQueryMark + q.question
		return nil
	}
	if q.e.answerer == nil {
		res.reason(ReasonNoModel, "no answer model is configured: context and data are the result")
		if o.Mode == Bypass {
			res.Outcome = OutcomeNoResult
		}
		return nil
	}
	pieces := q.answer(ctx, system)
	if o.Stream {
		res.Stream = pieces
		return nil
	}
	for _, err := range pieces {
		if err != nil {
			return err
		}
	}
	return nil
}

// refuse gives NoContextAnswer where a model would have answered: it never sees an empty context.
func (q *run) refuse() {
	if q.opt.Want == WantPrompt || q.e.answerer == nil {
		return
	}
	q.res.Answer = NoContextAnswer
	if q.opt.Stream {
		q.res.Stream = func(yield func(string, error) bool) { yield(NoContextAnswer, nil) }
	}
}

// system is the system message; in bypass mode the caller's own or none.
func (q *run) system() (string, error) {
	if q.opt.Mode == Bypass {
		return q.opt.Reply.SystemPrompt, nil
	}
	return systemPrompt(q.kg(), q.opt.Reply, q.res.Context)
}

func (q *run) messages(system string) []llm.Message {
	var m []llm.Message
	if system != "" {
		m = append(m, llm.Message{Role: llm.System, Content: system})
	}
	m = append(m, q.opt.Reply.History...)
	return append(m, llm.Message{Role: llm.User, Content: q.question})
}

// cachedAnswer is the stored form of an answer.
type cachedAnswer struct {
	Text   string     `json:"text"`
	Finish llm.Finish `json:"finish"`
}

// answerKey covers everything that shapes the answer: the context through the system message it is in,
// the question, the model, and the parameters. With history, and in bypass mode, no answer is cached.
func (q *run) answerKey(system string) string {
	o := q.opt
	if q.e.answerCache == nil || o.Mode == Bypass || len(o.Reply.History) > 0 {
		return ""
	}
	// keywords, history and delivery do not shape the answer beyond the context they led to
	o.HighKeywords, o.LowKeywords, o.Stream, o.Want, o.Routing = nil, nil, false, WantDefault, RoutingOptions{}
	params, err := json.Marshal(o)
	if err != nil {
		q.cacheFailed(fmt.Errorf("answer key: %w", err))
		return ""
	}
	return cacheKey("answer", answerPolicy, q.e.answerer.ID(), string(q.res.Ran), q.question, system, string(params))
}

// answer returns the stream of the answer's pieces. It completes the result as it ends.
func (q *run) answer(ctx context.Context, system string) iter.Seq2[string, error] {
	used := false
	return func(yield func(string, error) bool) {
		if used {
			yield("", ErrStreamUsed)
			return
		}
		used = true
		q.tell(StepAnswer)
		t := q.e.timer(StepAnswer)
		q.res.Reply.Model = q.e.answerer.ID()
		key := q.answerKey(system)
		if a, ok := q.readAnswer(ctx, key); ok {
			q.res.Usage.CachedCalls++
			q.res.Reply.Cached, q.res.Reply.Finish, q.res.Answer = true, a.Finish, a.Text
			t.note("cached")
			q.ended(t)
			yield(a.Text, nil)
			return
		}
		if q.generate(ctx, system, yield) {
			q.writeAnswer(ctx, key)
			q.ended(t)
		}
	}
}

// generate calls the model and hands its text on. It reports whether the reply came to its end; then the
// result holds the whole answer.
func (q *run) generate(ctx context.Context, system string, yield func(string, error) bool) bool {
	var text strings.Builder
	echo := echoFilter{prompt: system}
	hand := func(s string) bool {
		if s == "" {
			return true
		}
		text.WriteString(s)
		return yield(s, nil)
	}
	req := llm.Request{Messages: q.messages(system), Purpose: llm.PurposeAnswer}
	for d, err := range q.e.answerer.Generate(ctx, req) {
		if err != nil {
			yield("", q.e.upstream(ctx, StepAnswer, q.e.answerer.ID(), err))
			return false
		}
		q.res.Usage = q.res.Usage.Add(d.Usage)
		q.res.Reply.Cached = q.res.Reply.Cached || d.Cached
		if d.Finish != "" {
			q.res.Reply.Finish = d.Finish
		}
		if !hand(echo.next(d.Text)) {
			return false
		}
	}
	if !hand(echo.rest()) {
		return false
	}
	if strings.TrimSpace(text.String()) == "" {
		yield("", q.e.upstream(ctx, StepAnswer, q.e.answerer.ID(), ErrEmptyReply))
		return false
	}
	q.res.Answer = text.String()
	return true
}

// ended completes what is told about the answer.
func (q *run) ended(t *timer) {
	res := q.res
	if res.Reply.Finish == llm.FinishLength {
		res.reason(ReasonAnswerTruncated, "the answer was cut off by its token limit")
	}
	if q.opt.Mode != Bypass {
		res.Reply.UnknownCitations = unknownCitations(llm.StripReasoning(res.Answer), cited(res.Data.References))
		res.counted(ReasonUnknownCitation, len(res.Reply.UnknownCitations), "cited numbers that are no references")
	}
	q.record(t)
	res.Trace = Trace{Total: q.e.now().Sub(q.start), Steps: q.trace}
}

func (q *run) readAnswer(ctx context.Context, key string) (cachedAnswer, bool) {
	if key == "" {
		return cachedAnswer{}, false
	}
	v, ok, err := q.e.answerCache.Get(ctx, key)
	var a cachedAnswer
	if err == nil && ok {
		err = json.Unmarshal(v, &a)
	}
	if err != nil {
		q.cacheFailed(fmt.Errorf("read answer: %w", err))
		return cachedAnswer{}, false
	}
	return a, ok
}

// writeAnswer keeps a whole answer, never a truncated or filtered one.
func (q *run) writeAnswer(ctx context.Context, key string) {
	if key == "" || q.res.Reply.Finish == llm.FinishLength || q.res.Reply.Finish == llm.FinishFilter {
		return
	}
	v, err := json.Marshal(cachedAnswer{q.res.Answer, q.res.Reply.Finish})
	if err == nil {
		err = q.e.answerCache.Put(ctx, key, v)
	}
	if err != nil {
		q.cacheFailed(fmt.Errorf("write answer: %w", err))
	}
}

// echoFilter removes the prompt from the head of a reply that repeats it whole, as some local models do.
// It holds text back only while that is still possible.
type echoFilter struct {
	prompt string
	held   string
	passed bool
}

func (f *echoFilter) next(s string) string {
	if f.passed {
		return s
	}
	f.held += s
	if len(f.held) < len(f.prompt) && strings.HasPrefix(f.prompt, f.held) {
		return ""
	}
	f.passed = true
	if f.prompt != "" {
		if rest, ok := strings.CutPrefix(f.held, f.prompt); ok {
			return rest
		}
	}
	return f.held
}

// rest returns what is still held at the end of the reply.
func (f *echoFilter) rest() string {
	if f.passed {
		return ""
	}
	f.passed = true
	return f.held
}

// citation matches [n]; what follows tells it from a Markdown link.
var citation = regexp.MustCompile(`\[(\d{1,6})\]`)

// unknownCitations returns the cited numbers that are no references, in order of first appearance.
func unknownCitations(text string, refs []Reference) []string {
	known := make(map[string]bool, len(refs))
	for _, r := range refs {
		known[r.ID] = true
	}
	var out []string
	for _, m := range citation.FindAllStringSubmatchIndex(text, -1) {
		id := text[m[2]:m[3]]
		if link := strings.HasPrefix(text[m[1]:], "("); !link && !known[id] {
			known[id] = true // report it once
			out = append(out, id)
		}
	}
	return out
}
