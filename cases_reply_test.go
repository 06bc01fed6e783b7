package db_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// A reply with damaged separators and field counts, in a code fence and without end mark, costs neither the chunk nor
// the document: what is whole or can be mended is stored, the rest is dropped and counted, and the status says so.
func TestHC08_DamagedReply(t *testing.T) {
	damaged := "```\n" + strings.Join([]string{
		"entity<|#|>Ada Pell<|#|>person<|#|>Ada Pell runs the mill.",
		"entity<|#|>Tern Mill<|#|>location<|#|>Tern Mill stands at the weir.",
		"relation<|#|>Ada Pell<|#|>Tern Mill<|#|>work<|#|>Ada Pell runs Tern Mill.",
		"entity<| #|>Brin Low<|#|>person<|#|>Brin Low keeps the books.",
		"relation<|#|>Ada Pell<||#|>Brin Low<|#|>colleagues<|#|>They work together.",
		"relation<|#|>Ada Pell<|#|>Brin Low<|#|>trust<|#|>extra<|#|>They trust each other.",
		"relation<|#|>Tern Mill<|#|>Brin Low",
		`entity<|#|>Ledger<|#|>artifact<|#|>The ledger shows the sign "<|#|>" on its cover.`,
	}, "\n") + "\n```"
	mill := doc("mill", "The mill and its people.")
	var dumps []string
	for range 2 {
		chat := extracting()
		chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Text: damaged})
		d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
		insert(t, d, mill)
		info := get(t, d, "mill")
		if info.Status != "processed" || info.Entities != 4 || info.Relations != 2 ||
			!maps.Equal(info.Dropped, map[string]int{"field_count": 2}) || !maps.Equal(info.Repaired, map[string]int{"delimiter": 2, "end_mark": 1}) {
			t.Errorf("status %+v", info)
		}
		if want := []string{"records: 2 dropped (2 field_count); 3 repaired (2 delimiter, 1 end_mark)"}; !slices.Equal(info.Warnings, want) {
			t.Errorf("warnings %q, want %q", info.Warnings, want)
		}
		for name, want := range map[string]string{"Ada Pell": "Ada Pell runs the mill.", "Tern Mill": "Tern Mill stands at the weir.",
			"Brin Low": "Brin Low keeps the books.", "Ledger": `The ledger shows the sign "<|#|>" on its cover.`} {
			if e := entity(t, d, name); e == nil || e.Description != want {
				t.Errorf("%s is %+v", name, e)
			}
		}
		if r := relation(t, d, "Brin Low", "Ada Pell"); r == nil || r.Description != "They work together." || r.Weight != 1 {
			t.Errorf("Ada Pell and Brin Low: %+v", r)
		}
		if r := relation(t, d, "Tern Mill", "Brin Low"); r != nil {
			t.Errorf("a relation of three fields is stored: %+v", r)
		}
		dumps = append(dumps, logical(t, d))
		// The same text under a new id, from the cache; then, its records taken over, moved to another path.
		chat.Reset()
		again, moved := mill, mill
		again.ID, moved.Path = "again", "moved.txt"
		insert(t, d, again)
		if _, err := d.Put(ctx, moved); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"again", "mill"} {
			if i := get(t, d, id); !slices.Equal(i.Warnings, info.Warnings) || !maps.Equal(i.Dropped, info.Dropped) || i.Entities != info.Entities {
				t.Errorf("%s: status %+v", id, i)
			}
		}
		if n := len(chat.Calls()); n != 0 {
			t.Errorf("%d calls", n)
		}
	}
	equalDumps(t, dumps[1], dumps[0])
}

// Nothing to say is said of a whole reply.
func TestHC08_WholeReply(t *testing.T) {
	d := openTest(t, stubbed())
	insert(t, d, doc("mill", "E Ada Pell (runs the mill)"))
	if i := get(t, d, "mill"); len(i.Warnings)+len(i.Dropped)+len(i.Repaired) != 0 {
		t.Errorf("status %+v", i)
	}
}
