package analysis

import (
	"reflect"
	"strings"
	"testing"
)

func TestPhrase(t *testing.T) {
	for _, tc := range []struct{ language, text, want string }{
		{"", "The tide-mill's wheels, TURNING.", "the tide mill wheel turn"},
		{"", "东京塔 high", "东京 京塔 high"},
		{"", "run `db.Open(path)` now", "run db open path now"},
		{"german", "Häuser bauen", "haus bau"},
		{"", "", ""},
	} {
		if got := strings.Join(analyzer(t, tc.language).Phrase(tc.text), " "); got != tc.want {
			t.Errorf("%s: %q is read as %q, want %q", tc.language, tc.text, got, tc.want)
		}
	}
}

func TestHoldsPhrase(t *testing.T) {
	for _, tc := range []struct {
		text, phrase string
		want         bool
	}{
		{"a b a c", "a c", true}, {"a b a c", "b c", false}, {"a", "a b", false}, {"b a", "a b", false}, {"a b", "a b", true}, {"", "", true},
	} {
		if got := HoldsPhrase(strings.Fields(tc.text), strings.Fields(tc.phrase)); got != tc.want {
			t.Errorf("%q in %q: %v", tc.phrase, tc.text, got)
		}
	}
}

func TestBeginning(t *testing.T) {
	type answer struct {
		prefix, whole string
		ok            bool
	}
	for word, want := range map[string]answer{
		"Lights":  {"lights", "light", true},
		"the":     {"the", "", true},
		"tide-mi": {"tide-mi", "tide-mi", true},
		"东":       {"东", "东", true},
	} {
		var got answer
		got.prefix, got.whole, got.ok = analyzer(t, "").Beginning(word)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", word, got, want)
		}
	}
	for _, word := range []string{"", "?", "东京塔", "a b"} {
		if _, _, ok := analyzer(t, "").Beginning(word); ok {
			t.Errorf("%q has a beginning", word)
		}
	}
}
