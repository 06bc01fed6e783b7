package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	}{
		{name: "plain", id: "a.txt", raw: "plain text", want: "plain text"},
		{name: "BOM is dropped", id: "a.txt", raw: "\xEF\xBB\xBFplain", want: "plain"},
		{name: "UTF-16 with BOM", id: "a.txt", raw: "\xFF\xFE" + utf16le, want: "The harbour light."},
		{name: "UTF-16 without BOM", id: "a.txt", raw: utf16le, want: "The harbour light."},
		{name: "stray NUL is text", id: "a.txt", raw: strings.Repeat("pump A\n", 100) + "\x00", want: "pump A"},
		{name: "binary", id: "a.bin", raw: "\x7fELF" + strings.Repeat("\x00\x01", 40), err: errNotText},
		{name: "Shift_JIS is not guessed silently", id: "a.txt", raw: sjis, err: errEncoding, says: "--encoding shift_jis"},
		{name: "Shift_JIS when named", id: "a.txt", raw: sjis, enc: "shift_jis", want: "港の灯台"},
		{name: "unknown encoding", id: "a.txt", raw: "x", enc: "klingon", says: `unknown encoding "klingon"`},
		{name: "empty", id: "a.txt", raw: " \n\t", err: errEmpty},
		{name: "HTML by name", id: "a.html", raw: "<h1>Lamp</h1><p>It <b>burns</b>.</p><script>x()</script>", want: "# Lamp\n\nIt **burns**."},
		{name: "HTML by content", id: "page", raw: "<!DOCTYPE html><html><body><p>Lamp</p></body></html>", want: "Lamp"},
		{name: "HTML with declared charset", id: "a.htm", raw: "<html><head><meta charset=\"windows-1252\"></head><body>caf\xe9</body></html>", want: "café"},
		{name: "Markdown is kept", id: "a.md", raw: "# Lamp\n<b>x</b>", want: "<b>x</b>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			enc := c.enc
			if enc == "" {
				enc = autoEncoding
			}
			got, err := decode(file{id: c.id, raw: []byte(c.raw)}, enc)
			if c.err == nil && c.says == "" {
				if err != nil || !strings.Contains(got, c.want) {
					t.Fatalf("got %q, %v; want text with %q", got, err, c.want)
				}
				return
			}
			var ie *inputError
			if !errors.As(err, &ie) || ie.path != c.id {
				t.Fatalf("got error %v, want an inputError of %s", err, c.id)
			}
			if c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got error %q, want %v saying %q", err, c.err, c.says)
			}
		})
	}
}

// Every messy file becomes text or is refused with an error that says what to do.
func TestDecodeMessyFiles(t *testing.T) {
	dir := testkit.Data(t, "messy-docs")
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	refused := map[string]string{
		"rashomon-shift-jis.txt":          "shift_jis",
		"sunzi-bingfa-simplified-gbk.txt": "gb18030",
		"unsu-joh-eun-nal-euc-kr.txt":     "euc-kr",
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		text, err := decode(file{id: base, raw: raw}, autoEncoding)
		if enc, no := refused[base]; no {
			if !errors.Is(err, errEncoding) || !strings.Contains(err.Error(), "--encoding "+enc) {
				t.Errorf("%s: got %v, want a hint at %s", base, err, enc)
				continue
			}
			if text, err = decode(file{id: base, raw: raw}, enc); err != nil {
				t.Errorf("%s as %s: %v", base, enc, err)
			}
		}
		if err != nil || strings.TrimSpace(text) == "" {
			t.Errorf("%s: %d bytes of text, %v", base, len(text), err)
		}
	}
}
