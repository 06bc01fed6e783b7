package analysis

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/postings"
)

func analyzer(t testing.TB, language string) *Analyzer {
	t.Helper()
	a, err := New(language)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTerms(t *testing.T) {
	for _, tc := range []struct{ language, text, want string }{
		{"", "The Tide-mill's wheels were turning; it TURNED, as wheels turn.", "mill tide tide-mill turn wheel"},
		{"", "Ｃａｆé naïve", "cafe naiv"},
		{"", "东京塔 很高", "东京 京塔 很高"},
		{"", "книги книга", "книг"},
		{"", "to be or not to be", ""},
		{"", "", ""},
		{"german", "Häuser und Haus", "haus"},
		{"french", "chanter chantait", "chant"},
		{"spanish", "canciones canción", "cancion"},
	} {
		if got := strings.Join(analyzer(t, tc.language).Terms(tc.text), " "); got != tc.want {
			t.Errorf("%s: %q is read as %q, want %q", tc.language, tc.text, got, tc.want)
		}
	}
	if _, err := New("klingon"); err == nil || !strings.Contains(err.Error(), "french, german") {
		t.Errorf("klingon: %v", err)
	}
}

// TestIDs: no two analysers share an id.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range append(Languages(), "") {
		id := analyzer(t, l).ID()
		if seen[id] {
			t.Errorf("%q twice", id)
		}
		seen[id] = true
	}
}

// FuzzCounts: the terms are those of lexical.Terms, counted, whatever was read before; any text is accepted.
func FuzzCounts(f *testing.F) {
	a := analyzer(f, "")
	for _, s := range []string{"The mills of `code.go`, https://x.org/a?b and 东京塔。", "\xff\x00 한국어는", strings.Repeat("ab-", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := map[string]int{}
		lexical.Terms(text, func(term lexical.Term) bool {
			if term.Rank != lexical.Stop {
				want[term.Text]++
			}
			return true
		})
		got := map[string]int{}
		for _, c := range a.Counts(text) {
			if len(c.Text) > postings.MaxTermBytes || c.Text == "" || c.Count < 1 {
				t.Fatalf("%+v", c)
			}
			got[c.Text] = c.Count
		}
		for term := range want {
			if len(term) > postings.MaxTermBytes || term == "" {
				return
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestConcurrent: many goroutines read alike, also when what is remembered is thrown away.
func TestConcurrent(t *testing.T) {
	a := analyzer(t, "")
	text := strings.Repeat("the wheels of the mill turn in Tide town ", 3)
	want := a.Counts(text)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if got := a.Counts(text); !reflect.DeepEqual(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				a.mu.Lock()
				clear(a.known)
				a.mu.Unlock()
			}
		})
	}
	wg.Wait()
}
