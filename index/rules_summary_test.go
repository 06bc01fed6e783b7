package index

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func extractive(t testing.TB, o ExtractiveOptions) *Extractive {
	t.Helper()
	x, err := NewExtractive(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func summarize(t testing.TB, x *Extractive, name string, fragments ...string) string {
	t.Helper()
	s, err := x.Summarize(context.Background(), "entity", name, fragments)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExtractive(t *testing.T) {
	fragments := []string{
		"Maren Holt keeps Skarn Light. She records the weather four times a day.",
		"Maren Holt keeps Skarn Light.",
		"MAREN HOLT keeps Skarn Light! The council met on Tuesday.",
		"Maren Holt took over the light from her father Jonas Holt in 1991.",
		"It rained.",
	}
	all := summarize(t, extractive(t, ExtractiveOptions{}), "Maren Holt", fragments...)
	if n := strings.Count(strings.ToLower(all), "keeps skarn light"); n != 1 {
		t.Errorf("a sentence comes %d times in %q", n, all)
	}
	for _, s := range []string{"She records the weather four times a day.", "Jonas Holt in 1991.", "It rained."} {
		if !strings.Contains(all, s) {
			t.Errorf("%q is missing although there is room: %q", s, all)
		}
	}
	if strings.Index(all, "keeps") > strings.Index(all, "took over") {
		t.Errorf("order is lost: %q", all)
	}
	const budget = 30
	x := extractive(t, ExtractiveOptions{MaxTokens: budget})
	short := summarize(t, x, "Maren Holt", fragments...)
	if x.count(short) > budget || !strings.Contains(short, "Maren Holt") {
		t.Errorf("%d tokens: %q", x.count(short), short)
	}
	if again := summarize(t, x, "Maren Holt", fragments...); again != short {
		t.Errorf("not deterministic: %q, %q", short, again)
	}
}

func TestExtractiveBounds(t *testing.T) {
	x := extractive(t, ExtractiveOptions{MaxTokens: 10})
	if s := summarize(t, x, "x"); s != "" {
		t.Errorf("nothing gives %q", s)
	}
	if s := summarize(t, x, "x", "", " ", "\n"); s != "" {
		t.Errorf("blanks give %q", s)
	}
	long := strings.Repeat("灯塔", 500)
	if s := summarize(t, x, "灯塔", long); s == "" || x.count(s) > 10 || !utf8.ValidString(s) {
		t.Errorf("one long sentence gives %q", s)
	}
	if _, err := NewExtractive(ExtractiveOptions{MaxTokens: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("a negative budget: %v", err)
	}
	counted := extractive(t, ExtractiveOptions{Tokenizer: charTokens{}})
	if counted.ID() == extractive(t, ExtractiveOptions{}).ID() {
		t.Error("the tokenizer is no part of the ID")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Summarize(ctx, "entity", "x", []string{"a b."}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func FuzzExtractive(f *testing.F) {
	for _, s := range []string{"", "a. b. c.", "\xff", "灯塔。灯塔！", "!!!", "A\u0301. A\u0301."} {
		f.Add("x", s, 5)
	}
	f.Fuzz(func(t *testing.T, name, text string, budget int) {
		budget = budget&0xff + 1
		x := extractive(t, ExtractiveOptions{MaxTokens: budget})
		s := summarize(t, x, name, text, text)
		// Counts of sentences add up to that of the text or more, but for the spaces between them.
		if n := x.count(s); n > budget+strings.Count(s, " ") {
			t.Fatalf("%d tokens of %d: %q", n, budget, s)
		}
		if strings.TrimSpace(text) != "" && utf8.ValidString(text) && budget > 100 && s == "" && len(extractive(t, ExtractiveOptions{}).candidates("", []string{text})) > 0 {
			t.Fatalf("%q gives nothing", text)
		}
	})
}
