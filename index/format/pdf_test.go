package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func decodeOne(t *testing.T, name string, data []byte) (string, Result) {
	t.Helper()
	r, err := Decode(context.Background(), name, data, Options{})
	if err != nil || len(r.Documents) != 1 {
		t.Fatalf("%d documents, %v", len(r.Documents), err)
	}
	return r.Documents[0].Text, r
}

func TestPDFText(t *testing.T) {
	text, r := decodeOne(t, "mill.pdf", pdfOf(helvetica,
		`BT /F1 12 Tf 14 TL 72 700 Td (The tide mill) Tj T* (grinds at ebb) Tj T* T* T* (and rests \(twice\) a day.) Tj ET`,
		`q 1 0 0 1 72 700 cm BT /F1 10 Tf 1 0 0 1 0 0 Tm [(Two) -300 (words) 20 (.)] TJ 1 0 0 1 0 -12 Tm (caf\351 \200 5) Tj ET Q`,
		`BT /F1 12 Tf ET`))
	want := "The tide mill\ngrinds at ebb\n\nand rests (twice) a day.\n\nTwo words.\ncafé € 5"
	if text != want {
		t.Errorf("got %q\nwant %q", text, want)
	}
	if m := r.Documents[0].Metadata; m["title"] != "The Tide Mill" || m["author"] != "A. Miller" {
		t.Errorf("metadata %v", m)
	}
	if len(r.Report.Notes) != 1 || !strings.Contains(r.Report.Notes[0], "no text on 1 page of 3") {
		t.Errorf("notes %q", r.Report.Notes)
	}
}

func TestPDFFonts(t *testing.T) {
	cmap := "begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0001> <6F6E> <0002> <D83DDE80> endbfchar " +
		"2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<00660069> <0031>] endbfrange endcmap"
	b := newPDF()
	toUnicode := b.deflated("", cmap)
	font := b.object("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode %d 0 R /DescendantFonts [<< /DW 600 /W [1 [1000 900] 16 18 700] >>] >>", toUnicode)
	named := b.object("<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /MacRomanEncoding /Differences [1 /Euro /fi /uni4E2D /nonsense] >> >>")
	content := b.stream("", "BT /F1 10 Tf 50 500 Td <00010002> Tj 0 -12 Td <0010001100120020002100ff> Tj 0 -12 Td /F2 10 Tf <01020304418E> Tj ET /X1 Do")
	form := b.stream(fmt.Sprintf("/Type /XObject /Subtype /Form /Resources << /Font << /G %d 0 R >> >>", named), "BT /G 10 Tf 50 400 Td (form) Tj ET /X1 Do")
	tree := len(b.offsets) + 2
	page := b.object("<< /Type /Page /Contents [%d 0 R] /Resources << /Font << /F1 %d 0 R /F2 %d 0 R >> /XObject << /X1 %d 0 R >> >> >>", content, font, named, form)
	b.object("<< /Type /Pages /Count 1 /Kids [%d 0 R] >>", page)
	data := b.finish(b.object("<< /Type /Catalog /Pages %d 0 R >>", tree), "")
	text, r := decodeOne(t, "x.pdf", data)
	if want := "潮🚀\nABCfi1\n€fi中Aé\n\nform"; text != strings.Replace(want, "潮", "\u6f6e", 1) {
		t.Errorf("got %q, want %q", text, want)
	}
	if len(r.Report.Notes) != 1 || !strings.Contains(r.Report.Notes[0], "1 character whose") {
		t.Errorf("notes %q", r.Report.Notes)
	}
}

// Objects in object streams, a table of objects that is nonsense, and none at all: what can be read is read.
func TestPDFRebuild(t *testing.T) {
	b := newPDF()
	content := b.deflated("", "BT /F1 12 Tf 72 700 Td (Packed away) Tj ET")
	objects := []string{helvetica, fmt.Sprintf("<< /Type /Page /Contents %d 0 R /Resources << /Font << /F1 10 0 R >> >> >>", content),
		"<< /Type /Pages /Count 1 /Kids [11 0 R] >>", "<< /Type /Catalog /Pages 12 0 R >>"}
	var head, body strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&head, "%d %d ", 10+i, body.Len())
		body.WriteString(o + "\n")
	}
	b.deflated(fmt.Sprintf("/Type /ObjStm /N %d /First %d", len(objects), head.Len()), head.String()+body.String())
	packed := b.buf.String()
	plain := string(pdfOf(helvetica, "BT /F1 12 Tf 72 700 Td (Packed away) Tj ET"))
	for name, data := range map[string]string{
		"object stream, no table": packed,
		"no table":                plain[:strings.Index(plain, "xref")],
		"a table of lies":         strings.Replace(plain, "xref\n0 ", "xref\n4000000000 ", 1),
		"shifted":                 "junk\n" + plain,
		"cut at the end":          plain[:len(plain)-9],
		"object twice":            strings.Replace(plain, "2 0 obj", "2 0 obj\n<< >>\nendobj\n2 0 obj", 1),
	} {
		r, err := Decode(context.Background(), "x.pdf", []byte(data), Options{})
		if err != nil || r.Documents[0].Text != "Packed away" {
			t.Errorf("%s: %+v, %v", name, r.Documents, err)
		}
	}
}

func TestPDFHostile(t *testing.T) {
	bomb := strings.Repeat("(a) Tj ", 1<<20)
	b := newPDF()
	loop := b.object("<< /Type /Pages /Kids [1 0 R 1 0 R] /Count 2 >>")
	circle := b.finish(b.object("<< /Type /Catalog /Pages %d 0 R >>", loop), "")
	b = newPDF()
	self := b.object("1 0 R")
	selfRef := b.finish(b.object("<< /Type /Catalog /Pages %d 0 R >>", self), "")
	b = newPDF()
	font := b.object("<< /Type /Font /Subtype /Type1 /ToUnicode %d 0 R >>", 2)
	b.stream("", "1000000000000 beginbfchar endbfchar 1 beginbfrange <00> <FFFFFFFF> <0041> endbfrange")
	content := b.stream("", "BT /F1 12 Tf (still here) Tj ET")
	page := b.object("<< /Type /Page /Contents %d 0 R /Resources << /Font << /F1 %d 0 R >> >> >>", content, font)
	pages := b.object("<< /Type /Pages /Kids [%d 0 R] >>", page)
	cmap := b.finish(b.object("<< /Type /Catalog /Pages %d 0 R >>", pages), "")
	deep := pdfOf(helvetica, strings.Repeat("[", 1<<20)+" BT /F1 12 Tf (after) Tj ET")
	plain := pdfOf(helvetica, "BT /F1 12 Tf (x) Tj ET")
	for _, tc := range []struct {
		name string
		data []byte
		o    Options
		err  error
	}{
		{"bomb", pdfOf(helvetica, "BT /F1 12 Tf "+bomb), Options{MaxUnpacked: 1 << 20}, ErrLimit},
		{"too much text", pdfOf(helvetica, "BT /F1 12 Tf "+bomb), Options{MaxBytes: 1 << 16}, ErrLimit},
		{"circle of pages", circle, Options{}, ErrMalformed},
		{"object that is itself", selfRef, Options{}, ErrMalformed},
		{"endless map", cmap, Options{}, nil},
		{"deep nesting", deep, Options{}, nil},
		{"encrypted", []byte(strings.Replace(string(plain), "/Info", "/Encrypt 9 0 R /Info", 1)), Options{}, ErrEncrypted},
		{"huge number", []byte(strings.Replace(string(plain), "1 0 obj", "9999999999 0 obj", 1)), Options{}, ErrEmpty},
		{"header alone", []byte("%PDF-1.7\n"), Options{}, ErrMalformed},
		{"no time", plain, Options{Timeout: time.Nanosecond}, ErrLimit},
		{"pictures only", pdfOf(helvetica, "q 1 0 0 1 0 0 cm Q"), Options{}, ErrEmpty},
	} {
		_, err := Decode(context.Background(), "x.pdf", tc.data, tc.o)
		if !errors.Is(err, tc.err) || tc.err == nil && err != nil {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.err)
		}
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Decode(done, "x.pdf", plain, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(pdfOf(helvetica, "BT /F1 12 Tf 72 700 Td (text) Tj ET"))
	f.Add(bytes.Replace(pdfOf(helvetica, "BT /F1 12 Tf [(a) -900 (b)] TJ ET"), []byte("/Filter /FlateDecode"), nil, 1))
	f.Add([]byte("%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Contents 4 0 R/Resources<</Font<</F<</Encoding<</Differences[1/a]>>>>>>>>>>endobj 4 0 obj<</Length 30>>stream\nBT /F 1 Tf <0102> Tj (x) ' ET\nendstream endobj"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !isPDF(data) {
			data = append([]byte("%PDF-1.4\n"), data...)
		}
		checkDecode(t, "x.pdf", data)
	})
}
