package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
)

// Format is a kind of file.
type Format string

// The formats. Auto looks at the name's ending and at the first bytes.
const (
	Auto     Format = ""
	Text     Format = "text"
	Markdown Format = "markdown"
	HTML     Format = "html"
	JSON     Format = "json"
	JSONL    Format = "jsonl"
	CSV      Format = "csv"
	TSV      Format = "tsv"
	PDF      Format = "pdf"
	DOCX     Format = "docx"
)

// Formats are all of them but Auto.
func Formats() []Format {
	return []Format{Text, Markdown, HTML, JSON, JSONL, CSV, TSV, PDF, DOCX}
}

// endings are the endings of names that tell a format. Others are text.
var endings = map[string]Format{
	".md": Markdown, ".markdown": Markdown, ".html": HTML, ".htm": HTML, ".xhtml": HTML, ".json": JSON,
	".jsonl": JSONL, ".ndjson": JSONL, ".csv": CSV, ".tsv": TSV, ".pdf": PDF, ".docx": DOCX,
}

// Options of Decode. The zero value is valid.
type Options struct {
	// Format; Auto: by name and content.
	Format Format
	// Encoding of a text format, a name such as "shift_jis" (those of the WHATWG standard). Empty or "auto": by byte
	// order mark, as UTF-8, as UTF-16 that shows in its zeros, as the page declares, or, where the bytes leave little
	// doubt, as recognised; the last is a note in the report.
	Encoding string
	// TextField is the field of a row, or column, that is the document's text; the others become its metadata. Empty:
	// "text", "content" or "body" if the row has it; without any of them the text is all fields, a line each.
	TextField string
	// IDField is the field that tells rows apart. Empty: "id", "_id" or "key" if the row has it, else the row's number.
	IDField string
	// MaxBytes bounds the file, and the text made of it; 0: 256 MiB, range 1 to 256 MiB, which is
	// index.MaxTextBytes.
	MaxBytes int
	// MaxUnpacked bounds what is unpacked of a PDF or Word file, all parts together; 0: 512 MiB, range 1 to 4 GiB.
	MaxUnpacked int64
	// MaxDocuments bounds the rows of a file; 0: 100,000, range 1 to 10 million.
	MaxDocuments int
	// Timeout bounds the time for one PDF or Word file; 0: 1 minute, at most 1 hour.
	Timeout time.Duration
}

const (
	defaultUnpacked  = 512 << 20
	maxUnpacked      = 4 << 30
	defaultDocuments = 100_000
	maxDocuments     = 10_000_000
	defaultTimeout   = time.Minute
	maxTimeout       = time.Hour
	autoEncoding     = "auto"
)

// Report says how a file was read.
type Report struct {
	Format Format `json:"format"`
	// Encoding is the one that was read, by its WHATWG name; empty for PDF and Word.
	Encoding string `json:"encoding,omitempty"`
	// Assumed: nothing in the file declares the encoding, and it is not UTF-8.
	Assumed bool `json:"assumed,omitempty"`
	// Notes are short sentences about what was assumed or left out.
	Notes []string `json:"notes,omitempty"`
}

func (r *Report) note(form string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(form, args...))
}

// counted is "1 row" or "2 rows".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Result is the documents of a file and how it was read.
type Result struct {
	Documents []index.Document
	Report    Report
}

// Errors of Decode, for errors.Is.
var (
	ErrNotText   = errors.New("not a text file")
	ErrEncoding  = errors.New("not UTF-8")
	ErrEmpty     = errors.New("no text in it")
	ErrMalformed = errors.New("damaged file")
	ErrEncrypted = errors.New("encrypted; remove the protection first")
	ErrLimit     = errors.New("over a limit")
	ErrOption    = errors.New("format: bad option")
)

// LimitError says which limit a file is over. errors.Is finds ErrLimit.
type LimitError struct {
	What  string // "bytes", "bytes of text", "bytes unpacked", "documents", "time"
	Limit string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: more %s than %s", ErrLimit, e.What, e.Limit)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// EncodingError tells of bytes that are no UTF-8 and declare nothing. errors.Is finds ErrEncoding.
type EncodingError struct {
	Likely string // a name for Options.Encoding that may be right; empty: nothing comes near
}

func (e *EncodingError) Error() string {
	if e.Likely == "" {
		return fmt.Sprintf("%v, and no encoding could be recognised: convert it, or name its encoding", ErrEncoding)
	}
	return fmt.Sprintf("%v; it looks like %s", ErrEncoding, e.Likely)
}

// Unwrap returns ErrEncoding.
func (e *EncodingError) Unwrap() error { return ErrEncoding }

// Validate returns the first option out of range, or nil. errors.Is finds ErrOption.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = index.MaxTextBytes
	}
	if o.MaxUnpacked == 0 {
		o.MaxUnpacked = defaultUnpacked
	}
	if o.MaxDocuments == 0 {
		o.MaxDocuments = defaultDocuments
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Encoding == "" {
		o.Encoding = autoEncoding
	}
	switch {
	case o.Format != Auto && !slices.Contains(Formats(), o.Format):
		return o, fmt.Errorf("%w: unknown format %s", ErrOption, brief.Quote(string(o.Format)))
	case o.MaxBytes < 1 || o.MaxBytes > index.MaxTextBytes:
		return o, fmt.Errorf("%w: MaxBytes is %d, want 1 to %d", ErrOption, o.MaxBytes, index.MaxTextBytes)
	case o.MaxUnpacked < 1 || o.MaxUnpacked > maxUnpacked:
		return o, fmt.Errorf("%w: MaxUnpacked is %d, want 1 to %d", ErrOption, o.MaxUnpacked, int64(maxUnpacked))
	case o.MaxDocuments < 1 || o.MaxDocuments > maxDocuments:
		return o, fmt.Errorf("%w: MaxDocuments is %d, want 1 to %d", ErrOption, o.MaxDocuments, maxDocuments)
	case o.Timeout < 0 || o.Timeout > maxTimeout:
		return o, fmt.Errorf("%w: Timeout is %v, want up to %v", ErrOption, o.Timeout, maxTimeout)
	}
	if o.Encoding == autoEncoding {
		return o, nil
	}
	_, err := encodingNamed(o.Encoding)
	return o, err
}

// Decode makes documents of a file. name is its path: it tells the format, and becomes the documents' ID and Path;
// rows have "#" and their own id after it. Documents have no Time.
//
// Errors: ErrOption; ErrNotText for what is no text in any known form; ErrEncoding, which names the likely encoding
// if there is one; ErrMalformed; ErrEncrypted; ErrEmpty; *LimitError; ctx's own.
func Decode(ctx context.Context, name string, data []byte, o Options) (Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if len(data) > o.MaxBytes {
		return Result{}, &LimitError{What: "bytes", Limit: fmt.Sprint(o.MaxBytes)}
	}
	d := &decoding{ctx: ctx, name: name, o: o, res: Result{Report: Report{Format: formatOf(name, data, o.Format)}}}
	if err := d.decode(data); err != nil {
		return Result{}, err
	}
	return d.res, nil
}

// formatOf recognises a format. PDF shows in its first bytes, whatever its name.
func formatOf(name string, data []byte, given Format) Format {
	if given != Auto {
		return given
	}
	ending := strings.ToLower(path.Ext(name))
	f, known := endings[ending]
	head := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
	switch {
	case isPDF(data):
		return PDF
	case known:
		return f
	case ending == "" && (bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))):
		return HTML
	}
	return Text
}

// decoding is one call of Decode.
type decoding struct {
	ctx  context.Context
	name string
	o    Options
	res  Result

	texts int // bytes of text so far

	seen            map[string]bool // ids of rows
	empty, repeated int             // rows without text, with the id of another
}

func (d *decoding) decode(data []byte) error {
	var (
		text string
		meta map[string]any
		err  error
	)
	switch d.res.Report.Format {
	case PDF:
		text, meta, err = d.pdf(data)
	case DOCX:
		text, meta, err = d.docx(data)
	default:
		if text, err = d.toUTF8(data); err != nil {
			return err
		}
		switch d.res.Report.Format {
		case HTML:
			if text, err = fromHTML(text); err != nil {
				err = fmt.Errorf("%w: HTML: %w", ErrMalformed, err)
			}
		case JSON:
			return d.json(text)
		case JSONL:
			return d.jsonLines(text)
		case CSV:
			comma := separator(text)
			if comma != ',' {
				d.res.Report.note("columns separated by %q", comma)
			}
			return d.csv(text, comma)
		case TSV:
			return d.csv(text, '\t')
		}
	}
	if err != nil {
		return err
	}
	return d.whole(text, meta)
}

// whole makes the text the only document.
func (d *decoding) whole(text string, meta map[string]any) error {
	if strings.TrimSpace(text) == "" {
		return ErrEmpty
	}
	return d.add(index.Document{ID: d.name, Text: text, Metadata: meta})
}

func (d *decoding) add(doc index.Document) error {
	if d.texts += len(doc.Text); d.texts > d.o.MaxBytes {
		return &LimitError{What: "bytes of text", Limit: fmt.Sprint(d.o.MaxBytes)}
	}
	if len(d.res.Documents) == d.o.MaxDocuments {
		return &LimitError{What: "documents", Limit: fmt.Sprint(d.o.MaxDocuments)}
	}
	doc.Path = d.name
	d.res.Documents = append(d.res.Documents, doc)
	return nil
}
