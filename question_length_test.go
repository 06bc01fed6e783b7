package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// questionLimit is how long a question may be: in characters, of whatever size, white space around it aside.
const questionLimit = 64 << 10

// A question of exactly the limit is answered by whatever takes one; one character more is told as such, and no model
// sees it.
func TestQuestionLength(t *testing.T) {
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.Index.EntityWords = index.EntityWordsOn
	d := openTest(t, o)
	insert(t, d, doc("lamp", "E Lamp (stands in the harbour)\nE Ágnes (repairs it)\nR Lamp - Ágnes (repairs)\nÁgnes repairs the lamp."))
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	other, err := d.Workspace("other")
	if err != nil {
		t.Fatal(err)
	}
	insert(t, other, doc("lamp", "E Lamp (stands elsewhere)\nThe lamp stands elsewhere."))
	if err := other.Settle(ctx); err != nil {
		t.Fatal(err)
	}

	type entry struct {
		name, field string
		ask         func(d *db.DB, question string) error
	}
	var entries []entry
	for _, mode := range query.Modes() {
		for _, want := range []query.Want{query.WantDefault, query.WantAnswer, query.WantContext, query.WantPrompt, query.WantData} {
			streams := []bool{false}
			if want == query.WantAnswer {
				streams = []bool{false, true}
			}
			for _, stream := range streams {
				o := query.Options{Mode: mode, Want: want, Stream: stream, Budget: query.Budget{Total: 100_000}}
				entries = append(entries, entry{fmt.Sprint(mode, " ", want, " stream ", stream), "query", func(d *db.DB, question string) error {
					r, err := d.Query(ctx, question, o)
					if err != nil || r.Stream == nil {
						return err
					}
					for _, err := range r.Stream {
						if err != nil {
							return err
						}
					}
					return nil
				}})
			}
		}
	}
	entries = append(entries,
		entry{"SearchText", "text", func(d *db.DB, text string) error { return second(d.SearchText(ctx, text, query.TextOptions{})) }},
		entry{"SearchEntities", "text", func(d *db.DB, text string) error { return second(d.SearchEntities(ctx, text, query.TextOptions{})) }})

	units := []string{"Ágnes 灯塔 ", "lamp "}
	if testing.Short() {
		units = units[:1]
	}
	for _, unit := range units {
		longest := []rune(strings.Repeat(unit, questionLimit))[:questionLimit]
		longest[questionLimit-1] = 'é'
		for _, e := range entries {
			for name, d := range map[string]*db.DB{"": d, "in a workspace: ": other} {
				if err := e.ask(d, "\n "+string(longest)+" \t"); err != nil {
					t.Errorf("%s%s: %d characters of %q: %v", name, e.name, questionLimit, unit, err)
				}
				chat.Reset()
				before := len(emb.Calls())
				err := e.ask(d, string(longest)+"é")
				f, ok := errors.AsType[*query.FieldError](err)
				if !ok || f.Field != e.field || f.Value != fmt.Sprintf("%d characters", questionLimit+1) || !strings.Contains(f.Reason, fmt.Sprint(questionLimit)) {
					t.Errorf("%s%s: %d characters of %q: %.200v", name, e.name, questionLimit+1, unit, err)
				}
				if n := len(emb.Calls()) - before + len(chat.Calls()); n != 0 {
					t.Errorf("%s%s: %d model calls for a question that is too long", name, e.name, n)
				}
			}
		}
	}
}

// Question, prompts and history together have a limit of their own.
func TestRequestLength(t *testing.T) {
	chat := extracting()
	d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	question := strings.Repeat("é", questionLimit)
	for _, mode := range query.Modes() {
		o := query.Options{Mode: mode, Want: query.WantPrompt, Reply: query.Reply{UserPrompt: strings.Repeat("é", questionLimit)}}
		if _, err := d.Query(ctx, question, o); err != nil {
			t.Errorf("%s: exactly the limit: %v", mode, err)
		}
		o.Reply.SystemPrompt = "{{context}}"
		_, err := d.Query(ctx, question, o)
		if f, ok := errors.AsType[*query.FieldError](err); !ok || f.Field != "request" {
			t.Errorf("%s: over the limit: %v", mode, err)
		}
	}
}
