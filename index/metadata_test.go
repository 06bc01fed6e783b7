package index

import (
	"math"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/record"
)

func TestParseMetadata(t *testing.T) {
	for text, want := range map[string]any{
		"2020": int64(2020), "-3": int64(-3), "1.50": 1.5, "1e3": 1000.0, "9223372036854775808": 9223372036854775808.0,
		"true": true, "false": false, `"2020"`: "2020", `["a", "b, c"]`: []string{"a", "b, c"}, "[]": []string{},
		"007": "007", "1e999": "1e999", "TRUE": "TRUE", "null": "null", "": "", "two words": "two words", "1 2": "1 2",
		`["a", 1]`: `["a", 1]`, `{"a": 1}`: `{"a": 1}`, `"a`: `"a`, `["a"]]`: `["a"]]`,
	} {
		if got := ParseMetadata(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v", text, got, want)
		}
	}
}

func TestFormatMetadata(t *testing.T) {
	for want, v := range map[string]any{
		"2020": int64(2020), "0.5": 0.5, "1e+21": 1e21, "true": true, "plain, with <tags> & commas": "plain, with <tags> & commas",
		`"2020"`: "2020", `"true"`: "true", `"[\"a\"]"`: `["a"]`, `" x"`: " x", `"a\nb"`: "a\nb", "": "", `["a","b, c",""]`: []string{"a", "b, c", ""},
	} {
		if got := FormatMetadata(v); got != want {
			t.Errorf("%#v: %s, want %s", v, got, want)
		}
	}
}

// What is written is read back.
func FuzzMetadata(f *testing.F) {
	for _, s := range []string{"x", "2020", "007", `"q"`, `["a"]`, " \n", "1e3", "null", "a\\", "\u2028"} {
		f.Add(s, int64(len(s)), 0.1)
	}
	f.Fuzz(func(t *testing.T, s string, n int64, x float64) {
		if !utf8.ValidString(s) || math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		for _, v := range []any{s, []string{s, "", s}, n, n%2 == 0} {
			if got := ParseMetadata(FormatMetadata(v)); !reflect.DeepEqual(got, v) {
				t.Errorf("%#v is read back as %#v", v, got)
			}
		}
		if got := ParseMetadata(FormatMetadata(x)); !record.SameValue(got, x) { // 1.0 is 1
			t.Errorf("%v is read back as %v", x, got)
		}
	})
}
