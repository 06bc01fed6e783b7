package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/testkit"
)

func TestCleanText(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		report   CleanReport
	}{
		{"", "", CleanReport{}},
		{" \n\t ", "", CleanReport{}},
		{"  plain text\r\nwith\tlines \n", "plain text\r\nwith\tlines", CleanReport{}},
		{"a &lt;b&gt; &amp;amp; &mdash; c", "a <b> &amp; — c", CleanReport{}},
		{"a\x00b\x01c\x7fd\ufffee\uffff", "abcde", CleanReport{Controls: 5}},
		{"\x1b[31mRed\x1b[0m alert", "Red alert", CleanReport{Controls: 9}},
		{"&#1;x&#x1f;", "x", CleanReport{Controls: 2}},
		{"a stray \xff byte", "a stray  byte", CleanReport{Invalid: 1}},
		{"\ufeffbook", "\ufeffbook", CleanReport{}},
		{"e\u0301 stays apart, so does Ａ", "e\u0301 stays apart, so does Ａ", CleanReport{}},
		{"\ufffd is a character", "\ufffd is a character", CleanReport{}},
	} {
		got, report, err := CleanText(tc.in, InvalidDrop)
		if got != tc.want || report != tc.report || err != nil {
			t.Errorf("%q: got %q, %+v, %v; want %q, %+v", tc.in, got, report, err, tc.want, tc.report)
		}
	}
}

func TestHC14_Text(t *testing.T) {
	const text = "Pump\x00 A\x01 \xff\xfe end"
	got, report, err := CleanText(text, InvalidDrop)
	if got != "Pump A  end" || report != (CleanReport{Invalid: 2, Controls: 2}) || err != nil {
		t.Errorf("got %q, %+v, %v", got, report, err)
	}
	_, _, err = CleanText(text, InvalidRefuse)
	var te *TextError
	if !errors.Is(err, ErrText) || !errors.As(err, &te) || *te != (TextError{Offset: 9, Invalid: 2, Nulls: 1, Bytes: 15}) {
		t.Errorf("got %v (%+v)", err, te)
	}
	if _, _, err := CleanText("NUL \x00 is no fault of encoding", InvalidRefuse); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestForeignEncodings refuses texts in other encodings and takes the odd UTF-8 ones.
func TestForeignEncodings(t *testing.T) {
	dir := testkit.Data(t, "messy-docs")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{
		"candide-utf-16le.txt": true, "UTF-16LE-BOM.html": true, "rashomon-shift-jis.txt": true,
		"sunzi-bingfa-simplified-gbk.txt": true, "unsu-joh-eun-nal-euc-kr.txt": true,
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text, report, err := CleanText(string(b), InvalidDrop)
		if (err != nil) != refused[e.Name()] {
			t.Errorf("%s: %v, %+v", e.Name(), err, report)
		}
		if err == nil && (!utf8.ValidString(text) || strings.IndexFunc(text, isControl) >= 0) {
			t.Errorf("%s is not clean", e.Name())
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("Pump\x00 A\x01 \xff\xfe end")
	f.Add("\x1b[\x1b[31m&#27;[0m &amp;lt;")
	f.Fuzz(func(t *testing.T, text string) {
		got, report, err := CleanText(text, InvalidDrop)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) || strings.IndexFunc(got, isControl) >= 0 || strings.TrimSpace(got) != got {
			t.Errorf("%q becomes %q", text, got)
		}
		if report.Invalid+report.Controls > len(text) {
			t.Errorf("%q: %+v", text, report)
		}
		if report == (CleanReport{}) && !strings.Contains(text, "&") && got != strings.TrimSpace(text) {
			t.Errorf("%q becomes %q without a word", text, got)
		}
	})
}
