package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestOutputHeedsTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		name  string
		env   map[string]string
		width int
		color bool
	}{
		{"pipe", nil, defaultWidth, false},
		{"columns", map[string]string{"COLUMNS": "40"}, 40, false},
		{"columns too few", map[string]string{"COLUMNS": "3"}, minWidth, false},
		{"columns too many", map[string]string{"COLUMNS": "900"}, maxWidth, false},
		{"columns no number", map[string]string{"COLUMNS": "wide"}, defaultWidth, false},
		{"colour forced", map[string]string{"CLICOLOR_FORCE": "1"}, defaultWidth, true},
		{"colour not forced", map[string]string{"CLICOLOR_FORCE": "0"}, defaultWidth, false},
		{"no colour wins", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, defaultWidth, false},
	} {
		o := newOutput(&bytes.Buffer{}, env(c.env))
		if o.width != c.width || o.color != c.color || o.terminal {
			t.Errorf("%s: width %d, color %v, terminal %v", c.name, o.width, o.color, o.terminal)
		}
	}
}

// failing takes n bytes.
type failing struct{ n int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.n < len(p) {
		return f.n, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

func TestOutputKeepsTheFirstError(t *testing.T) {
	o := newOutput(&failing{n: 4}, env(nil))
	o.printf("1234")
	if o.err != nil {
		t.Fatal(o.err)
	}
	o.printf("5")
	o.w = &bytes.Buffer{}
	o.printf("6")
	if !errors.Is(o.err, errFull) || o.w.(*bytes.Buffer).Len() != 0 {
		t.Errorf("error %v, later output %q", o.err, o.w)
	}
}

func TestPrintfLetsNothingSteerTheTerminal(t *testing.T) {
	var b bytes.Buffer
	newOutput(&b, env(nil)).printf("%s|%v|%q\n", "a\x1b[2J\u202eb\nc\x00d\u0085", errors.New("e\x07"), "q\x1b")
	if got, want := b.String(), "a\uFFFD[2J\uFFFDb\uFFFDc\uFFFDd\uFFFD|e\uFFFD|\"q\uFFFD\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := printableText("a\tb\nc\x1b[1m"); got != "a\tb\nc\uFFFD[1m" {
		t.Errorf("got %q", got)
	}
}

// texts mixes what makes layout hard: wide characters, joined emoji, combining marks, long words.
func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "lamp", " ", "  ", "灯", "塔。", "é", "e\u0301", "👩‍🚀", "🇫🇷", "-", ",", "\u00a0", "unbreakableword"}), 0, 60),
		func(parts []string) string { return strings.Join(parts, "") })
}

func TestWrapLosesNothingAndKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, room := texts().Draw(t, "text"), rapid.IntRange(1, 50).Draw(t, "room")
		var kept strings.Builder
		end := 0
		for _, l := range wrap(text, room) {
			if l.start < end || l.end <= l.start {
				t.Fatalf("lines out of order: %v after %d", l, end)
			}
			end = l.end
			s := text[l.start:l.end]
			kept.WriteString(s)
			if w := uniseg.StringWidth(s); w > room {
				if rest := wrap(s, w-1); len(rest) > 1 {
					t.Fatalf("%q has %d columns, room %d, and could be broken", s, w, room)
				}
			}
		}
		squash := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squash(kept.String()) != squash(text) {
			t.Fatalf("got %q of %q", kept.String(), text)
		}
	})
}

func TestCutKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, room := texts().Draw(t, "text"), rapid.IntRange(len(cutMark), 50).Draw(t, "room")
		got := cut(text, room)
		if w := uniseg.StringWidth(got); w > room {
			t.Fatalf("cut(%q, %d) = %q has %d columns", text, room, got, w)
		}
		whole := strings.Join(strings.Fields(text), " ")
		if got != whole && (!strings.HasSuffix(got, cutMark) || !strings.HasPrefix(whole, strings.TrimSuffix(got, cutMark))) {
			t.Fatalf("cut(%q, %d) = %q", text, room, got)
		}
	})
}

func TestPadCountsColumns(t *testing.T) {
	if got := pad("灯塔", 6); got != "灯塔  " {
		t.Errorf("got %q", got)
	}
	if got := pad("lighthouse", 4); got != "lighthouse" {
		t.Errorf("got %q", got)
	}
}
