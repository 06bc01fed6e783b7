package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
)

// chatting runs a session over input and returns the results of its questions.
func chatting(t *testing.T, dir, url, input string) (results []query.Result, code int, errs string) {
	t.Helper()
	vars := map[string]string{"GLIM_DB": dir, "GLIM_BASE_URL": url + "/v1", "GLIM_CHAT_MODEL": "fake", "GLIM_API_KEY": "secret", "GLIM_RETRIES": "0"}
	var out, errw bytes.Buffer
	code = run(context.Background(), []string{"chat", "--json"}, strings.NewReader(input), &out, &errw, func(k string) string { return vars[k] })
	for dec := json.NewDecoder(&out); ; {
		var r query.Result
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return results, code, errw.String()
		} else if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
}

// answered records what the fake model was asked to answer.
type answered struct {
	mu       sync.Mutex
	messages [][]llm.Message
}

func (a *answered) see(body string, _ *http.Request) {
	var req struct{ Messages []llm.Message }
	if json.Unmarshal([]byte(body), &req) == nil && len(req.Messages) > 1 && strings.Contains(req.Messages[0].Content, "Reference list") {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.messages = append(a.messages, req.Messages[1:])
	}
}

func TestChatTellsTheModelTheConversation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "insert", filepath.FromSlash("../../testdata/corpus/skarn-light.md"))
	seen := &answered{}
	m := newFakeModel(seen.see)
	defer m.Close()
	results, code, errs := chatting(t, dir, m.URL, "Who designed it?\n谁设计了它？\r\n/reset\nWhat is \"it\"?")
	if code != exitOK || len(results) != 3 || len(seen.messages) != 3 {
		t.Fatalf("exit code %d, %d results, %d answers asked for: %s", code, len(results), len(seen.messages), errs)
	}
	user := func(s string) llm.Message { return llm.Message{Role: llm.User, Content: s} }
	for i, want := range [][]llm.Message{
		{user("Who designed it?")},
		{user("Who designed it?"), {Role: llm.Assistant, Content: results[0].Answer}, user("谁设计了它？")},
		{user(`What is "it"?`)},
	} {
		if got := seen.messages[i]; !slices.Equal(got, want) {
			t.Errorf("answer %d was asked for with %+v, want %+v", i, got, want)
		}
	}
	if one, two := results[0].Tokens, results[1].Tokens; two.Fixed <= one.Fixed || two.Total() > two.Budget {
		t.Errorf("the conversation is not counted: %+v, then %+v", one, two)
	}
	must(t, dir, "check")
}

// A line that is too long is told and passed over to its end; the next is a question again.
func TestChatPassesOverALineThatIsTooLong(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "insert", filepath.FromSlash("../../testdata/corpus/skarn-light.md"))
	m := newFakeModel(nil)
	defer m.Close()
	for name, long := range map[string]string{
		"line":     strings.Repeat("灯塔", maxQuestionBytes/3),
		"command":  "/mode " + strings.Repeat("x", maxQuestionBytes),
		"question": strings.Repeat("light ", 64<<10), // a line, but more than a question may be
	} {
		results, code, errs := chatting(t, dir, m.URL, long+"\nWho designed it?\n"+long)
		if code != exitUsage || len(results) != 1 || results[0].Question != "Who designed it?" || results[0].Answer == "" {
			t.Errorf("%s: exit code %d, %d results", name, code, len(results))
		}
		if !strings.Contains(errs, `"message":"2 of 3 lines failed"`) || len(errs) > 2000 {
			t.Errorf("%s: %.2000s", name, errs)
		}
	}
	must(t, dir, "check")
}

func TestHistoryKeepsWhatAPromptHasRoomFor(t *testing.T) {
	var h history
	if n := h.add("who?", "<think>it may be\nthe keeper</think>The keeper."); n != 0 {
		t.Errorf("%d dropped of one", n)
	}
	if got := h.messages(); len(got) != 2 || got[1].Content != "The keeper." {
		t.Errorf("reasoning is part of the conversation: %q", got)
	}
	dropped := 0
	for range 200 {
		dropped += h.add("who?", "The keeper.")
	}
	if len(h.turns) != historyTurns || dropped != 201-historyTurns {
		t.Errorf("%d turns, %d dropped", len(h.turns), dropped)
	}
	for _, filler := range []string{"word ", "灯", strings.Repeat(" ", 100), "\t"} { // blanks are few tokens and many characters
		if n := h.add("a", strings.Repeat(filler, 5000/len(filler))); h.turns[len(h.turns)-1].question != "a" {
			t.Errorf("%q: the newest turn is gone, %d dropped", filler, n)
		}
		for i := 0; h.tokens > 0 && i < 20; i++ {
			h.add(strings.Repeat(filler, 20_000/len(filler)), "yes")
		}
		o := query.Options{Reply: query.Reply{History: h.messages()}}
		sum, runes := 0, 0
		for _, u := range h.turns {
			sum += u.tokens
			runes += utf8.RuneCountInString(u.question + u.answer)
		}
		if err := o.Validate(); err != nil || sum != h.tokens || sum > historyTokens || runes > tokenRunes*historyTokens+8*len(h.turns) {
			t.Errorf("%q: %d tokens of %d, %d characters, %v", filler, sum, h.tokens, runes, err)
		}
	}
	if n := h.add("all", strings.Repeat("word ", 2*historyTokens)); n == 0 || len(h.turns) != 0 || h.tokens != 0 {
		t.Errorf("a turn that no prompt has room for: %d dropped, %d kept", n, len(h.turns))
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                 nil,
		"  \t ":                            nil,
		"/mode  mix ":                      {"/mode", "mix"},
		`--metadata 'year >= 2019' --x=""`: {"--metadata", "year >= 2019", "--x="},
		`a"b c"'d "e'`:                     {`ab cd "e`},
		`""`:                               {""},
		"港 灯塔":                             {"港", "灯塔"},
	} {
		if got, err := words(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"'", `a "b`, `'"`} {
		if got, err := words(in); err == nil {
			t.Errorf("%q: %q, want an error", in, got)
		}
	}
}
