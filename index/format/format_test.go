package format

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/index"
)

// checkDecode is F1 to F3 on any bytes, under small limits.
func checkDecode(t *testing.T, name string, data []byte) {
	t.Helper()
	o := Options{MaxUnpacked: 4 << 20, MaxBytes: 4 << 20, Timeout: 20 * time.Second}
	r, err := Decode(context.Background(), name, data, o)
	again, err2 := Decode(context.Background(), name, data, o)
	if !reflect.DeepEqual(r, again) || (err == nil) != (err2 == nil) {
		t.Fatalf("two calls differ: %v, %v", err, err2)
	}
	if err != nil {
		for _, known := range []error{ErrNotText, ErrEncoding, ErrEmpty, ErrMalformed, ErrEncrypted, ErrLimit} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Fatalf("an error of no known kind: %v", err)
	}
	for _, d := range r.Documents {
		if !utf8.ValidString(d.Text) || strings.TrimSpace(d.Text) == "" || !strings.HasPrefix(d.ID, name) || d.Path != name {
			t.Fatalf("document %+v", d)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, name := range []string{"a.txt", "a.html", "a.json", "a.jsonl", "a.csv", "a.tsv"} {
		for _, s := range []string{"plain", "<table><tr><td>x<td>y</table><p>p", `[{"id":1,"text":"x"},{"text":""}]`, `{"a":[1,{"b":null}]}`, "a,b\n1,\"2\n", "\xff\xfea\x00", "\x82\xa0\x82\xa2"} {
			f.Add(name, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		checkDecode(t, strings.ToValidUTF8(name, "\uFFFD"), data)
	})
}

func TestRows(t *testing.T) {
	doc := func(id, text string, meta map[string]any) index.Document {
		path, _, _ := strings.Cut(id, "#")
		return index.Document{ID: id, Path: path, Text: text, Metadata: meta}
	}
	for _, tc := range []struct {
		name, file, data string
		o                Options
		want             []index.Document
		note             string
	}{
		{"JSON lines", "a.jsonl", "{\"id\": 7, \"text\": \"one\", \"n\": 1.5, \"ok\": true, \"tags\": [\"x\", \" y, z\"], \"mixed\": [1, \"x\"], \"none\": []}\n\n{\"text\": \"two\", \"Id\": \"b c\"}\n", Options{},
			[]index.Document{doc("a.jsonl#7", "one", map[string]any{"id": int64(7), "n": 1.5, "ok": true, "tags": []string{"x", "y, z"}, "mixed": `[1,"x"]`}), doc("a.jsonl#b c", "two", map[string]any{"Id": "b c"})}, ""},
		{"JSON array", "a.json", ` [{"title":"T","year":1999},{"title":null}] `, Options{}, []index.Document{doc("a.json#1", "title: T\nyear: 1999\n", nil)}, "1 row without text"},
		{"JSON object", "a.json", `{"a": {"b": 1}}`, Options{}, []index.Document{doc("a.json", `{"a": {"b": 1}}`, nil)}, ""},
		{"escapes", "a.json", `{"\u6807\u9898": "caf\u00e9 \ud83d\ude00 \u003cb\u003e \\u00e9 \u0022\u005c\u0000\u202e\ud800 \ud800\u0041"}`, Options{},
			[]index.Document{doc("a.json", `{"标题": "café 😀 <b> \\u00e9 \u0022\u005c\u0000\u202e\ud800 \ud800A"}`, nil)}, ""},
		{"escapes of a list", "a.json", `["\u00e9"]`, Options{}, []index.Document{doc("a.json", `["é"]`, nil)}, "not an array of objects"},
		{"values that are no text", "a.json", `[{"text": "x", "of": {"who": "R&D <é>"}}]`, Options{}, []index.Document{doc("a.json#1", "x", map[string]any{"of": `{"who":"R&D <é>"}`})}, ""},
		{"array of no objects", "a.json", `[{"a":1}, 2]`, Options{}, []index.Document{doc("a.json", `[{"a":1}, 2]`, nil)}, "not an array of objects"},
		{"broken JSON", "a.json", `{"a": `, Options{}, []index.Document{doc("a.json", `{"a": `, nil)}, "not valid JSON"},
		{"CSV", "a.csv", "sku,name,price\r\n1,\"Lamp, \"\"brass\"\"\",9\r\n2,Wick,\r\n", Options{IDField: "sku"},
			[]index.Document{doc("a.csv#1", "sku: 1\nname: Lamp, \"brass\"\nprice: 9\n", nil), doc("a.csv#2", "sku: 2\nname: Wick\n", nil)}, ""},
		{"CSV with a text column", "a.csv", "sku,name\n1,Lamp\n1,Wick\n3,\n4,Oil,x\n", Options{IDField: "sku", TextField: "name"},
			[]index.Document{doc("a.csv#1", "Lamp", map[string]any{"sku": "1"}), doc("a.csv#1#2", "Wick", map[string]any{"sku": "1"}), doc("a.csv#4", "Oil", map[string]any{"sku": "4", "column 3": "x"})}, "1 row with the id"},
		{"CSV with semicolons", "a.csv", "name;price\nLamp, brass;9,50\n", Options{}, []index.Document{doc("a.csv#1", "name: Lamp, brass\nprice: 9,50\n", nil)}, `columns separated by ';'`},
		{"CSV with bars", "a.csv", "a|b;c|d\n1|2|3\n", Options{}, []index.Document{doc("a.csv#1", "a: 1\nb;c: 2\nd: 3\n", nil)}, `columns separated by '|'`},
		{"a comma is the separator before others", "a.csv", "a,b;c;d\n1,2\n", Options{}, []index.Document{doc("a.csv#1", "a: 1\nb;c;d: 2\n", nil)}, ""},
		{"one column with a semicolon in its name", "a.csv", "what; why\nLamp\n", Options{}, []index.Document{doc("a.csv#1", "what; why: Lamp\n", nil)}, ""},
		{"a separator in a quoted name", "a.csv", "\"a;b\"\nLamp; brass\n", Options{}, []index.Document{doc("a.csv#1", "a;b: Lamp; brass\n", nil)}, ""},
		{"quotes inside cells", "a.csv", "a,b\n5\" pipe,\"two\nlines, \"\"quoted\"\"\"\r\n,\"\"\n", Options{}, []index.Document{doc("a.csv#1", "a: 5\" pipe\nb: two\nlines, \"quoted\"\n", nil)}, "1 row without text"},
		{"TSV", "a.tsv", "k\tv\nx\ty\n", Options{}, []index.Document{doc("a.tsv#1", "k: x\nv: y\n", nil)}, ""},
		{"one cell is no table", "a.csv", "just one line\n", Options{}, []index.Document{doc("a.csv", "just one line\n", nil)}, ""},
		{"a table as text", "a.csv", "a,b\n1,2\n", Options{Format: Text}, []index.Document{doc("a.csv", "a,b\n1,2\n", nil)}, ""},
	} {
		r, err := Decode(context.Background(), tc.file, []byte(tc.data), tc.o)
		if err != nil || !reflect.DeepEqual(r.Documents, tc.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", tc.name, r.Documents, err, tc.want)
		}
		if notes := strings.Join(r.Report.Notes, "; "); !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want one with %q", tc.name, notes, tc.note)
		}
	}
	for _, tc := range []struct {
		name, file, data string
		o                Options
		err              error
		says             string
	}{
		{"line that is no object", "a.jsonl", "{\"text\":\"x\"}\nnope\n", Options{}, ErrMalformed, ""},
		{"two objects in a line", "a.jsonl", "{\"text\":\"x\"}{}\n", Options{}, ErrMalformed, ""},
		{"bracket behind an object", "a.jsonl", "{\"text\":\"x\"}]\n", Options{}, ErrMalformed, ""},
		{"quote that is not closed", "a.csv", "a,b\n1,2\n\"3,4\n5,6\n", Options{}, ErrMalformed, "line 3: the quote"},
		{"quote that the next one does not close", "a.csv", "a,b\n\"1\n\",2\n\"3,4\n5,\"6\"\n", Options{}, ErrMalformed, "line 4: the quote"},
		{"quote not doubled", "a.tsv", "a\tb\n\"so \"it\" is\"\t2\n", Options{}, ErrMalformed, "line 2: the quote"},
		{"rows without text", "a.csv", "a,b\n,\n", Options{}, ErrEmpty, ""},
		{"a header alone", "a.csv", "a,b\r\n", Options{}, ErrEmpty, "none below it"},
		{"a field that no row has", "a.csv", "a,b\n1,2\n", Options{TextField: "c"}, ErrEmpty, ""},
		{"too many rows", "a.csv", "a\n1\n2\n3\n", Options{MaxDocuments: 2}, ErrLimit, ""},
		{"file too large", "a.txt", "12345", Options{MaxBytes: 4}, ErrLimit, ""},
		{"unknown format", "a.txt", "x", Options{Format: "odt"}, ErrOption, ""},
		{"negative limit", "a.txt", "x", Options{MaxDocuments: -1}, ErrOption, ""},
		{"no such encoding", "a.txt", "x", Options{Encoding: "klingon"}, ErrOption, ""},
	} {
		if _, err := Decode(context.Background(), tc.file, []byte(tc.data), tc.o); !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %v with %q", tc.name, err, tc.err, tc.says)
		}
	}
}

func TestWord(t *testing.T) {
	body := paragraph("berschrift1", "The  Mill") + paragraph("", "It grinds <b/>&amp; rests.") + paragraph("", "") +
		`<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>first</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>second</w:t><w:tab/><w:t>tab</w:t></w:r></w:p>` +
		paragraph("berschrift2", "Prices") +
		`<w:tbl><w:tr><w:tc>` + paragraph("", "what") + `</w:tc><w:tc>` + paragraph("", "a|b") + `</w:tc></w:tr><w:tr><w:tc>` + paragraph("", "flour") + paragraph("", "fine") +
		`</w:tc><w:tc><w:tbl><w:tr><w:tc>` + paragraph("", "inner") + `</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>` +
		`<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>`
	text, r := decodeOne(t, "mill.docx", docxOf(t, body))
	want := "# The Mill\n\nIt grinds & rests.\n\n- first\n- second\ttab\n\n## Prices\n\n| what | a\\|b |\n|---|---|\n| flour fine | inner |\n\nnew\n"
	if text != want {
		t.Errorf("got %q\nwant %q", text, want)
	}
	if m := r.Documents[0].Metadata; m["title"] != "The Mill" || m["author"] != "A. Miller" {
		t.Errorf("metadata %v", m)
	}
}

func TestWordHostile(t *testing.T) {
	bomb := docxOf(t, paragraph("", strings.Repeat("a", 8<<20)))
	for _, tc := range []struct {
		name string
		data []byte
		o    Options
		err  error
	}{
		{"bomb", bomb, Options{MaxUnpacked: 1 << 20}, ErrLimit},
		{"too much text", bomb, Options{MaxBytes: 1 << 20}, ErrLimit},
		{"no zip", []byte("PK\x03\x04"), Options{}, ErrMalformed},
		{"no body", zipOf(t, map[string]string{"x": "y"}), Options{}, ErrMalformed},
		{"broken body", zipOf(t, map[string]string{"word/document.xml": "<a><b></a>"}), Options{}, ErrMalformed},
		{"nesting", zipOf(t, map[string]string{"word/document.xml": strings.Repeat("<a>", 2000)}), Options{}, ErrMalformed},
		{"entities", zipOf(t, map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a "aaaa">]><p><t>&a;</t></p>`}), Options{}, ErrMalformed},
		{"nothing in it", docxOf(t, paragraph("", " ")), Options{}, ErrEmpty},
		{"no time", bomb, Options{Timeout: time.Nanosecond}, ErrLimit},
	} {
		if _, err := Decode(context.Background(), "x.docx", tc.data, tc.o); !errors.Is(err, tc.err) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.err)
		}
	}
}

func FuzzWord(f *testing.F) {
	f.Add("<w:p><w:r><w:t>x</w:t></w:r></w:p>", "<w:style/>")
	f.Add("<w:tbl><w:tr><w:tc></w:tr></w:tbl></w:tbl><w:p/>", "")
	f.Fuzz(func(t *testing.T, body, styles string) {
		checkDecode(t, "x.docx", zipOf(t, map[string]string{"word/document.xml": body, "word/styles.xml": styles}))
		checkDecode(t, "x.docx", []byte(body))
	})
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]Format{"a.MD": Markdown, "a.htm": HTML, "a.ndjson": JSONL, "a.go": Text, "noending": Text} {
		if got := formatOf(name, []byte("x"), Auto); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, f := range endings {
		if !slices.Contains(Formats(), f) {
			t.Errorf("%s is no format", f)
		}
	}
}
