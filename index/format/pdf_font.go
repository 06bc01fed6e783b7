package format

import (
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// pdfFont says what the codes of a font mean and how wide they are.
type pdfFont struct {
	bytes    int               // of a code: 1, or 2 for composite fonts
	unicode  map[string]string // by code: what the font itself tells
	table    [256]string       // of simple fonts without it
	utf16    bool              // codes are UTF-16
	widths   map[int]float64   // in thousandths of the size
	standard float64           // of others
}

// Bounds of what a font may tell; a full one has 65,536 codes.
const (
	maxMapped      = 1 << 17
	maxDifferences = 4096
	usualWidth     = 500
)

// fontOf reads a font. Equal ones are read once: a long file refers to the same few on each page.
func (f *pdfFile) fontOf(v pdf.Value) *pdfFont {
	if v.Kind() != pdf.Dict {
		return nil
	}
	key := v.String()
	if known := f.fonts[key]; known != nil {
		return known
	}
	p := &pdfFont{bytes: 1, widths: make(map[int]float64), standard: usualWidth}
	f.fonts[key] = p
	if m := v.Key("ToUnicode"); m.Kind() == pdf.Stream {
		p.unicode = readCMap(f.unpack(m))
	}
	if v.Key("Subtype").Name() == "Type0" {
		p.composite(v)
	} else {
		p.simple(v)
	}
	return p
}

func (p *pdfFont) composite(v pdf.Value) {
	p.bytes = 2
	name := v.Key("Encoding").Name()
	p.utf16 = strings.Contains(name, "UCS2") || strings.Contains(name, "UTF16")
	d := v.Key("DescendantFonts").Index(0)
	p.standard = 1000
	if w := d.Key("DW"); !w.IsNull() {
		p.standard = w.Float64()
	}
	list := d.Key("W") // first [w w ...], or first last w
	for i := 0; i+1 < list.Len() && len(p.widths) < maxMapped; {
		first := int(list.Index(i).Int64())
		if ws := list.Index(i + 1); ws.Kind() == pdf.Array {
			for j := range min(ws.Len(), maxMapped) {
				p.widths[first+j] = ws.Index(j).Float64()
			}
			i += 2
			continue
		}
		last := min(int(list.Index(i+1).Int64()), first+0xffff)
		for c := first; c <= last; c++ {
			p.widths[c] = list.Index(i + 2).Float64()
		}
		i += 3
	}
}

func (p *pdfFont) simple(v pdf.Value) {
	first, ws := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range min(ws.Len(), 256) {
		p.widths[first+i] = ws.Index(i).Float64()
	}
	if v.Key("Subtype").Name() == "Type3" { // in units of its own
		p.widths = map[int]float64{}
	}
	enc := v.Key("Encoding")
	base := enc.Name()
	if enc.Kind() == pdf.Dict {
		base = enc.Key("BaseEncoding").Name()
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for c := range p.table {
		if r := table.DecodeByte(byte(c)); c >= ' ' && r != utf8.RuneError {
			p.table[c] = string(r)
		}
	}
	diff := enc.Key("Differences")
	if n := diff.Len(); n == 0 || n > maxDifferences {
		return
	}
	names := (&pdf.Font{V: v}).Encoder() // knows the names of characters
	code := 0
	for i := range diff.Len() {
		switch x := diff.Index(i); x.Kind() {
		case pdf.Integer:
			code = int(x.Int64())
		case pdf.Name:
			if code >= 0 && code < len(p.table) {
				p.table[code] = glyph(x.Name(), names.Decode(string([]byte{byte(code)})), code)
			}
			code++
		}
	}
}

// glyph is the text of a named character: decoded, where the library knows the name, else what the name spells
// (uni20AC, u1F600). A name that says nothing gives nothing.
func glyph(name, decoded string, code int) string {
	if decoded != string(rune(code)) {
		return strings.NewReplacer("\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl").Replace(decoded)
	}
	if len(name) == 1 {
		return name
	}
	digits, ok := strings.CutPrefix(name, "uni")
	if !ok {
		digits, ok = strings.CutPrefix(name, "u")
	}
	if ok && len(digits) >= 4 && len(digits) <= 6 {
		if b, err := hex.DecodeString(strings.Repeat("0", 8-len(digits)) + digits); err == nil {
			if r := rune(b[0])<<24 | rune(b[1])<<16 | rune(b[2])<<8 | rune(b[3]); utf8.ValidRune(r) {
				return string(r)
			}
		}
	}
	if code >= ' ' && code < 0x7f && name != ".notdef" { // a name such as "A" or "space" for the code that has it anyway
		return decoded
	}
	return ""
}

// decode returns the text of a string of codes, and its width in units of text space.
func (p *pdfFont) decode(raw string, t *typesetter) (text string, width float64) {
	var b strings.Builder
	for len(raw) > 0 {
		n := min(p.bytes, len(raw))
		code := raw[:n]
		raw = raw[n:]
		number := 0
		for i := range n {
			number = number<<8 | int(code[i])
		}
		w, ok := p.widths[number]
		if !ok {
			w = p.standard
		}
		width += w/1000*t.size + t.between
		if code == " " {
			width += t.words
		}
		s, known := p.unicode[code]
		switch {
		case known:
		case p.bytes == 1:
			s = p.table[number]
		case p.utf16:
			s = string(utf16.Decode([]uint16{uint16(number)}))
		default:
			t.f.unmapped++
		}
		b.WriteString(s)
	}
	return b.String(), width
}

var (
	cmapBlock = regexp.MustCompile(`(?s)beginbf(char|range)(.*?)endbf`)
	cmapToken = regexp.MustCompile(`<([0-9A-Fa-f\s]*)>|\[|\]`)
)

// readCMap reads what a font tells of its codes: pairs of code and text, and ranges.
func readCMap(data []byte) map[string]string {
	m := make(map[string]string)
	for _, block := range cmapBlock.FindAllSubmatch(data, -1) {
		var list []string // codes and texts, and brackets
		for _, t := range cmapToken.FindAllSubmatch(block[2], maxMapped) {
			if t[0][0] != '<' {
				list = append(list, string(t[0]))
				continue
			}
			digits := strings.Join(strings.Fields(string(t[1])), "")
			b, err := hex.DecodeString(digits + strings.Repeat("0", len(digits)%2))
			if err != nil {
				continue
			}
			list = append(list, "<"+string(b))
		}
		if string(block[1]) == "char" {
			for ; len(list) >= 2; list = list[2:] {
				set(m, list[0], 0, list[1], 0)
			}
			continue
		}
		for len(list) >= 3 {
			low, high := codeOf(list[0]), codeOf(list[1])
			to := list[2]
			code := list[0]
			list = list[3:]
			if to != "[" {
				for i := 0; i <= min(high-low, 0xffff) && len(m) < maxMapped; i++ {
					set(m, code, i, to, i)
				}
				continue
			}
			for i := 0; len(list) > 0; i++ {
				to, list = list[0], list[1:]
				if to == "]" {
					break
				}
				set(m, code, i, to, 0)
			}
		}
	}
	return m
}

func codeOf(token string) int {
	n := 0
	for _, c := range []byte(strings.TrimPrefix(token, "<")) {
		n = n<<8 | int(c)
		if n > 1<<32 {
			return n
		}
	}
	return n
}

// set maps the code, raised by step, to UTF-16 text whose last unit is raised by add.
func set(m map[string]string, code string, step int, text string, add int) {
	if len(code) < 2 || len(code) > 5 || code[0] != '<' || text == "" || text[0] != '<' || len(m) >= maxMapped {
		return
	}
	c := []byte(code[1:])
	for i := len(c) - 1; i >= 0 && step > 0; i-- {
		step += int(c[i])
		c[i] = byte(step)
		step >>= 8
	}
	var units []uint16
	for i := 1; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	if len(units) == 0 {
		return
	}
	units[len(units)-1] += uint16(add)
	m[string(c)] = string(utf16.Decode(units))
}
