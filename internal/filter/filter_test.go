package filter

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// odd are texts that programs like to confuse: one letter in two normal forms, joined emoji, a direction mark, a NUL,
// a line separator, a letter whose upper case is two, what only looks like another.
var odd = []string{"é", "e\u0301", "👩‍🚀", "👩🚀", "\u202eabc", "abc", "a\x00b", "a\u2028b", "straße", "STRASSE", "а", "a", " a", "a ", "Ａ", "漢字", ""}

func compile(t *testing.T, f Filter) *Matcher {
	t.Helper()
	m, problems := f.Compile()
	if len(problems) > 0 {
		t.Fatalf("%+v: %+v", f, problems)
	}
	return m
}

func TestMatch(t *testing.T) {
	s := Subject{ID: "notes/a", Path: "old/a.md", Status: "processed", Track: "job", Time: noon,
		Metadata: map[string]any{"year": int64(1843), "score": 9.5, "tags": []string{"red", "blue"}, "day": "2024-05-01", "draft": true}}
	for _, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true},
		{Filter{Status: "processed", Track: "job", IDPrefix: "notes/", PathPrefix: "old/", IDs: []string{"x", "notes/a"}}, true},
		{Filter{Status: "failed"}, false}, {Filter{Track: "jo"}, false}, {Filter{IDs: []string{"notes/"}}, false},
		{Filter{IDPrefix: "otes"}, false}, {Filter{PathPrefix: "a.md"}, false},
		{Filter{Metadata: map[string]any{"year": 1843, "tags": "blue"}}, true}, {Filter{Metadata: map[string]any{"year": 1843, "tags": "green"}}, false},
		{Filter{Where: []Condition{{Key: "tags"}}}, true}, {Filter{Where: []Condition{{Key: "Tags"}}}, false},
		{Filter{Where: []Condition{{Key: "year", In: []any{1842, 1843.0}}}}, true}, {Filter{Where: []Condition{{Key: "year", In: []any{1842, "x"}}}}, false},
		{Filter{Where: []Condition{{Key: "year", Min: 1843, Max: 1843}}}, true}, {Filter{Where: []Condition{{Key: "year", Min: 1843.5}}}, false},
		{Filter{Where: []Condition{{Key: "score", Max: 9}}}, false}, {Filter{Where: []Condition{{Key: "tags", Min: "blue", Max: "c"}}}, true},
		{Filter{Where: []Condition{{Key: "tags", Min: "s"}}}, false}, {Filter{Where: []Condition{{Key: "day", Min: "2024-04", Max: "2024-06"}}}, true},
		{Filter{Where: []Condition{{Key: "draft", Min: 0}}}, false}, {Filter{Where: []Condition{{Key: "missing", Max: 5}}}, false},
		{Filter{Where: []Condition{{Key: "year", Min: 1000}, {Key: "year", Max: 1500}}}, false},
		{Filter{Since: noon}, true}, {Filter{Until: noon}, false}, {Filter{Since: noon.Add(1)}, false}, {Filter{Until: noon.Add(1)}, true},
		{Filter{Since: noon.In(time.FixedZone("", 3600))}, true},
	} {
		if got := compile(t, c.f).Match(s); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
	s.Time = time.Time{}
	if compile(t, Filter{Since: noon}).Match(s) || compile(t, Filter{Until: noon}).Match(s) {
		t.Error("a document without a time is in a range")
	}
}

// Texts that differ in a byte are different, as values, as keys, and after a trip through JSON.
func TestOddTexts(t *testing.T) {
	for i, value := range odd {
		for j, other := range odd {
			f := Filter{Where: []Condition{{Key: "k" + other, In: []any{other}}}, Metadata: map[string]any{"k" + other: other}}
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			var back Filter
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			for _, f := range []Filter{f, back} {
				if got := compile(t, f).Match(Subject{Metadata: map[string]any{"k" + value: value}}); got != (i == j) {
					t.Errorf("%+q for %+q: %v", value, other, got)
				}
			}
		}
	}
}

func TestProblems(t *testing.T) {
	long := strings.Repeat("x", maxPrefix+1)
	_, problems := Filter{Status: "gone", Track: "\xff", IDs: []string{"a", ""}, IDPrefix: long, PathPrefix: long,
		Metadata: map[string]any{"k": struct{}{}}, Where: []Condition{{Key: ""}}, Since: noon, Until: noon}.Compile()
	var fields []string
	for _, p := range problems {
		fields = append(fields, p.JSON)
		if f, ok := reflect.TypeFor[Filter]().FieldByName(p.Field); !ok || !strings.HasPrefix(f.Tag.Get("json"), p.JSON+",") {
			t.Errorf("%s is not %s", p.Field, p.JSON)
		}
		if v, ok := p.Value.(string); p.Want == "" || !ok || len(v) > 300 {
			t.Errorf("%s: %v, want %s", p.Field, p.Value, p.Want)
		}
	}
	if want := []string{"status", "track", "id_prefix", "path_prefix", "ids", "metadata", "where", "until"}; !slices.Equal(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
	for _, bad := range []Filter{{Where: []Condition{{Key: "k", In: []any{nil}}}}, {Where: []Condition{{Key: "k", Min: true}}},
		{Where: []Condition{{Key: "k", Max: []string{"a"}}}}, {Where: make([]Condition, maxConditions+1)}, {IDs: make([]string, MaxIDs+1)},
		{Where: []Condition{{Key: "k", In: make([]any, maxValues+1)}}}, {Metadata: map[string]any{"": 1}}} {
		if _, problems := bad.Compile(); len(problems) != 1 {
			t.Errorf("%d problems", len(problems))
		}
	}
}

// The JSON form is stable: every field under its name, zero ones left out, whole numbers exact.
func TestJSON(t *testing.T) {
	f := Filter{Status: "processed", Track: "t", IDs: []string{"a"}, IDPrefix: "i", PathPrefix: "p", Metadata: map[string]any{"n": int64(1<<53 + 1)},
		Where: []Condition{{Key: "y", In: []any{int64(1<<53 + 1), "x", 0.5}, Min: int64(-3), Max: "z"}, {Key: "there"}}, Since: noon, Until: noon.Add(time.Hour)}
	const want = `{"status":"processed","track":"t","ids":["a"],"id_prefix":"i","path_prefix":"p","metadata":{"n":9007199254740993},` +
		`"where":[{"key":"y","in":[9007199254740993,"x",0.5],"min":-3,"max":"z"},{"key":"there"}],"since":"2024-05-01T12:00:00Z","until":"2024-05-01T13:00:00Z"}`
	b, err := json.Marshal(f)
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v", b, err)
	}
	var back Filter
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("%+v, %v", back, err)
	}
	if b, err := json.Marshal(Filter{}); err != nil || string(b) != "{}" || !(Filter{}).IsZero() || f.IsZero() {
		t.Errorf("%s, %v", b, err)
	}
}
