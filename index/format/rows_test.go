package format

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Without escapes a text is JSON of the same value, and nothing is left to do.
func FuzzUnescaped(f *testing.F) {
	for _, s := range []string{`"\ud83d\ud83d\ude00\ud800x"`, `{"\u00e9\\u00e9": ["\/\n\u0022\u005c\u001f", 1e3]}`, `"\u2028\u202e\uffff\ufffd"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want, got any
		if json.Unmarshal([]byte(s), &want) != nil {
			return
		}
		text := unescaped(s)
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q, %v", s, text, err)
		}
		if again := unescaped(text); again != text {
			t.Errorf("%q became %q and then %q", s, text, again)
		}
	})
}
