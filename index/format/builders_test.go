package format

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pdfBuilder writes small PDF files: objects as given, a table of them, a trailer.
type pdfBuilder struct {
	buf     bytes.Buffer
	offsets []int
}

func newPDF() *pdfBuilder {
	b := &pdfBuilder{}
	b.buf.WriteString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	return b
}

// object writes the next object and returns its number, from 1.
func (b *pdfBuilder) object(form string, args ...any) int {
	b.offsets = append(b.offsets, b.buf.Len())
	fmt.Fprintf(&b.buf, "%d 0 obj\n%s\nendobj\n", len(b.offsets), fmt.Sprintf(form, args...))
	return len(b.offsets)
}

func (b *pdfBuilder) stream(dict, content string) int {
	return b.object("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

func (b *pdfBuilder) deflated(dict, content string) int {
	return b.stream(dict+" /Filter /FlateDecode", deflate(content))
}

func deflate(s string) string {
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	io.WriteString(z, s) //nolint:errcheck // memory
	z.Close()            //nolint:errcheck // memory
	return buf.String()
}

func (b *pdfBuilder) finish(root int, trailer string) []byte {
	at := b.buf.Len()
	fmt.Fprintf(&b.buf, "xref\n0 %d\n0000000000 65535 f \n", len(b.offsets)+1)
	for _, o := range b.offsets {
		fmt.Fprintf(&b.buf, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b.buf, "trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(b.offsets)+1, root, trailer, at)
	return b.buf.Bytes()
}

// pdfOf is a file with a page for each content stream, all in one font.
func pdfOf(font string, contents ...string) []byte {
	b := newPDF()
	f := b.object("%s", font)
	var pages []string
	var kids []int
	for _, c := range contents {
		kids = append(kids, b.deflated("", c))
	}
	tree := len(b.offsets) + len(kids) + 1
	for _, k := range kids {
		pages = append(pages, fmt.Sprintf("%d 0 R", b.object("<< /Type /Page /Parent %d 0 R /Contents %d 0 R /Resources << /Font << /F1 %d 0 R >> >> >>", tree, k, f)))
	}
	b.object("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(pages, " "))
	info := b.object("<< /Title (The Tide Mill) /Author (A. Miller) >>")
	return b.finish(b.object("<< /Type /Catalog /Pages %d 0 R >>", tree), fmt.Sprintf("/Info %d 0 R", info))
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

// docxOf is a Word file with this body.
func docxOf(t testing.TB, body string) []byte {
	t.Helper()
	return zipOf(t, map[string]string{
		"word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml": `<w:styles xmlns:w="w"><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>` +
			`<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>`,
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>The Mill</dc:title><dc:creator>A. Miller</dc:creator></cp:coreProperties>`,
	})
}

func zipOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, content := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func paragraph(style, text string) string {
	if style != "" {
		style = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
	}
	return `<w:p>` + style + `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}
