package query

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func answering(rule llmtest.Rule) (*llmtest.Chat, func(*Config)) {
	rule.Purpose = llm.PurposeAnswer
	chat := llmtest.NewChat(rule)
	return chat, func(c *Config) { c.Answer = chat }
}

func TestWant(t *testing.T) {
	s := small(t)
	chat, configure := answering(llmtest.Rule{Text: "B does [1]."})
	e := s.engine(configure)
	o := with(given, func(o *Options) { o.Want = WantDefault })

	data := ask(t, e, question, with(o, func(o *Options) { o.Want = WantData }))
	if data.Context != "" || data.Prompt != "" || data.Answer != "" || len(data.Data.Entities) == 0 {
		t.Errorf("data: context %q, prompt %q, answer %q", data.Context, data.Prompt, data.Answer)
	}
	context := ask(t, e, question, with(o, func(o *Options) { o.Want = WantContext }))
	if context.Context == "" || context.Prompt != "" || context.Answer != "" {
		t.Errorf("context: context %q, prompt %q, answer %q", context.Context, context.Prompt, context.Answer)
	}
	prompt := ask(t, e, question, with(o, func(o *Options) { o.Want = WantPrompt }))
	if !strings.Contains(prompt.Prompt, context.Context) || !strings.HasSuffix(prompt.Prompt, userQueryMark+question) || prompt.Answer != "" {
		t.Errorf("prompt: %q, answer %q", prompt.Prompt, prompt.Answer)
	}
	if n := len(chat.Calls()); n != 0 {
		t.Fatalf("%d model calls although no answer was wanted", n)
	}
	r := ask(t, e, question, o)
	if r.Answer != "B does [1]." || r.Reply.Model != "fake/chat" || r.Reply.Finish != llm.FinishStop || r.Usage.Calls != 1 {
		t.Errorf("answer %q, reply %+v, usage %+v", r.Answer, r.Reply, r.Usage)
	}
	req := chat.Calls()[0]
	if len(req.Messages) != 2 || req.Messages[0].Role != llm.System || req.Messages[1] != (llm.Message{Role: llm.User, Content: question}) {
		t.Errorf("messages %+v", req.Messages)
	}
	if got := req.Messages[0].Content + userQueryMark + question; got != prompt.Prompt {
		t.Error("the prompt shown is not the prompt sent")
	}
}

func TestNoModel(t *testing.T) {
	e := small(t).engine()
	r := ask(t, e, question, with(given, func(o *Options) { o.Want = WantDefault }))
	if r.Outcome != OutcomeOK || r.Context == "" || !hasReason(r, ReasonNoModel) {
		t.Errorf("outcome %q, reasons %v: want context, and the reason for no answer", r.Outcome, r.Reasons)
	}
	if _, err := e.Query(context.Background(), question, Options{Want: WantAnswer}); !errors.Is(err, ErrNoModel) || !errors.Is(err, llm.ErrNoModel) {
		t.Errorf("an answer was wanted: %v, want ErrNoModel", err)
	}
}

func TestBypass(t *testing.T) {
	s := newStore(t, testDim)
	chat, configure := answering(llmtest.Rule{Text: "hello"})
	cache := &memCache{}
	e := s.engine(configure, func(c *Config) { c.AnswerCache = cache })
	history := []llm.Message{{Role: llm.User, Content: "x"}, {Role: llm.Assistant, Content: "y"}}
	for range 2 {
		r := ask(t, e, "  hi ", Options{Mode: Bypass, Reply: Reply{History: history, SystemPrompt: "Be {{kind}}."}})
		if r.Answer != "hello" || r.Reply.Cached || r.LSN != 0 || r.Data.Chunks == nil {
			t.Errorf("result %+v", r)
		}
	}
	want := []llm.Message{{Role: llm.System, Content: "Be {{kind}}."}, history[0], history[1], {Role: llm.User, Content: "hi"}}
	if got := chat.Calls()[1].Messages; !slices.Equal(got, want) {
		t.Errorf("messages %+v, want %+v", got, want)
	}
	if len(cache.m) != 0 || len(s.emb.Calls()) != 0 {
		t.Error("bypass touched the cache or the embedder")
	}
	if r := ask(t, s.engine(), "hi", Options{Mode: Bypass}); r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNoModel) {
		t.Errorf("without a model: outcome %q, reasons %v", r.Outcome, r.Reasons)
	}
}

func TestStream(t *testing.T) {
	s := small(t)
	chat, configure := answering(llmtest.Rule{Text: "B mends them [1], says [9].", Piece: 5})
	cache := &memCache{}
	e := s.engine(configure, func(c *Config) { c.AnswerCache = cache })
	o := with(given, func(o *Options) { o.Want, o.Stream = WantAnswer, true })

	r := ask(t, e, question, o)
	if len(chat.Calls()) != 0 || len(r.Data.References) != 1 || r.Answer != "" {
		t.Fatalf("before the loop: %d calls, %d references, answer %q", len(chat.Calls()), len(r.Data.References), r.Answer)
	}
	s.commit(func(w *writer) { w.chunk("x", 0, "x", "x", nil) }) // no snapshot is held while the model talks
	n := 0
	var sb strings.Builder
	for piece, err := range r.Stream {
		check(t, err)
		sb.WriteString(piece)
		n++
	}
	if sb.String() != r.Answer || r.Answer != "B mends them [1], says [9]." || n < 2 {
		t.Errorf("%d pieces %q, answer %q", n, sb.String(), r.Answer)
	}
	if !slices.Equal(r.Reply.UnknownCitations, []string{"9"}) || !hasReason(r, ReasonUnknownCitation) {
		t.Errorf("unknown citations %v, reasons %v", r.Reply.UnknownCitations, r.Reasons)
	}
	if last := r.Trace.Steps[len(r.Trace.Steps)-1]; last.Name != StepAnswer {
		t.Errorf("the trace ends with %q, want the answer", last.Name)
	}
	for _, err := range r.Stream {
		if !errors.Is(err, ErrStreamUsed) {
			t.Errorf("second loop: %v, want ErrStreamUsed", err)
		}
	}
	// a clean end went into the cache: a hit comes as one piece
	n = 0
	for piece, err := range ask(t, e, question, o).Stream {
		check(t, err)
		if n++; piece != r.Answer {
			t.Errorf("cached piece %q", piece)
		}
	}
	if n != 1 || len(chat.Calls()) != 1 {
		t.Errorf("%d pieces and %d calls, want one of each", n, len(chat.Calls()))
	}
}

// TestProgress: each step that may take long is told when it begins, once and in order, and the answer of a stream when it
// is read.
func TestProgress(t *testing.T) {
	s := small(t)
	_, configure := answering(llmtest.Rule{Text: "B does [1]."})
	e := s.engine(configure, func(c *Config) { c.Reranker = &seeing{} })
	for _, c := range []struct {
		mode Mode
		want []Step
	}{
		{Local, []Step{StepKeywords, StepEmbed, StepEntities, StepRerank, StepAnswer}},
		{Global, []Step{StepKeywords, StepEmbed, StepRelations, StepRerank, StepAnswer}},
		{Hybrid, []Step{StepKeywords, StepEmbed, StepEntities, StepRelations, StepRerank, StepAnswer}},
		{Mix, []Step{StepKeywords, StepEmbed, StepEntities, StepRelations, StepChunks, StepRerank, StepAnswer}},
		{Naive, []Step{StepEmbed, StepChunks, StepRerank, StepAnswer}},
		{Bypass, []Step{StepAnswer}},
	} {
		var told []Step
		o := with(given, func(o *Options) {
			o.Mode, o.Want, o.Progress = c.mode, WantAnswer, func(s Step) { told = append(told, s) }
		})
		ask(t, e, question, o)
		if !slices.Equal(told, c.want) {
			t.Errorf("%s: told %v, want %v", c.mode, told, c.want)
		}
		told, o.Stream = nil, true
		r := ask(t, e, question, o)
		if want := c.want[:len(c.want)-1]; !slices.Equal(told, want) {
			t.Errorf("%s, streamed: told %v before the stream is read, want %v", c.mode, told, want)
		}
		for _, err := range r.Stream {
			check(t, err)
		}
		if !slices.Equal(told, c.want) {
			t.Errorf("%s, streamed: told %v, want %v", c.mode, told, c.want)
		}
	}
}

func TestStreamBroken(t *testing.T) {
	s := small(t)
	o := with(given, func(o *Options) { o.Want, o.Stream = WantAnswer, true })
	cache := &memCache{}

	_, configure := answering(llmtest.Rule{Text: strings.Repeat("word ", 50), Piece: 5})
	e := s.engine(configure, func(c *Config) { c.AnswerCache = cache })
	for piece, err := range ask(t, e, question, o).Stream {
		if err != nil || piece == "" {
			t.Errorf("first piece %q, %v", piece, err)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := e.Query(ctx, question, o)
	check(t, err)
	var last error
	for _, err := range r.Stream {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled stream ends with %v", last)
	}
	down := errors.New("line dropped")
	_, configure = answering(llmtest.Rule{Text: "half an answer", Err: down})
	e = s.engine(configure, func(c *Config) { c.AnswerCache = cache })
	got := ""
	for piece, err := range ask(t, e, question, o).Stream {
		got, last = got+piece, err
	}
	var up *UpstreamError
	if !errors.As(last, &up) || up.Step != StepAnswer || !errors.Is(last, down) || got != "half an answer" {
		t.Errorf("a failing model: %q, %v", got, last)
	}
	if len(cache.m) != 0 {
		t.Error("an unfinished answer was cached")
	}
}

func TestAnswerFailures(t *testing.T) {
	s := small(t)
	o := with(given, func(o *Options) { o.Want = WantAnswer })
	down := errors.New("down")
	for name, c := range map[string]struct {
		rule llmtest.Rule
		is   error
	}{
		"error":       {llmtest.Rule{Err: down}, down},
		"empty reply": {llmtest.Rule{Text: " \n"}, ErrEmptyReply},
	} {
		_, configure := answering(c.rule)
		cache := &memCache{}
		e := s.engine(configure, func(cfg *Config) { cfg.AnswerCache = cache })
		r, err := e.Query(context.Background(), question, o)
		var up *UpstreamError
		if !errors.Is(err, c.is) || !errors.As(err, &up) || up.Step != StepAnswer {
			t.Errorf("%s: %v, want an UpstreamError that wraps the cause", name, err)
		}
		if r == nil || r.Context == "" || r.Answer != "" {
			t.Errorf("%s: the retrieved context must accompany the error", name)
		}
		if len(cache.m) != 0 {
			t.Errorf("%s: cached", name)
		}
	}
	_, configure := answering(llmtest.Rule{Text: "cut off in the", Finish: llm.FinishLength})
	cache := &memCache{}
	r := ask(t, s.engine(configure, func(c *Config) { c.AnswerCache = cache }), question, o)
	if r.Answer != "cut off in the" || !hasReason(r, ReasonAnswerTruncated) || len(cache.m) != 0 {
		t.Errorf("truncated: answer %q, reasons %v, %d cached", r.Answer, r.Reasons, len(cache.m))
	}
	keyword := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Err: down})
	nothing, err := s.engine(func(c *Config) { c.Keyword = keyword }).Query(context.Background(), question, Options{})
	var up *UpstreamError
	if nothing != nil || !errors.As(err, &up) || up.Step != StepKeywords {
		t.Errorf("keyword model down: %v, %v, want an UpstreamError, never an empty result", nothing, err)
	}
}

func TestCacheFailureIsNoObstacle(t *testing.T) {
	s := small(t)
	chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high": ["hl"], "low": ["ll"]}`}, llmtest.Rule{Text: "fine"})
	broken := &memCache{fail: errors.New("no space")}
	r := ask(t, s.engine(func(c *Config) { c.Keyword, c.Answer, c.KeywordCache, c.AnswerCache = chat, chat, broken, broken }), question, Options{})
	if r.Answer != "fine" || !hasReason(r, ReasonCacheFailed) {
		t.Errorf("answer %q, reasons %v", r.Answer, r.Reasons)
	}
}

func TestEchoFilter(t *testing.T) {
	for _, c := range []struct{ prompt, reply, want string }{
		{"You answer.", "You answer.Yes.", "Yes."},
		{"You answer.", "You are right.", "You are right."},
		{"You answer.", "You", "You"},
		{"You answer.", "Yes.", "Yes."},
		{"", "Yes.", "Yes."},
	} {
		for size := 1; size <= len(c.reply); size++ {
			f := echoFilter{prompt: c.prompt}
			got := ""
			for i := 0; i < len(c.reply); i += size {
				got += f.next(c.reply[i:min(i+size, len(c.reply))])
			}
			if got += f.rest(); got != c.want {
				t.Errorf("reply %q in pieces of %d: %q, want %q", c.reply, size, got, c.want)
			}
		}
	}
}

func TestUnknownCitations(t *testing.T) {
	refs := []Reference{{ID: "1"}, {ID: "2"}}
	for text, want := range map[string][]string{
		"A [1], B [2].":                  nil,
		"A [3], B [0], again [3].":       {"3", "0"},
		"[7](https://example.org) [x]":   nil,
		"### References\n* [1] a\n* [4]": {"4"},
		"none":                           nil,
	} {
		if got := unknownCitations(text, refs); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestTrace(t *testing.T) {
	s := small(t)
	var now time.Time
	_, configure := answering(llmtest.Rule{Text: "fine"})
	e := s.engine(configure, func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Reranker = llmtest.NewReranker()
	})
	tree := func(o Options) string {
		var sb strings.Builder
		check(t, ask(t, e, question, o).Explain(&sb))
		// The wording of the prompt is not this test's business, and the last bits of a cosine differ between kernels.
		got := regexp.MustCompile(`tokens \d+`).ReplaceAllString(sb.String(), "tokens N")
		return regexp.MustCompile(`scores [^ ]+ to [^ \n]+`).ReplaceAllString(got, "scores X to Y")
	}
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"everything": {with(given, func(o *Options) { o.Want = WantAnswer }), `mix: ok in 0s, at commit 1
├─ keywords              0s  high 1, low 1 (given)
├─ prompt                0s  tokens N
├─ embed                 0s  texts 3
├─ retrieve              0s  entities 5, relations 5, chunks 4
│  ├─ names              0s  look ups 36, named 0, entities 0
│  ├─ entities           0s  hits 3, entities 3, relations 4, scores X to Y
│  ├─ relations          0s  hits 2, relations 2, entities 4, scores X to Y
│  └─ chunks             0s  hits 4, scores X to Y
├─ budget                0s  entities 5, relations 5
├─ pick                  0s  from entities 6, from relations 2, merged 8 of 12
├─ read                  0s  chunks 8
├─ rerank                0s  scored 8, scores X to Y
├─ context               0s  above score 8, within top k 8, chunks 8, references 1, tokens N of 30000
└─ answer                0s
`},
		"cut, and another way": {Options{Mode: Local, HighKeywords: given.HighKeywords, ChunkTopK: 2, NoRerank: true, Want: WantData}, `local, ran as global: ok in 0s, at commit 1
├─ keywords              0s  high 1, low 0 (given)
│     global instead of local: there are no low keywords: the high ones search the relation index
├─ prompt                0s  tokens N
├─ embed                 0s  texts 2
├─ retrieve              0s  entities 4, relations 2, chunks 0
│  └─ relations          0s  hits 2, relations 2, entities 4, scores X to Y
├─ budget                0s  entities 4, relations 2
├─ pick                  0s  from entities 5, from relations 1, merged 6
├─ read                  0s  chunks 2
└─ context               0s  above score 6, within top k 2 of 6, chunks 2, references 1, tokens N of 30000
`},
	} {
		if got := tree(c.o); got != c.want {
			t.Errorf("%s: the tree is\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
