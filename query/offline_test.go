package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestOfflineKeywords(t *testing.T) {
	k := NewOfflineKeyworder()
	cases := []struct {
		question  string
		low, high []string // must be among them
		not       []string // must be in neither
	}{
		{"Who is Ebenezer Scrooge?", []string{"Ebenezer Scrooge"}, []string{"Ebenezer Scrooge"}, []string{"Who", "is"}},
		{"who runs the mill", []string{"mill"}, []string{"runs", "mill"}, []string{"who", "the"}},
		{"What did Scrooge's nephew say to Bob Cratchit about Christmas?", []string{"Scrooge", "Bob Cratchit", "Christmas"}, []string{"nephew"}, []string{"What", "about"}},
		{"How do I start `ollama serve` on Windows?", []string{"ollama serve", "Windows"}, []string{"start"}, nil},
		{"谁修理了潮汐磨坊？", []string{"潮汐磨坊"}, []string{"修理"}, []string{"谁", "了"}},
		{"Ollama 如何导入 GGUF 模型？", []string{"Ollama", "GGUF"}, []string{"导入"}, nil},
		{"哪些引擎支持 PDF？", []string{"引擎", "PDF"}, []string{"引擎"}, []string{"些引擎", "哪些", "些"}},
		{"那些灯塔在哪里？", []string{"灯塔"}, nil, []string{"些灯塔", "哪里", "那些"}},
		{"有哪些分块器？", []string{"分块器"}, nil, []string{"些分块器"}},
		{"Where is it?", nil, nil, nil},
		{"Why?", nil, nil, nil},
		{"ветер и море", []string{"ветер", "море"}, nil, []string{"и"}},
		{"서울의 대학교", []string{"서울의 대학교"}, nil, nil},
	}
	for _, c := range cases {
		got, err := k.Keywords(context.Background(), c.question)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Low) == 0 || len(got.High) == 0 {
			t.Errorf("%q: a list is empty: %+v", c.question, got)
		}
		for _, w := range c.low {
			if !slices.Contains(got.Low, w) {
				t.Errorf("%q: %q is not in low %q", c.question, w, got.Low)
			}
		}
		for _, w := range c.high {
			if !slices.Contains(got.High, w) {
				t.Errorf("%q: %q is not in high %q", c.question, w, got.High)
			}
		}
		for _, w := range c.not {
			if slices.Contains(got.Low, w) || slices.Contains(got.High, w) {
				t.Errorf("%q: %q is a keyword in %+v", c.question, w, got)
			}
		}
	}
}

func TestOfflineKeywordsBounds(t *testing.T) {
	k := NewOfflineKeyworder()
	ctx, cancel := context.WithCancel(context.Background())
	got, err := k.Keywords(ctx, strings.Repeat("alpha beta, gamma; ", 20000)+strings.Repeat("漢字", 20000))
	if err != nil || len(got.Low) > maxOfflineKeywords || len(got.High) > maxOfflineKeywords {
		t.Errorf("a long question: %d low, %d high, %v", len(got.Low), len(got.High), err)
	}
	for _, empty := range []string{"", "  ", "?!", "🙂", "\xff"} {
		if got, err := k.Keywords(ctx, empty); err != nil || len(got.Low)+len(got.High) > 0 {
			t.Errorf("%q: %+v, %v", empty, got, err)
		}
	}
	cancel()
	if _, err := k.Keywords(ctx, "who"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func FuzzOfflineKeywords(f *testing.F) {
	for _, s := range []string{"Who?", "of the", "漢字かな交じり", "a\xffb", "`", "x’s", "St. John's", "İı"} {
		f.Add(s)
	}
	k := NewOfflineKeyworder()
	f.Fuzz(func(t *testing.T, s string) {
		got, err := k.Keywords(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		valid := strings.ToValidUTF8(s, "")
		if len(valid) < maxQuestionRead && strings.IndexFunc(valid, unicode.IsLetter) >= 0 && (len(got.Low) == 0 || len(got.High) == 0) {
			t.Fatalf("%q has letters and no keywords: %+v", s, got)
		}
	})
}
