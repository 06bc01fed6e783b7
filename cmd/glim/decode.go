package main

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// Errors of decoding; each is wrapped with what to do about it.
var (
	errNotText  = errors.New("not a text file")
	errEncoding = errors.New("not UTF-8")
	errEmpty    = errors.New("no text in it")
)

// autoEncoding is the --encoding that looks at the bytes.
const autoEncoding = "auto"

// binaryShare is the share of NUL bytes, or of control characters, from which bytes are no text: stray ones
// are cleaned away later, but an executable or an archive has far more than one in fifty.
const binaryShare = 50

// decode turns a file's bytes into text. HTML becomes Markdown.
func decode(f file, enc string) (string, error) {
	isPage := isHTML(f)
	text, err := toUTF8(f.raw, enc, isPage)
	if err != nil {
		return "", &inputError{f.id, err}
	}
	if isPage {
		if text, err = fromHTML(text); err != nil {
			return "", &inputError{f.id, fmt.Errorf("HTML: %w", err)}
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", &inputError{f.id, errEmpty}
	}
	return text, nil
}

func isHTML(f file) bool {
	switch strings.ToLower(path.Ext(f.id)) {
	case ".html", ".htm", ".xhtml":
		return true
	case "":
		head := bytes.ToLower(bytes.TrimSpace(f.raw[:min(len(f.raw), 512)]))
		return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
	}
	return false
}

func toUTF8(raw []byte, name string, isPage bool) (string, error) {
	if name != autoEncoding {
		e, err := encodingNamed(name)
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(strings.ToLower(name), "utf-16") {
			if err := refuseBinary(raw); err != nil {
				return "", err
			}
		}
		return decodeWith(e, raw)
	}
	if e, n := byBOM(raw); e != nil {
		return decodeWith(e, raw[n:])
	}
	if e := utf16WithoutBOM(raw); e != nil {
		return decodeWith(e, raw)
	}
	if err := refuseBinary(raw); err != nil {
		return "", err
	}
	if utf8.Valid(raw) {
		return string(raw), nil
	}
	if isPage && declaresCharset(raw) {
		e, _, _ := charset.DetermineEncoding(raw, "text/html")
		return decodeWith(e, raw)
	}
	return "", guess(raw)
}

// refuseBinary is the error of bytes that are no text in any encoding but UTF-16: a format that begins with its
// name, or more control characters than a text has.
func refuseBinary(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("%PDF-")) {
		return fmt.Errorf("%w: a PDF; convert it to text, Markdown or HTML first", errNotText)
	}
	if bytes.Count(raw, []byte{0})*binaryShare > len(raw) {
		return fmt.Errorf("%w: it holds too many NUL bytes", errNotText)
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
		return fmt.Errorf("%w: it holds too many control characters", errNotText)
	}
	return nil
}

func encodingNamed(name string) (encoding.Encoding, error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, fmt.Errorf("unknown encoding %s: use auto, or a name such as utf-8, utf-16le, shift_jis, gbk, euc-kr, windows-1252", brief.Quote(name))
	}
	return e, nil
}

// declaresCharset looks where HTML allows the declaration: in the first 1,024 bytes.
func declaresCharset(raw []byte) bool {
	return bytes.Contains(bytes.ToLower(raw[:min(len(raw), 1024)]), []byte("charset"))
}

func decodeWith(e encoding.Encoding, raw []byte) (string, error) {
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errEncoding, err)
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

// guess explains bytes that are no UTF-8. A wrong guess would store garbage without a word, so it is
// offered, not taken.
func guess(raw []byte) error {
	if r, err := chardet.NewTextDetector().DetectBest(raw); err == nil && r.Confidence >= 50 {
		if _, err := htmlindex.Get(r.Charset); err == nil {
			return fmt.Errorf("%w; it looks like %s: insert it with --encoding %s", errEncoding, r.Charset, strings.ToLower(r.Charset))
		}
	}
	return fmt.Errorf("%w and no encoding could be recognised: convert it, or name it with --encoding", errEncoding)
}
