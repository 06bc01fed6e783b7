package format

import (
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// typesetter follows the operators of a page that move and show text, and writes what is shown: a line for a line,
// a blank line for a wide gap between lines, a space for a gap between words.
type typesetter struct {
	f   *pdfFile
	out strings.Builder

	ctm, line, text transform // of the page, of the line, of the next character
	saved           []transform
	font            *pdfFont
	size, leading   float64
	between, words  float64 // extra space after characters, and after spaces

	shown      bool // something stands before, which ends here:
	endX, endY float64
	height     float64
}

// transform is a PDF matrix: x' = a·x + c·y + e, y' = b·x + d·y + f.
type transform struct{ a, b, c, d, e, f float64 }

var unit = transform{a: 1, d: 1}

// times is t followed by u.
func (t transform) times(u transform) transform {
	return transform{
		t.a*u.a + t.b*u.c, t.a*u.b + t.b*u.d,
		t.c*u.a + t.d*u.c, t.c*u.b + t.d*u.d,
		t.e*u.a + t.f*u.c + u.e, t.e*u.b + t.f*u.d + u.f,
	}
}

func shift(x, y float64) transform { return transform{a: 1, d: 1, e: x, f: y} }

// maxSaved bounds the stack of states; no producer comes near it.
const maxSaved = 1024

// content runs a content stream, or an array of them. Each is unpacked once beforehand, to see how large it is.
func (t *typesetter) content(stream, resources pdf.Value, depth int) {
	switch stream.Kind() {
	case pdf.Array:
		for i := range stream.Len() {
			t.f.unpack(stream.Index(i))
		}
	case pdf.Stream:
		t.f.unpack(stream)
	default:
		return
	}
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if op == "Do" && len(args) == 1 && depth < maxDepth {
			t.form(resources.Key("XObject").Key(args[0].Name()), resources, depth)
			return
		}
		t.operator(op, args, resources)
	})
}

// form shows what is drawn elsewhere.
func (t *typesetter) form(form, resources pdf.Value, depth int) {
	if form.Kind() != pdf.Stream || form.Key("Subtype").Name() != "Form" {
		return
	}
	if own := form.Key("Resources"); !own.IsNull() {
		resources = own
	}
	outside := *t
	if m := form.Key("Matrix"); m.Len() == 6 {
		t.ctm = matrix(m.Index).times(t.ctm)
	}
	t.saved = nil
	t.content(form, resources, depth+1)
	t.ctm, t.saved, t.font, t.size, t.leading = outside.ctm, outside.saved, outside.font, outside.size, outside.leading
}

func matrix(at func(int) pdf.Value) transform {
	return transform{at(0).Float64(), at(1).Float64(), at(2).Float64(), at(3).Float64(), at(4).Float64(), at(5).Float64()}
}

// operands is how many each operator needs; others are of no account here.
var operands = map[string]int{"q": 0, "Q": 0, "cm": 6, "BT": 0, "Tf": 2, "TL": 1, "Tc": 1, "Tw": 1, "Td": 2, "TD": 2, "Tm": 6, "T*": 0,
	"Tj": 1, "'": 1, "\"": 3, "TJ": 1}

func (t *typesetter) operator(op string, args []pdf.Value, resources pdf.Value) {
	n, ok := operands[op]
	if !ok || len(args) < n {
		return
	}
	args = args[len(args)-n:]
	number := func(i int) float64 { return args[i].Float64() }
	switch op {
	case "q":
		if len(t.saved) < maxSaved {
			t.saved = append(t.saved, t.ctm)
		}
	case "Q":
		if n := len(t.saved); n > 0 {
			t.ctm, t.saved = t.saved[n-1], t.saved[:n-1]
		}
	case "cm":
		t.ctm = matrix(func(i int) pdf.Value { return args[i] }).times(t.ctm)
	case "BT":
		t.line, t.text = unit, unit
	case "Tf":
		t.font, t.size = t.f.fontOf(resources.Key("Font").Key(args[0].Name())), number(1)
	case "TL":
		t.leading = number(0)
	case "Tc":
		t.between = number(0)
	case "Tw":
		t.words = number(0)
	case "Td":
		t.move(number(0), number(1))
	case "TD":
		t.leading = -number(1)
		t.move(number(0), number(1))
	case "Tm":
		t.line = matrix(func(i int) pdf.Value { return args[i] })
		t.text = t.line
	case "T*":
		t.move(0, -t.leading)
	case "Tj":
		t.show(args[0].RawString())
	case "'":
		t.move(0, -t.leading)
		t.show(args[0].RawString())
	case "\"":
		t.words, t.between = number(0), number(1)
		t.move(0, -t.leading)
		t.show(args[2].RawString())
	case "TJ":
		for i := range args[0].Len() {
			if v := args[0].Index(i); v.Kind() == pdf.String {
				t.show(v.RawString())
			} else {
				t.text = shift(-v.Float64()/1000*t.size, 0).times(t.text)
			}
		}
	}
}

func (t *typesetter) move(x, y float64) {
	t.line = shift(x, y).times(t.line)
	t.text = t.line
}

// Gaps as parts of the height of the letters.
const (
	newLine      = 0.5  // up or down
	newParagraph = 1.75 // down
	newWord      = 0.15 // to the right; a space is a quarter wide, and letters of a word stand apart by less than this
)

func (t *typesetter) show(raw string) {
	if t.font == nil || raw == "" {
		return
	}
	text, width := t.font.decode(raw, t)
	if text == "" && width == 0 {
		return
	}
	at := t.text.times(t.ctm)
	height := math.Abs(t.size) * math.Hypot(at.c, at.d)
	if height == 0 || math.IsNaN(height) || math.IsInf(height, 0) {
		height = 1
	}
	if t.shown {
		down, right := t.endY-at.f, at.e-t.endX
		scale := math.Max(height, t.height)
		switch {
		case down > newParagraph*scale:
			t.out.WriteString("\n\n")
		case math.Abs(down) > newLine*scale:
			t.out.WriteByte('\n')
		case right > newWord*height || right < -scale:
			t.space(text)
		}
	}
	t.out.WriteString(text)
	t.text = shift(width, 0).times(t.text)
	end := t.text.times(t.ctm)
	t.shown, t.endX, t.endY, t.height = true, end.e, end.f, height
	if t.out.Len() > t.f.d.o.MaxBytes { // a little text, shown again and again
		panic(&LimitError{What: "bytes of text", Limit: "a page may have"})
	}
}

// space puts one between what was written and text, unless either has it.
func (t *typesetter) space(text string) {
	if s := t.out.String(); strings.HasSuffix(s, " ") || strings.HasPrefix(text, " ") {
		return
	}
	t.out.WriteByte(' ')
}
