package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// binaryShare is the share of NUL bytes, or of control characters, from which bytes are no text: stray ones
// are cleaned away later, but an executable or an archive has far more than one in fifty.
const binaryShare = 50

// toUTF8 decodes the bytes of a text format.
func (d *decoding) toUTF8(raw []byte) (string, error) {
	if d.o.Encoding != autoEncoding {
		e, err := encodingNamed(d.o.Encoding)
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(strings.ToLower(d.o.Encoding), "utf-16") {
			if err := refuseBinary(raw); err != nil {
				return "", err
			}
		}
		if e == unicode.UTF8 && !utf8.Valid(raw) {
			return "", ErrEncoding
		}
		return d.decodeWith(e, raw)
	}
	if e, n := byBOM(raw); e != nil {
		return d.decodeWith(e, raw[n:])
	}
	if e := utf16WithoutBOM(raw); e != nil {
		text, err := d.decodeWith(e, raw)
		d.assumed("the zeros in it")
		return text, err
	}
	if err := refuseBinary(raw); err != nil {
		return "", err
	}
	if utf8.Valid(raw) {
		d.res.Report.Encoding = "utf-8"
		return string(raw), nil
	}
	if d.res.Report.Format == HTML && declaresCharset(raw) {
		e, name, _ := charset.DetermineEncoding(raw, "text/html")
		text, err := d.decodeWith(e, raw)
		d.res.Report.Encoding = name
		return text, err
	}
	return d.guess(raw)
}

// assumed notes that an encoding was recognised by something that is no declaration.
func (d *decoding) assumed(by string) {
	d.res.Report.Assumed = true
	d.res.Report.note("read as %s, recognised by %s", d.res.Report.Encoding, by)
}

// refuseBinary is the error of bytes that are no text in any encoding but UTF-16: an archive, or more control characters than a text has.
func refuseBinary(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("PK\x03\x04")) {
		return fmt.Errorf("%w: a zip archive; of these, only Word files named .docx are read", ErrNotText)
	}
	if bytes.Count(raw, []byte{0})*binaryShare > len(raw) {
		return fmt.Errorf("%w: it holds too many NUL bytes", ErrNotText)
	}
	if utf8.Valid(raw) {
		return nil
	}
	controls := 0
	for _, b := range raw {
		if b < '\t' || b > '\r' && b < ' ' && b != 0x1b { // ISO-2022 switches by ESC
			controls++
		}
	}
	if controls*binaryShare > len(raw) {
		return fmt.Errorf("%w: it holds too many control characters", ErrNotText)
	}
	return nil
}

func encodingNamed(name string) (encoding.Encoding, error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, fmt.Errorf("%w: unknown encoding %s: use auto, or a name such as utf-8, utf-16le, shift_jis, gbk, euc-kr, windows-1252", ErrOption, brief.Quote(name))
	}
	return e, nil
}

// declaresCharset looks where HTML allows the declaration: in the first 1,024 bytes.
func declaresCharset(raw []byte) bool {
	return bytes.Contains(bytes.ToLower(raw[:min(len(raw), 1024)]), []byte("charset"))
}

func (d *decoding) decodeWith(e encoding.Encoding, raw []byte) (string, error) {
	d.res.Report.Encoding, _ = htmlindex.Name(e)
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	// The decoder puts a replacement for what the encoding does not have.
	if lost := bytes.Count(out, []byte(string(utf8.RuneError))) - bytes.Count(raw, []byte(string(utf8.RuneError))); lost > 0 {
		d.res.Report.note("%s that %s does not have", counted(lost, "character"), d.res.Report.Encoding)
	}
	return string(out), nil
}

func byBOM(raw []byte) (encoding.Encoding, int) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xEF, 0xBB, 0xBF}):
		return unicode.UTF8, 3
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 2
	case bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 2
	}
	return nil, 0
}

// utf16WithoutBOM recognises UTF-16 of mostly Latin text: NUL in nearly every second byte and printable
// ASCII in the other.
func utf16WithoutBOM(raw []byte) encoding.Encoding {
	n := min(len(raw), 4096) &^ 1
	if n < 4 {
		return nil
	}
	latin := func(hi int) bool { // hi: offset of the high byte in each pair
		hits := 0
		for i := 0; i < n; i += 2 {
			lo := raw[i+1-hi]
			if raw[i+hi] == 0 && (lo >= ' ' && lo < 0x7f || lo == '\n' || lo == '\r' || lo == '\t') {
				hits++
			}
		}
		return hits*10 > n/2*7
	}
	switch {
	case latin(1):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case latin(0):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// marked are the encodings that leave marks in every character, so that the detector's answer, with all but full
// confidence, is taken. Those of other scripts differ in a few letters, and every text can be read in each.
var marked = []string{"gb18030", "gbk", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr"}

// sure is the confidence, of 100, from which the answer is taken: what a few sentences give.
const sure = 90

// hint is the confidence from which its answer is at least told.
const hint = 50

// guess decodes bytes that are no UTF-8. A wrong guess would store garbage, so one that is not nearly certain is
// offered, not taken, and so is one whose text has characters that do not exist.
func (d *decoding) guess(raw []byte) (string, error) {
	r, err := chardet.NewTextDetector().DetectBest(raw)
	if err != nil || r.Confidence < hint {
		return "", &EncodingError{}
	}
	e, err := htmlindex.Get(r.Charset)
	if err != nil {
		return "", fmt.Errorf("%w; it looks like %s, which cannot be read: convert it", ErrEncoding, r.Charset)
	}
	name, _ := htmlindex.Name(e)
	text, err := d.decodeWith(e, raw)
	if err != nil || r.Confidence < sure || !slices.Contains(marked, name) || strings.ContainsRune(text, utf8.RuneError) {
		return "", &EncodingError{Likely: name}
	}
	d.assumed("its bytes")
	return text, nil
}
