package query

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseKeywords(t *testing.T) {
	plain := `{"high_level_keywords": ["tides"], "low_level_keywords": ["moon", "Gull Bay"]}`
	for _, c := range []struct {
		name, reply string
		high, low   []string
		found       bool
		dropped     int
	}{
		{"plain", plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"fenced", "```json\n" + plain + "\n```", []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"prose around", "Sure! Here {as asked} it is:\n" + plain + "\nAnything else?", []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"object in reasoning", `<think>maybe {"high_level_keywords": ["no"], "low_level_keywords": ["never"]}</think>` + plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"nested reasoning", "<think>a<think>b</think>{\"high\":[\"no\"]}</think>" + plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"other tags", "<Reasoning>{\"high\":[\"no\"]}</Reasoning>" + plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"reasoning without a start", `{"high":["no"]}</think>` + plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"reasoning without an end", "<think>" + plain, nil, nil, false, 0},
		{"wrapped", `{"result": ` + plain + `}`, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"other object first", `{"a": 1} ` + plain, []string{"tides"}, []string{"moon", "Gull Bay"}, true, 0},
		{"short names", `{"high": ["tides"], "low": []}`, []string{"tides"}, nil, true, 0},
		{"other spelling", `{"High-Level Keywords": ["tides"]}`, []string{"tides"}, nil, true, 0},
		{"two spellings of a field", `{"high": ["b"], "high_level_keywords": ["a"]}`, []string{"b"}, nil, true, 0},
		{"empty lists", `{"high_level_keywords": [], "low_level_keywords": []}`, nil, nil, true, 0},
		{"null list", `{"high_level_keywords": null, "low_level_keywords": ["moon"]}`, nil, []string{"moon"}, true, 0},
		{"text instead of a list", `{"high_level_keywords": "tides, sea; bay\nmoon", "low_level_keywords": "月，潮"}`, []string{"tides", "sea", "bay", "moon"}, []string{"月", "潮"}, true, 0},
		{"number instead of a list", `{"high_level_keywords": 3, "low_level_keywords": ["moon"]}`, nil, []string{"moon"}, true, 1},
		{"items that are no text", `{"high_level_keywords": ["tides", 3, null, {"a": "b"}, " "]}`, []string{"tides"}, nil, true, 3},
		{"commas inside an item", `{"low_level_keywords": ["Voss, Mira"]}`, nil, []string{"Voss, Mira"}, true, 0},
		{"repeats", `{"low_level_keywords": ["Moon", " moon ", "MOON"]}`, nil, []string{"Moon"}, true, 0},
		{"single quotes", `{'high_level_keywords': ['tides'], 'low_level_keywords': ['sailor's moon']}`, []string{"tides"}, []string{"sailor's moon"}, true, 0},
		{"curly quotes", `{“high_level_keywords”: [“tides”], “low_level_keywords”: [“moon”]}`, []string{"tides"}, []string{"moon"}, true, 0},
		{"bare keys, trailing commas", `{high_level_keywords: ["tides",], low_level_keywords: ["moon",],}`, []string{"tides"}, []string{"moon"}, true, 0},
		{"missing commas", "{\"high_level_keywords\": [\"tides\" \"sea\"]\n\"low_level_keywords\": [\"moon\"]}", []string{"tides", "sea"}, []string{"moon"}, true, 0},
		{"bare words", `{high: [tides, the sea], low: [None]}`, []string{"tides", "the sea"}, nil, true, 1},
		{"escapes in damaged text", `{'high': ["caf\u00e9 \"x\"",]}`, []string{`café "x"`}, nil, true, 0},
		{"cut off", `{"high_level_keywords": ["tides"], "low_level_keywords": ["mo`, nil, nil, false, 0},
		{"cut off after a list", `{"high_level_keywords": ["tides"], "low_level_keywords"`, nil, nil, false, 0},
		{"program", "func main() {\n\tfor i := 0; i < 3; i++ { fmt.Println(i) }\n}", nil, nil, false, 0},
		{"no object", "tides and moon", nil, nil, false, 0},
		{"list", `["tides", "moon"]`, nil, nil, false, 0},
		{"empty", "", nil, nil, false, 0},
	} {
		p := parseKeywords(c.reply)
		if !slices.Equal(p.High, c.high) || !slices.Equal(p.Low, c.low) || p.found != c.found || p.dropped != c.dropped {
			t.Errorf("%s: got high %q low %q found %v dropped %d, want high %q low %q found %v dropped %d",
				c.name, p.High, p.Low, p.found, p.dropped, c.high, c.low, c.found, c.dropped)
		}
	}
}

func TestParseKeywordsLimits(t *testing.T) {
	var items []string
	for i := range maxKeywords + 10 {
		items = append(items, `"k`+strconv.Itoa(i)+`"`)
	}
	p := parseKeywords(`{"high": [` + strings.Join(items, ",") + `], "low": ["` + strings.Repeat("x", maxKeywordRunes+1) + `"]}`)
	if len(p.High) != maxKeywords || len(p.Low) != 0 || p.dropped != 11 {
		t.Errorf("kept %d high and %d low, dropped %d, want %d, 0, 11", len(p.High), len(p.Low), p.dropped, maxKeywords)
	}
	if deep := parseKeywords(strings.Repeat(`{"a":`, 100_000)); deep.found {
		t.Error("keywords found in braces")
	}
	if deep := parseKeywords(strings.Repeat(`{a:`, 100_000)); deep.found {
		t.Error("keywords found in braces")
	}
}

func FuzzParseKeywords(f *testing.F) {
	for _, s := range []string{`{"high":["a"],"low":["b"]}`, `<think>{</think>{'high': [x,]}`, `{“high”: [“a”`, "{\"high\": \"\xff\"}", `{a:[[[[{b:'\u12'}]]]]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		p := parseKeywords(reply)
		for _, l := range [][]string{p.High, p.Low} {
			if len(l) > maxKeywords {
				t.Fatalf("%d keywords", len(l))
			}
			for _, k := range l {
				if strings.TrimSpace(k) == "" || !utf8.ValidString(k) || utf8.RuneCountInString(k) > maxKeywordRunes {
					t.Fatalf("keyword %q", k)
				}
			}
		}
		if !p.found && len(p.High)+len(p.Low) > 0 {
			t.Fatal("keywords without an object")
		}
	})
}
