package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// PDF is read in two steps. The file is put together anew first (rebuild): its own table of objects, which is
// often damaged and can make a reader allocate anything, is left aside, and object streams are unpacked under the
// limit. The library then reads objects and content streams of that, through a reader that ends the work when its
// time is over; the tree of pages, fonts and the layout of text are walked here, where every step is bounded.

// isPDF tells a PDF by its first bytes; some begin with a few bytes of something else.
func isPDF(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 64)], []byte("%PDF-"))
}

// pdf returns the text of all pages, and the file's title and author.
func (d *decoding) pdf(data []byte) (text string, meta map[string]any, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.o.Timeout)
	defer cancel()
	f := &pdfFile{d: d, ctx: ctx, left: d.o.MaxUnpacked, fonts: make(map[string]*pdfFont)}
	// The library panics where it does not understand a file.
	defer func() {
		if p := recover(); p != nil {
			text, meta, err = "", nil, f.explain(p)
		}
	}()
	rebuilt, err := f.rebuild(data)
	if err != nil {
		return "", nil, err
	}
	r, err := pdf.NewReader(timedReader{f, bytes.NewReader(rebuilt)}, int64(len(rebuilt)))
	if err != nil {
		return "", nil, f.explain(err)
	}
	root := r.Trailer().Key("Root")
	if err := f.pages(root.Key("Pages"), pdf.Value{}, 0); err != nil {
		return "", nil, err
	}
	f.notes()
	return f.out.String(), f.properties(r.Trailer().Key("Info")), nil
}

// pdfFile is one file being read.
type pdfFile struct {
	d       *decoding
	ctx     context.Context
	left    int64 // bytes that may still be unpacked
	objects int   // in the file
	fonts   map[string]*pdfFont
	out     strings.Builder

	visited, count, silent int // nodes of the tree, pages, pages without text
	damaged                []int
	unmapped               int // characters of fonts that do not say what they mean
}

// timedReader ends the library's work when the time is over: all of it reads on and on.
type timedReader struct {
	f *pdfFile
	r *bytes.Reader
}

func (t timedReader) ReadAt(b []byte, at int64) (int, error) {
	if err := t.f.d.late(t.f.ctx); err != nil {
		panic(err)
	}
	return t.r.ReadAt(b, at)
}

// explain makes an error of what the library panicked with.
func (f *pdfFile) explain(p any) error {
	err, ok := p.(error)
	if ok && (errors.Is(err, ErrLimit) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	if !ok {
		err = fmt.Errorf("%v", p)
	}
	return fmt.Errorf("%w: PDF: %w", ErrMalformed, err)
}

// maxDepth bounds trees of pages, and forms within forms. Real ones stay below ten.
const maxDepth = 32

// pages walks the tree of pages. Each object is a node of it at most once, so what visits more is a circle.
func (f *pdfFile) pages(node, resources pdf.Value, depth int) error {
	if f.visited++; f.visited > f.objects || depth > maxDepth {
		return fmt.Errorf("%w: PDF: the pages refer to each other in a circle", ErrMalformed)
	}
	if own := node.Key("Resources"); !own.IsNull() {
		resources = own
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		if node.Kind() == pdf.Dict {
			return f.page(node, resources)
		}
		return nil
	}
	for i := range kids.Len() {
		if err := f.pages(kids.Index(i), resources, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// page appends the text of a page. One that is damaged gives what could be read, and a note.
func (f *pdfFile) page(page, resources pdf.Value) (err error) {
	f.count++
	t := &typesetter{f: f, ctm: unit}
	func() {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if e := f.explain(p); !errors.Is(e, ErrMalformed) {
				err = e
				return
			}
			f.damaged = append(f.damaged, f.count)
		}()
		t.content(page.Key("Contents"), resources, 0)
	}()
	if err != nil {
		return err
	}
	text := strings.TrimSpace(t.out.String())
	if text == "" {
		f.silent++
		return nil
	}
	if f.out.Len() > 0 {
		f.out.WriteString("\n\n")
	}
	f.out.WriteString(text)
	if f.out.Len() > f.d.o.MaxBytes {
		return &LimitError{What: "bytes of text", Limit: fmt.Sprint(f.d.o.MaxBytes)}
	}
	return nil
}

func (f *pdfFile) notes() {
	r := &f.d.res.Report
	if f.silent > 0 {
		r.note("no text on %s of %d; pictures of text are not read", counted(f.silent, "page"), f.count)
	}
	if n := len(f.damaged); n > 0 {
		r.note("read in part only: %s of %d, the first is page %d", counted(n, "page"), f.count, f.damaged[0])
	}
	if f.unmapped > 0 {
		r.note("left out: %s whose font does not tell what it means", counted(f.unmapped, "character"))
	}
}

// unpack charges a stream to the limit and returns its bytes.
func (f *pdfFile) unpack(stream pdf.Value) []byte {
	if stream.Kind() != pdf.Stream {
		return nil
	}
	r := stream.Reader()
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, f.left+1))
	if f.left -= int64(len(b)); f.left < 0 {
		panic(f.full())
	}
	if err != nil && f.ctx.Err() != nil {
		panic(f.d.late(f.ctx))
	}
	return b // of a stream that breaks off: what there is
}

func (f *pdfFile) full() error {
	return &LimitError{What: "bytes unpacked", Limit: fmt.Sprint(f.d.o.MaxUnpacked)}
}

func (f *pdfFile) properties(info pdf.Value) map[string]any {
	meta := make(map[string]any)
	for key, name := range map[string]string{"Title": "title", "Author": "author"} {
		if v := strings.Join(strings.Fields(strings.ToValidUTF8(info.Key(key).Text(), "")), " "); v != "" {
			meta[name] = v
		}
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}
