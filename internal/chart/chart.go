package chart

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
)

// Chart is lines over two axes. X runs from the least to the largest of the points, Y from 0 to Top.
type Chart struct {
	Title, X, Y string
	// Top is the upper end of Y; 0: the largest of the points, or 1 when none is above 0.
	Top   float64
	Lines []Line
}

// Line joins points from left to right. A point whose numbers are not finite, or beyond 1e15, is left out: labels could
// not tell it from its neighbours.
type Line struct {
	Name   string
	Points []Point
}

// Point is a place in the units of the axes.
type Point struct{ X, Y float64 }

// Sizes in pixels.
const (
	width, height            = 760, 440
	left, right, top, bottom = 60, 230, 40, 50 // around the axes; the names of lines stand on the right
	legendStep               = 18
	charWidth                = 7
)

// palette is Okabe and Ito's, which people who see few colours can tell apart; dashes tell the rest.
func palette(i int) (c color.RGBA, dashed bool) {
	colours := []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}}
	return colours[i%len(colours)], i/len(colours)%2 == 1
}

// canvas is what a chart is drawn on.
type canvas interface {
	line(points []Point, c color.RGBA, width float64, dashed bool)
	text(x, y float64, s string, anchor anchor)
}

// anchor is the end of a text that x means.
type anchor int

const (
	start anchor = iota
	middle
	end
)

var (
	ink  = color.RGBA{60, 60, 60, 255}
	grid = color.RGBA{225, 225, 225, 255}
)

func (c *Chart) draw(on canvas) {
	x0, x1, y1 := c.ranges()
	px := func(x float64) float64 { return left + (x-x0)/(x1-x0)*(width-left-right) }
	py := func(y float64) float64 { return height - bottom - y/y1*(height-top-bottom) }
	on.text((left+width-right)/2, top/2+4, c.Title, middle)
	on.text((left+width-right)/2, height-12, c.X, middle)
	on.text(8, top-10, c.Y, start)
	for _, y := range ticks(0, y1) {
		on.line([]Point{{left, py(y)}, {width - right, py(y)}}, grid, 1, false)
		on.text(left-6, py(y)+4, label(y), end)
	}
	for _, x := range ticks(x0, x1) {
		on.line([]Point{{px(x), height - bottom}, {px(x), height - bottom + 4}}, ink, 1, false)
		on.text(px(x), height-bottom+18, label(x), middle)
	}
	on.line([]Point{{left, top}, {left, height - bottom}, {width - right, height - bottom}}, ink, 1, false)
	const rows = (height - top - bottom) / legendStep
	for i, l := range c.Lines {
		colour, dashed := palette(i)
		var points []Point
		for _, p := range l.Points {
			if plotted(p) {
				points = append(points, Point{px(p.X), py(min(max(p.Y, 0), y1))})
			}
		}
		if len(points) == 1 { // a point is a short line
			points = append(points, Point{points[0].X + 1, points[0].Y})
		}
		on.line(points, colour, 2, dashed)
		y := float64(top + 8 + i*legendStep)
		switch {
		case i < rows-1 || len(c.Lines) == rows && i == rows-1:
			on.line([]Point{{width - right + 12, y}, {width - right + 34, y}}, colour, 2, dashed)
			on.text(width-right+40, y+4, clip(l.Name, (right-48)/charWidth), start)
		case i == rows-1:
			on.text(width-right+40, y+4, fmt.Sprintf("and %d more", len(c.Lines)-i), start)
		}
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-2]) + ".."
	}
	return s
}

func (c *Chart) ranges() (x0, x1, y1 float64) {
	x0, x1, y1 = math.Inf(1), math.Inf(-1), c.Top
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if plotted(p) {
				x0, x1 = min(x0, p.X), max(x1, p.X)
				if c.Top == 0 {
					y1 = max(y1, p.Y)
				}
			}
		}
	}
	if x0 > x1 {
		x0, x1 = 0, 1
	}
	if x0 == x1 {
		x1 = x0 + 1
	}
	if y1 <= 0 {
		y1 = 1
	}
	return x0, x1, y1
}

func plotted(p Point) bool { return math.Abs(p.X) <= 1e15 && math.Abs(p.Y) <= 1e15 } // NaN is not

const maxTicks = 11

// ticks are round numbers within a range, 4 to 11 of them.
func ticks(from, to float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/4)))
	for _, times := range []float64{5, 2} {
		if (to-from)/(step*times) >= 4 {
			step *= times
			break
		}
	}
	first := math.Ceil(from/step - 1e-9)
	for i := range maxTicks {
		if at := (first + float64(i)) * step; at <= to+step*1e-9 {
			out = append(out, at)
		}
	}
	return out
}

func label(v float64) string {
	if v == 0 {
		return "0" // without a sign
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// WriteSVG writes the chart as an SVG document.
func (c *Chart) WriteSVG(w io.Writer) error {
	s := &svg{}
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&s.b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	c.draw(s)
	s.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.b.String())
	return err
}

type svg struct{ b strings.Builder }

func (s *svg) line(points []Point, c color.RGBA, width float64, dashed bool) {
	at := make([]string, len(points))
	for i, p := range points {
		at[i] = fmt.Sprintf("%.1f,%.1f", p.X, p.Y)
	}
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(&s.b, `<polyline points="%s" fill="none" stroke="#%02x%02x%02x" stroke-width="%g"%s/>`+"\n", strings.Join(at, " "), c.R, c.G, c.B, width, dash)
}

func (s *svg) text(x, y float64, text string, a anchor) {
	fmt.Fprintf(&s.b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#3c3c3c">`, x, y, []string{"start", "middle", "end"}[a])
	_ = xml.EscapeText(&s.b, []byte(text)) // a builder takes everything
	s.b.WriteString("</text>\n")
}
