package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/internal/testkit/replay"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// charTokens has one token for each character.
type charTokens struct{}

func (charTokens) ID() string            { return "chars" }
func (charTokens) Count(text string) int { return utf8.RuneCountInString(text) }
func (charTokens) Encode(dst []int, text string) []int {
	for _, r := range text {
		dst = append(dst, int(r))
	}
	return dst
}
func (charTokens) Decode(tokens []int) []byte {
	var b []byte
	for _, r := range tokens {
		b = utf8.AppendRune(b, rune(r))
	}
	return b
}

func extractor(t *testing.T, chat llm.Chat, o ModelOptions) *ModelExtractor {
	t.Helper()
	x, err := NewModelExtractor(chat, charTokens{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var aChunk = ExtractInput{ChunkID: "c1", Text: "Alice met Bob."}

func TestModelExtractor(t *testing.T) {
	chat := llmtest.NewChat(
		llmtest.Rule{Purpose: llm.PurposeExtract, Text: "<think>entity<|#|>No<|#|>person<|#|>no</think>entity<|#|>Alice<|#|>person<|#|>a\n<|COMPLETE|>", Usage: llm.Usage{PromptTokens: 10, CompletionTokens: 3}},
		llmtest.Rule{Purpose: llm.PurposeGlean, Text: "entity<|#|>Bob<|#|>person<|#|>b\n<|COMPLETE|>", Usage: llm.Usage{PromptTokens: 20, CompletionTokens: 4}},
	)
	out, err := extractor(t, chat, ModelOptions{Language: "French"}).Extract(context.Background(), aChunk)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(out); !slices.Equal(got, []string{"E Alice/person: a", "E Bob/person: b"}) {
		t.Errorf("got %q", got)
	}
	if r := out.Report; r.Calls != 2 || r.PromptTokens != 30 || r.CompletionTokens != 7 || r.Summary() != "" || len(r.Warnings) > 0 {
		t.Errorf("report %+v", r)
	}
	calls := chat.Calls()
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	p := prompt.ExtractParams{Language: "French"}
	first := []llm.Message{{Role: llm.System, Content: prompt.ExtractSystem(p)}, {Role: llm.User, Content: prompt.ExtractUser(p, "", aChunk.Text)}}
	if !slices.Equal(calls[0].Messages, first) || calls[0].Subject != "c1" {
		t.Errorf("extraction asked %+v", calls[0])
	}
	second := append(first,
		llm.Message{Role: llm.Assistant, Content: "entity<|#|>Alice<|#|>person<|#|>a\n<|COMPLETE|>"},
		llm.Message{Role: llm.User, Content: prompt.Glean(p)})
	if !slices.Equal(calls[1].Messages, second) {
		t.Errorf("gleaning asked %+v", calls[1].Messages)
	}
}

func TestGleaningRounds(t *testing.T) {
	for _, tc := range []struct {
		name           string
		o              ModelOptions
		gleans, want   int
		warned, cutOff bool
	}{
		{"default", ModelOptions{}, 1, 2, false, false},
		{"none", ModelOptions{Gleaning: -1}, 0, 1, false, false},
		{"three", ModelOptions{Gleaning: 3}, 3, 4, false, false},
		{"until nothing is found", ModelOptions{Gleaning: 9}, 4, 4, false, false},
		{"over the input limit", ModelOptions{MaxInputTokens: 100}, 0, 1, true, false},
		{"limit off", ModelOptions{MaxInputTokens: -1}, 1, 2, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := 0
			chat := llmtest.NewChat(llmtest.Rule{Func: func(llm.Request) (string, error) {
				if n++; n > 4 {
					return prompt.EndMarker, nil
				}
				return fmt.Sprintf("entity<|#|>E %d<|#|>person<|#|>d\n%s", n, prompt.EndMarker), nil
			}})
			out, err := extractor(t, chat, tc.o).Extract(context.Background(), aChunk)
			if err != nil {
				t.Fatal(err)
			}
			if chat.Count(llm.PurposeGlean) != tc.gleans || len(out.Entities) != tc.want || (len(out.Report.Warnings) > 0) != tc.warned {
				t.Errorf("%d rounds, %d entities, warnings %q", chat.Count(llm.PurposeGlean), len(out.Entities), out.Report.Warnings)
			}
		})
	}
}

func TestHC09_ReplyCutOff(t *testing.T) {
	chat := llmtest.NewChat(llmtest.Rule{Text: "", Finish: llm.FinishLength})
	out, err := extractor(t, chat, ModelOptions{}).Extract(context.Background(), aChunk)
	if err != nil || !out.Report.Truncated || len(out.Report.Warnings) != 1 || chat.Count("") != 1 {
		t.Errorf("%+v, %v, %d calls", out.Report, err, chat.Count(""))
	}
	chat = llmtest.NewChat(llmtest.Rule{Text: "entity<|#|>Alice<|#|>person<|#|>a\nentity<|#|>Bo", Finish: llm.FinishLength})
	out, err = extractor(t, chat, ModelOptions{Gleaning: -1}).Extract(context.Background(), aChunk)
	if err != nil || len(out.Entities) != 1 || out.Report.Summary() != "1 dropped (1 field_count); reply cut off by its token limit" {
		t.Errorf("%q, %+v, %v", show(out), out.Report, err)
	}
	chat = llmtest.NewChat(llmtest.Rule{Text: "<think>maybe\nentity<|#|>Bob<|#|>person<|#|>b\nor", Finish: llm.FinishLength})
	out, err = extractor(t, chat, ModelOptions{}).Extract(context.Background(), aChunk)
	if err != nil || len(out.Entities) != 0 || !out.Report.Truncated || chat.Count("") != 1 {
		t.Errorf("%q, %+v, %v", show(out), out.Report, err)
	}
	chat = llmtest.NewChat(llmtest.Rule{Text: "I cannot help with that.", Finish: llm.FinishFilter})
	out, err = extractor(t, chat, ModelOptions{Gleaning: -1}).Extract(context.Background(), aChunk)
	if err != nil || len(out.Report.Warnings) != 1 {
		t.Errorf("%+v, %v", out.Report, err)
	}
}

func TestModelExtractorErrors(t *testing.T) {
	down := errors.New("down")
	chat := llmtest.NewChat(
		llmtest.Rule{Purpose: llm.PurposeExtract, Text: "entity<|#|>Alice<|#|>person<|#|>a"},
		llmtest.Rule{Purpose: llm.PurposeGlean, Func: func(llm.Request) (string, error) { return "", down }})
	out, err := extractor(t, chat, ModelOptions{}).Extract(context.Background(), aChunk)
	if !errors.Is(err, down) || !strings.Contains(err.Error(), "c1") || len(out.Entities) > 0 {
		t.Errorf("%v, %q", err, show(out))
	}
	for _, o := range []ModelOptions{{MaxRecords: -1}, {MaxTokens: -1}, {MaxTokens: math.MaxInt}, {Format: 9}, {Rule: 9}} {
		if _, err := NewModelExtractor(chat, charTokens{}, o); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := NewModelExtractor(nil, charTokens{}, ModelOptions{}); !errors.Is(err, ErrConfig) {
		t.Errorf("no chat: %v", err)
	}
}

func TestModelExtractorID(t *testing.T) {
	hot := 0.7
	seen := map[string]bool{}
	for _, o := range []ModelOptions{{}, {Language: "French"}, {Types: "ship: a vessel"}, {MaxRecords: 9}, {MaxEntities: 9}, {Gleaning: 2}, {MaxInputTokens: 9},
		{MaxTokens: 9}, {Temperature: &hot}, {Format: FormatTuples}, {Rule: GleanNew}} {
		id := extractor(t, llmtest.NewChat(), o).ID()
		if seen[id] {
			t.Errorf("%+v: ID %s twice", o, id)
		}
		seen[id] = true
	}
	if a, b := extractor(t, llmtest.NewChat(), ModelOptions{}), extractor(t, llmtest.NewChat(), ModelOptions{Gleaning: 1}); a.ID() != b.ID() {
		t.Error("a default spelled out must not change the ID")
	}
}

func TestNamesOfOtherExtractors(t *testing.T) {
	raw := Extraction{
		Entities:  []EntityRecord{{Name: "“Orbit  Desk” "}, {Name: "7"}},
		Relations: []RelationRecord{{Src: "'Ada'", Dst: "\x1b[1mBrin\x1b[0m"}},
	}
	x := normalized(fixedExtractor{raw})
	out, err := x.Extract(context.Background(), aChunk)
	if err != nil || out.Entities[0].Name != "Orbit Desk" || out.Entities[1].Name != "" || out.Relations[0].Src != "Ada" || out.Relations[0].Dst != "Brin" {
		t.Errorf("got %+v, %v", out, err)
	}
	if raw.Entities[1].Name != "7" || x.ID() != "fixed" {
		t.Error("the extractor's own slice or ID was changed")
	}
	if m := extractor(t, llmtest.NewChat(), ModelOptions{}); normalized(m) != Extractor(m) {
		t.Error("the model extractor normalises by itself")
	}
}

type fixedExtractor struct{ x Extraction }

func (fixedExtractor) ID() string { return "fixed" }
func (f fixedExtractor) Extract(context.Context, ExtractInput) (Extraction, error) {
	return f.x, nil
}

// TestReplayedRun drives the extractor with a recorded run.
func TestReplayedRun(t *testing.T) {
	folder, want := loadReplay(t, "lightrag-carol")
	chat := folder.Chat()
	x := extractor(t, chat, ModelOptions{Format: FormatTuples, Rule: GleanNew, MaxInputTokens: -1})
	got := &replay.Graph{Nodes: map[string]replay.Node{}, Edges: map[[2]string]replay.Edge{}}
	for _, c := range folder.Chunks {
		out, err := x.Extract(context.Background(), ExtractInput{ChunkID: c.ID, Text: c.Text})
		if err != nil {
			t.Fatal(err)
		}
		addToGraph(got, map[string][]string{}, c.ID, false, out)
	}
	if len(got.Nodes) != 322 || len(got.Edges) != 359 || chat.Calls(llm.PurposeExtract) != 42 || chat.Calls(llm.PurposeGlean) != 42 {
		t.Errorf("%d nodes, %d edges, %d and %d calls", len(got.Nodes), len(got.Edges), chat.Calls(llm.PurposeExtract), chat.Calls(llm.PurposeGlean))
	}
	for pair, w := range want.Edges {
		if g := got.Edges[pair]; g.Weight != w.Weight || !slices.Equal(g.Keywords, w.Keywords) || !slices.Equal(g.Sources, w.Sources) {
			t.Errorf("edge %q: got %+v, want %+v", pair, g, w)
		}
	}
}

// TestSummaryCalls has the reference's decisions, with what is sent counted as sent.
func TestSummaryCalls(t *testing.T) {
	for _, tc := range []struct {
		name  string
		sizes []int
		calls int
	}{
		{"none", nil, 0},
		{"one", []int{10}, 0},
		{"two", []int{10, 10}, 1},
		{"eight", repeat(10, 8), 1},
		{"over the context", repeat(5000, 3), 2},
		{"two groups and a rest", repeat(5000, 5), 3},
		{"short group summaries stand side by side", repeat(3000, 6), 2},
		{"many short ones", repeat(119, 100), 2},
		{"many tiny ones", repeat(20, 600), 2},
		{"two larger than the context together", repeat(7000, 2), 2},
		{"larger than the context", repeat(13000, 3), 5},
		{"a large one first", []int{11900, 500, 10, 10}, 2},
		{"a hundred groups", repeat(5900, 200), 101},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var fragments []string
			for i, n := range tc.sizes {
				fragments = append(fragments, strings.Repeat(string(rune('a'+i%26)), n-1)+"|")
			}
			sent := ""
			chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeSummary, Func: func(req llm.Request) (string, error) {
				list := fenced(req.Messages[1].Content)
				if n := utf8.RuneCountInString(list); n > defaultContextTokens {
					t.Errorf("a call with %d tokens of descriptions", n)
				}
				sent += list
				return strings.Repeat("s", 100), nil
			}})
			s, err := NewModelSummarizer(chat, charTokens{}, SummaryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := s.Summarize(context.Background(), "entity", "Ann", fragments)
			if err != nil || (text == "") != (len(tc.sizes) == 0) {
				t.Errorf("got %q, %v", text, err)
			}
			if chat.Count("") != tc.calls {
				t.Errorf("%d calls, want %d", chat.Count(""), tc.calls)
			}
			if tc.calls > 0 && strings.Count(sent, "|") < len(tc.sizes) {
				t.Errorf("%d of %d descriptions reached the model", strings.Count(sent, "|"), len(tc.sizes))
			}
			total := 0
			for _, n := range tc.sizes {
				total += n - 1
			}
			if letters := len(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r
				}
				return -1
			}, strings.ReplaceAll(sent, "Description", ""))); tc.calls > 0 && letters < total {
				t.Errorf("%d of %d letters reached the model", letters, total)
			}
		})
	}
}

func repeat(size, n int) []int { return slices.Repeat([]int{size}, n) }

// fenced returns what stands between the fences of a summary prompt.
func fenced(message string) string {
	_, rest, _ := strings.Cut(message, "```\n")
	list, _, _ := strings.Cut(rest, "\n```")
	return list
}

func TestSummarizer(t *testing.T) {
	chat := llmtest.NewChat(llmtest.Rule{Text: "<think>hm</think> Ann mills\x00 flour. "})
	s, err := NewModelSummarizer(chat, charTokens{}, SummaryOptions{Language: "Dutch"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Summarize(context.Background(), "relation", "(Ann, Mill)", []string{`She said "no" & <left>.`, "two\nlines"})
	if err != nil || text != "Ann mills flour." {
		t.Errorf("got %q, %v", text, err)
	}
	m := chat.Calls()[0].Messages
	if !strings.Contains(m[0].Content, "Dutch") || !strings.Contains(m[1].Content, "Relation: (Ann, Mill)") ||
		fenced(m[1].Content) != `{"Description":"She said \"no\" & <left>."}`+"\n"+`{"Description":"two\nlines"}` {
		t.Errorf("asked %q", m)
	}
	chat = llmtest.NewChat(llmtest.Rule{Text: "<think>hm</think>"})
	if s, err = NewModelSummarizer(chat, charTokens{}, SummaryOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Summarize(context.Background(), "entity", "Ann", []string{"a", "b"}); !errors.Is(err, errEmptyReply) {
		t.Errorf("empty reply: %v", err)
	}
	for _, o := range []SummaryOptions{{ContextTokens: 3}, {JoinBelow: -1}, {MaxTokens: -1}, {ContextTokens: math.MaxInt}} {
		if _, err := NewModelSummarizer(chat, charTokens{}, o); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestSummaryOfLongSummaries ends although the model answers with more than it was given.
func TestSummaryOfLongSummaries(t *testing.T) {
	chat := llmtest.NewChat(llmtest.Rule{Func: func(req llm.Request) (string, error) {
		return strings.Repeat("длинно ", 3000), nil
	}})
	s, err := NewModelSummarizer(chat, charTokens{}, SummaryOptions{ContextTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	fragments := make([]string, 64)
	for i := range fragments {
		fragments[i] = strings.Repeat("é", 30)
	}
	if _, err := s.Summarize(context.Background(), "entity", "Ann", fragments); err != nil {
		t.Fatal(err)
	}
	if n := chat.Count(""); n > 128 {
		t.Errorf("%d calls for 64 fragments", n)
	}
}
