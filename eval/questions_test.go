package eval

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestReadQuestions(t *testing.T) {
	qs, err := ReadQuestions(strings.NewReader("\ufeff"+`{"question":"who?","documents":["a","b"],"entities":[],"answer":"me"}

  {"question":"where?","chunks":{"a-chunk-000":2.5}}
`), "set.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) != 2 || !maps.Equal(qs[0].Documents, Gold{"a": 1, "b": 1}) || qs[0].Answer != "me" || qs[1].Chunks["a-chunk-000"] != 2.5 || qs[1].at.line != 3 {
		t.Errorf("%+v", qs)
	}
}

// TestBadQuestions: each refusal names file and line and says what to do.
func TestBadQuestions(t *testing.T) {
	good := `{"question":"who?","documents":["a"]}` + "\n"
	for text, want := range map[string]struct {
		line     int
		what, do string
	}{
		"":                  {1, "no question", "JSON object a line"},
		"\n\n":              {2, "no question", "JSON object a line"},
		good + "who is it?": {2, "invalid character", "write {"},
		good + `{"question":"x","document":["a"]}`: {2, `unknown field "document"`, "write {"},
		good + `{"question":"x","documents":"a"}`:  {2, "list of ids", "write {"},
		good + `{"question":7,"documents":["a"]}`:  {2, "question cannot be of type number", "write {"},
		good + `["x"]`: {2, "a question cannot be of type array", "write {"},
		good + `{"question":" ","documents":["a"]}`:                   {2, "empty", "give it a question"},
		good + `{"question":"x"}`:                                     {2, "nothing is said to be right", "name the documents"},
		good + `{"question":"x","documents":[],"chunks":[]}`:          {2, "nothing is said to be right", "name the documents"},
		good + `{"question":"x","documents":[""]}`:                    {2, `""`, "name an id"},
		good + `{"question":"x","documents":{"a":0}}`:                 {2, `"a" has the gain 0`, "above 0"},
		good + `{"question":"x","documents":{"a":-1}}`:                {2, `"a" has the gain -1`, "above 0"},
		good + `{"question":"x","documents":{"a":1e999}}`:             {2, "gains as numbers", "write {"},
		good + `{"question":"x","documents":{"a":1,"a":2}}`:           {2, `"a" has two gains`, "write {"},
		good + `{"question":"x","documents":["a"]}}`:                  {2, "something follows", "line of its own"},
		good + `{"question":"x","documents":["a"],"documents":["b"]}`: {2, `"documents" comes twice`, "keep one"},
		good + `{"question":"x","Question":"y","documents":["a"]}`:    {2, `"question" comes twice`, "keep one"},
		good + good: {2, "that of line 1", "leave one out"},
		good + `{"question":"x","documents":["a"]} {"y":1}`:      {2, "something follows", "line of its own"},
		good + `{"question":"` + strings.Repeat("x", 1<<20):      {2, "longer than", "line of its own"},
		good + "\n" + `{"question":"x","documents":["a"]` + "\n": {3, "unexpected EOF", "write {"},
	} {
		_, err := ReadQuestions(strings.NewReader(text), "set.jsonl")
		e, ok := errors.AsType[*QuestionError](err)
		if !ok || !errors.Is(err, ErrQuestion) || e.File != "set.jsonl" || e.Line != want.line || !strings.Contains(e.What, want.what) || !strings.Contains(e.Do, want.do) {
			t.Errorf("%.80q: %v, want line %d, %q, %q", text, err, want.line, want.what, want.do)
		}
	}
	fault := errors.New("disk")
	if _, err := ReadQuestions(failing{fault}, "set.jsonl"); !errors.Is(err, fault) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzReadQuestions: whatever is read, no panic, and what is taken can be asked.
func FuzzReadQuestions(f *testing.F) {
	f.Add(`{"question":"who?","documents":["a"]}`)
	f.Add(`{"question":"who?","chunks":{"a":1e300}}` + "\n[]")
	f.Add(`{"question":"who?","chunks":{"a":1e308,"b":1.7e308,"c":5e-324}}`)
	f.Fuzz(func(t *testing.T, text string) {
		qs, err := ReadQuestions(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, q := range qs {
			if err := q.check(); err != nil {
				t.Error(err)
			}
			for _, l := range Levels() {
				gold := q.gold(l)
				if m := Judge(nil, gold, 1); m.MRR != 0 {
					t.Error(m)
				}
				if len(gold) == 0 {
					continue
				}
				all := slices.Sorted(maps.Keys(gold))
				if at := Judge(all, gold, len(all)).At[0]; at.Recall != 1 || at.Precision != 1 || !(at.NDCG > 0 && at.NDCG < 1+1e-9) {
					t.Error(gold, at)
				}
			}
		}
	})
}
