package db_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
	"github.com/glimdb/db/query"
)

// longDescription is text in mixed scripts of at least n tokens, with a mark at its end.
func longDescription(i, n int) string {
	var b strings.Builder
	for part := 0; ; part++ {
		fmt.Fprintf(&b, "Part %d of thing %d: it stands in the harbour, 它站在港口旁边, стоит у причала, يقف بجانب الرصيف, 埠頭に立つ👨‍👩‍👧. ", part, i)
		if part%8 == 7 && token.Default().Count(b.String()) >= n {
			return b.String() + fmt.Sprintf("End of thing %d.", i)
		}
	}
}

// Sixty entities with descriptions of 2,000 tokens in mixed scripts: gleaning calls, embedded texts and prompts keep
// their limits by the engine's count, whatever is cut is cut at whole characters and told, and the graph keeps all.
func TestHC20_TokenBudgets(t *testing.T) {
	const (
		things, described = 60, 2000
		total, window     = 4000, 3000
		embedLimit        = 512
	)
	tok := token.Default()
	chat := extracting()
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Func: func(r llm.Request) (string, error) {
		var i int
		if _, err := fmt.Sscanf(passage(r), "Thing %d", &i); err != nil {
			return "", err
		}
		name, text := fmt.Sprintf("Thing %02d", i), longDescription(i, described)
		if i >= things { // short ones, which are gleaned
			text = "It is short."
		}
		next := fmt.Sprintf("Thing %02d", (i+1)%things)
		return strings.Join([]string{
			strings.Join([]string{"entity", name, "artifact", text}, prompt.FieldDelimiter),
			strings.Join([]string{"relation", name, next, "nearness", text}, prompt.FieldDelimiter),
			prompt.EndMarker}, "\n"), nil
	}})
	emb := llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.Extract.MaxInputTokens = window
	o.Index.EmbedTokens = embedLimit
	d := openTest(t, o)
	const short = 5
	var parts []string
	for i := range things + short {
		parts = append(parts, fmt.Sprintf("Thing %d is spoken of here. %s", i, strings.Repeat("港の灯台 маяк ", 8)+"End."))
	}
	insert(t, d, doc("things", strings.Join(parts, "\n\n")))

	gleaned := 0
	for _, r := range chat.Calls() {
		if r.Purpose != llm.PurposeGlean {
			continue
		}
		gleaned++
		if n := promptTokens(r); n > window {
			t.Errorf("a gleaning call of %d tokens", n)
		}
	}
	info := get(t, d, "things")
	skipped := 0
	for _, w := range info.Warnings {
		if strings.Contains(w, "not gleaned") {
			skipped++
		}
	}
	if gleaned != short || skipped == 0 || info.Entities != things+short {
		t.Errorf("%d calls of gleaning, want %d; %d warnings of calls that were left out; status %+v", gleaned, short, skipped, info)
	}
	cut := 0
	for _, call := range emb.Calls() {
		for _, text := range call.Texts {
			n := tok.Count(text)
			if n > embedLimit || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
				t.Errorf("embedded a text of %d tokens: %.80q", n, text)
			}
			if strings.HasPrefix(text, "Thing ") && n > embedLimit/2 && !strings.Contains(text, "End of thing") {
				cut++
			}
		}
	}
	if cut < things {
		t.Errorf("%d texts of entities were shortened, want %d", cut, things)
	}
	for i := range things {
		if e := entity(t, d, fmt.Sprintf("Thing %02d", i)); e == nil || !strings.Contains(e.Description, fmt.Sprintf("End of thing %d.", i)) {
			t.Fatalf("Thing %02d is cut in the graph: %.80q", i, e.Description)
		}
	}

	for _, mode := range retrieving {
		chat.Reset()
		res, err := d.Query(ctx, "what stands in the harbour, 港口旁边?", query.Options{Mode: mode, TopK: 60, Budget: query.Budget{Total: total},
			LowKeywords: []string{"Thing 07"}, HighKeywords: []string{"nearness"},
			Reply: query.Reply{History: []llm.Message{{Role: llm.User, Content: longDescription(99, 300)}, {Role: llm.Assistant, Content: "It does."}}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range chat.Calls() {
			if n := promptTokens(r); n > total {
				t.Errorf("%s: a prompt of %d tokens", mode, n)
			}
			for _, m := range r.Messages {
				if !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, utf8.RuneError) {
					t.Errorf("%s: a character is cut", mode)
				}
			}
		}
		if chat.Count(llm.PurposeAnswer) != 1 {
			t.Errorf("%s: %d answers", mode, chat.Count(llm.PurposeAnswer))
		}
		c := res.Counts
		if c.Entities.Kept != len(res.Data.Entities) || c.Relations.Kept != len(res.Data.Relations) || c.Chunks.Kept == 0 && mode == query.Naive {
			t.Errorf("%s: counts %+v of %d entities, %d relations", mode, c, len(res.Data.Entities), len(res.Data.Relations))
		}
		if mode == query.Local && (c.Entities.Dropped() == 0 || c.Entities.Found != 60) || mode == query.Global && c.Relations.Dropped() == 0 && !c.RelationsBounded {
			t.Errorf("%s: nothing is said to be dropped: %+v", mode, c)
		}
	}
}

func promptTokens(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += token.Default().Count(m.Content)
	}
	return n
}
