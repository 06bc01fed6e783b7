package format

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/testkit"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

func TestDecode(t *testing.T) {
	utf16le, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String("The harbour light.")
	if err != nil {
		t.Fatal(err)
	}
	sjis, err := japanese.ShiftJIS.NewEncoder().String(strings.Repeat("港の灯台は古い。漁師たちは毎朝それを見る。", 8))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, id, raw, enc string
		want               string // substring of the text
		err                error
		says               string // substring of the error
		note               string // substring of a note
	}{
		{name: "plain", id: "a.txt", raw: "plain text", want: "plain text"},
		{name: "BOM is dropped", id: "a.txt", raw: "\xEF\xBB\xBFplain", want: "plain"},
		{name: "UTF-16 with BOM", id: "a.txt", raw: "\xFF\xFE" + utf16le, want: "The harbour light."},
		{name: "UTF-16 without BOM", id: "a.txt", raw: utf16le, want: "The harbour light."},
		{name: "stray NUL is text", id: "a.txt", raw: strings.Repeat("pump A\n", 100) + "\x00", want: "pump A"},
		{name: "binary", id: "a.bin", raw: "\x7fELF" + strings.Repeat("\x00\x01", 40), err: ErrNotText},
		{name: "PDF by content", id: "a.txt", raw: "%PDF-1.7\nplain ASCII", err: ErrMalformed, says: "PDF"},
		{name: "zip", id: "a.zip", raw: "PK\x03\x04rest", err: ErrNotText, says: "zip"},
		{name: "binary without NUL", id: "a", raw: strings.Repeat("\x01\xff\x02\xfe plain", 9), err: ErrNotText, says: "control characters"},
		{name: "binary under a named encoding", id: "a", raw: strings.Repeat("\x00\x01", 40), enc: "shift_jis", err: ErrNotText},
		{name: "UTF-16 when named is full of NUL", id: "a", raw: utf16le, enc: "UTF-16LE", want: "The harbour light."},
		{name: "stray control characters in UTF-8 are text", id: "a.txt", raw: "é" + strings.Repeat("\x01", 9), want: "é"},
		{name: "ISO-2022-JP switches by ESC", id: "a.txt", raw: "\x1b$B9A\x1b(B", enc: "iso-2022-jp", want: "港"},
		{name: "Shift_JIS is recognised and told", id: "a.txt", raw: sjis, want: "港の灯台", note: "read as shift_jis"},
		{name: "windows-1252 is not guessed", id: "a.txt", raw: "Der Flu\xdf ist \xfcber die Ufer getreten, und die Br\xfccke steht f\xfcr Fu\xdfg\xe4nger nicht mehr offen.", err: ErrEncoding, says: "windows-1252"},
		{name: "UTF-8 when named is checked", id: "a.txt", raw: sjis, enc: "utf-8", err: ErrEncoding},
		{name: "bytes that an encoding does not have", id: "a.txt", raw: sjis + "\x81\x20", enc: "shift_jis", want: "港の灯台", note: "1 character that shift_jis does not have"},
		{name: "nothing comes near", id: "a.txt", raw: "\xfe\xfd plain \x81", err: ErrEncoding, says: "encoding"},
		{name: "Shift_JIS when named", id: "a.txt", raw: sjis, enc: "shift_jis", want: "港の灯台"},
		{name: "unknown encoding", id: "a.txt", raw: "x", enc: "klingon", says: `unknown encoding "klingon"`},
		{name: "empty", id: "a.txt", raw: " \n\t", err: ErrEmpty},
		{name: "HTML by name", id: "a.html", raw: "<h1>Lamp</h1><p>It <b>burns</b>.</p><script>x()</script>", want: "# Lamp\n\nIt **burns**."},
		{name: "HTML by content", id: "page", raw: "<!DOCTYPE html><html><body><p>Lamp</p></body></html>", want: "Lamp"},
		{name: "HTML with declared charset", id: "a.htm", raw: "<html><head><meta charset=\"windows-1252\"></head><body>caf\xe9</body></html>", want: "café"},
		{name: "Markdown is kept", id: "a.md", raw: "# Lamp\n<b>x</b>", want: "<b>x</b>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Decode(context.Background(), c.id, []byte(c.raw), Options{Encoding: c.enc})
			if c.err == nil && c.says == "" {
				if err != nil || len(r.Documents) != 1 || !strings.Contains(r.Documents[0].Text, c.want) {
					t.Fatalf("got %+v, %v; want text with %q", r, err, c.want)
				}
				if notes := strings.Join(r.Report.Notes, "; "); !strings.Contains(notes, c.note) || (notes != "") != (c.note != "") && c.name != "UTF-16 without BOM" || r.Report.Encoding == "" {
					t.Errorf("report %+v, want a note with %q", r.Report, c.note)
				}
				return
			}
			if c.err != nil && !errors.Is(err, c.err) || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got error %v, want %v saying %q", err, c.err, c.says)
			}
		})
	}
}

// messy are the files that break ingesters, by name, with the encoding that each is read in.
var messy = map[string]string{
	"README.he-IL.md": "utf-8", "README.ja-JP.md": "utf-8", "README.zh-CN.md": "utf-8", "UTF-16LE-BOM.html": "utf-16le", "blns.txt": "utf-8",
	"candide-utf-16le.txt": "utf-16le", "emoji-test.txt": "utf-8", "go_spec.html": "utf-8", "lightrag-FileProcessingPipeline-zh.md": "utf-8",
	"one-line-262144.csv": "utf-8", "plain-text-unsafe.dat": "utf-8", "rashomon-shift-jis.txt": "shift_jis",
	"sunzi-bingfa-simplified-gbk.txt": "gb18030", "sunzi-bingfa-simplified-utf-8.txt": "utf-8", "unsu-joh-eun-nal-euc-kr.txt": "euc-kr",
}

// Every messy file becomes text, and what was assumed of it is told.
func TestMessyFiles(t *testing.T) {
	dir := testkit.Data(t, "messy-docs")
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != len(messy) {
		t.Fatalf("%d files, %v; want %d", len(names), err, len(messy))
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		r, err := Decode(context.Background(), base, raw, Options{})
		if err != nil || len(r.Documents) == 0 {
			t.Errorf("%s: %d documents, %v", base, len(r.Documents), err)
			continue
		}
		text := r.Documents[0].Text
		if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) && base != "blns.txt" && base != "plain-text-unsafe.dat" {
			t.Errorf("%s: characters were lost", base)
		}
		// A byte order mark is a declaration; zeros and frequencies of bytes are not.
		declared := r.Report.Encoding == "utf-8" || base == "UTF-16LE-BOM.html"
		if r.Report.Encoding != messy[base] || r.Report.Assumed == declared || r.Report.Assumed == (len(r.Report.Notes) == 0) {
			t.Errorf("%s: report %+v", base, r.Report)
		}
	}
}

// What a page says comes out once, in order, tables as tables; what stands around it does not.
func TestFromHTML(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"title and heading alike", "<title>Rose  Walk</title><h1>Rose <b>Walk</b></h1><p>x</p>", "# Rose **Walk**\n\nx"},
		{"title with the name of the site", "<title>Rose Walk - Skarn</title><h1>Rose Walk</h1>", "# Rose Walk"},
		{"title of its own", "<title>Skarn</title><h1>Rose Walk</h1>", "# Skarn\n\n# Rose Walk"},
		{"title of a drawing is none", "<svg><title>Arrow</title></svg><p>x</p>", "x"},
		{"around the content", "<nav>Home</nav><aside>Ad</aside><div role=navigation>Up</div><p hidden>secret</p><template>t</template><script>s()</script><style>p{}</style><!-- c --><p>x</p>", "x"},
		{"picture", `<p>See <img src=a.png alt=" the
			map "> and <img src=b.png>here.</p>`, "See the map and here."},
		{"table", "<table><tr><th>A<th>B</tr><tr><td>1<td>2</tr><tr><td><td></tr></table>", "| A | B |\n|---|---|\n| 1 | 2 |"},
		{"table without header", "<table><tr><td>a<td>b</tr><tr><td>1<td>2</tr></table>", "| a | b |\n|---|---|\n| 1 | 2 |"},
		{"lines in a cell", "<table><tr><th>A</tr><tr><td>one<br>two<p>three</p><pre>four\nfive</pre></tr></table>", "| A |\n|---|\n| one two three four five |"},
		{"bar in a cell", "<table><tr><th>A</tr><tr><td>a|b</tr></table>", "| A |\n|---|\n| a\\|b |"},
		{"cell over two columns", "<table><tr><th>A<th>B</tr><tr><td colspan=2>1</tr></table>", "| A | B |\n|---|---|\n| 1 | 1 |"},
		{"table for the layout", "<table role=presentation><tr><td>Left</td><td>Right</td></tr></table>", "Left\n\nRight"},
		{"list in a table", "<table><tr><td><ul><li>Left</ul><td>Right</table>", "- Left\n\nRight"},
		{"table in a table", "<table><tr><td>Left<td><table><tr><th>A<th>B<tr><td>1<td>2</table></table>", "Left\n\n| A | B |\n|---|---|\n| 1 | 2 |"},
		{"table in a mark", "<b><table><tr><td>Left<td>Right</table></b>", "**Left**\n\n**Right**"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := fromHTML("<!DOCTYPE html><html><body>" + c.page + "</body></html>")
			if err != nil {
				t.Fatal(err)
			}
			if got = strings.TrimSpace(got); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
