package db_test

import (
	"encoding/json"
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

	history := []llm.Message{{Role: llm.User, Content: longDescription(99, 300)}, {Role: llm.Assistant, Content: "It does."}}
	asked := query.Options{TopK: 60, ChunkTopK: things + short, LowKeywords: []string{"Thing 07"}, HighKeywords: []string{"nearness"}, Reply: query.Reply{History: history}}
	for _, mode := range retrieving {
		chat.Reset()
		o := asked
		o.Mode, o.Budget = mode, query.Budget{Total: total}
		res := ask(t, d, "what stands in the harbour, 港口旁边?", o)
		o.Want, o.Budget = query.WantData, query.Budget{Entities: 1_000_000, Relations: 1_000_000, Total: 1_000_000}
		all := ask(t, d, "what stands in the harbour, 港口旁边?", o)
		if chat.Count(llm.PurposeAnswer) != 1 {
			t.Fatalf("%s: %d answers", mode, chat.Count(llm.PurposeAnswer))
		}
		for _, r := range chat.Calls() {
			if n := promptTokens(r); n > total || n > res.Tokens.Total() {
				t.Errorf("%s: a prompt of %d tokens, %d accounted for", mode, n, res.Tokens.Total())
			}
			for _, m := range r.Messages {
				if !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, utf8.RuneError) {
					t.Errorf("%s: a character is cut", mode)
				}
			}
			if r.Purpose == llm.PurposeAnswer {
				keptAndDropped(t, res, all, r.Messages[0].Content)
			}
		}
	}
}

// keptAndDropped compares the counts of a result with what the model was shown, and with what a query finds whose budget
// cuts nothing.
func keptAndDropped(t *testing.T, res, all *query.Result, system string) {
	t.Helper()
	c, found := res.Counts, all.Counts
	if found.Entities.Dropped() != 0 || found.Relations.Dropped() != 0 || found.RelationsBounded || found.Chunks.Dropped() != 0 {
		t.Fatalf("%s: a budget of a million cuts: %+v", res.Mode, found)
	}
	// Whole items only: each line is an object by itself, and ends as the stored description does.
	var entities, relations, chunks int
	for line := range strings.Lines(system) {
		var item struct{ Entity, Entity1, Description, Content string }
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &item) != nil {
			continue
		}
		switch {
		case item.Entity != "":
			entities++
		case item.Entity1 != "":
			relations++
		case item.Content != "":
			chunks++
		}
		if d := item.Description; d != "" && !strings.HasSuffix(d, ".") || item.Content != "" && !strings.HasSuffix(item.Content, "End.") {
			t.Errorf("%s: a line is cut: %.60s", res.Mode, line)
		}
	}
	if entities != c.Entities.Kept || relations != c.Relations.Kept || chunks != c.Chunks.Kept {
		t.Errorf("%s: the model is shown %d entities, %d relations and %d passages; counts %+v", res.Mode, entities, relations, chunks, c)
	}
	if len(res.Data.Entities) != c.Entities.Kept || len(res.Data.Relations) != c.Relations.Kept || len(res.Data.Chunks) != c.Chunks.WithinTopK {
		t.Errorf("%s: %d entities, %d relations and %d passages in the data; counts %+v", res.Mode, len(res.Data.Entities), len(res.Data.Relations), len(res.Data.Chunks), c)
	}
	if c.Entities.Found != found.Entities.Found || c.Relations.Found > found.Relations.Found || c.Relations.Found < found.Relations.Found && !c.RelationsBounded {
		t.Errorf("%s: found %+v and %+v; without a budget %+v and %+v", res.Mode, c.Entities, c.Relations, found.Entities, found.Relations)
	}
	n := c.Chunks
	if n.Merged > n.Vector+n.Text+n.Entities+n.Relations || n.Reranked > n.Merged || n.AboveScore > n.Reranked || n.WithinTopK > n.AboveScore || n.Kept > n.WithinTopK {
		t.Errorf("%s: passages become more: %+v", res.Mode, n)
	}
	// Sixty long descriptions do not fit, in no mode; what was dropped is told with its number.
	for code, dropped := range map[query.ReasonCode]int{query.ReasonEntitiesCut: c.Entities.Dropped(), query.ReasonRelationsCut: c.Relations.Dropped(), query.ReasonChunksCut: n.Dropped()} {
		told := 0
		for _, r := range res.Reasons {
			if r.Code == code {
				told += r.Count
			}
		}
		if told != dropped {
			t.Errorf("%s: %s is told of %d, counts %+v", res.Mode, code, told, c)
		}
	}
	if naive := res.Mode == query.Naive; naive != (c.Entities.Dropped() == 0) || naive && (n.Dropped() == 0 || n.Kept == 0) {
		t.Errorf("%s: nothing is dropped: %+v", res.Mode, c)
	}
	if res.Mode == query.Local && c.Entities.Found != 60 {
		t.Errorf("%s: %d entities are found, want 60", res.Mode, c.Entities.Found)
	}
}

func promptTokens(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += token.Default().Count(m.Content)
	}
	return n
}
