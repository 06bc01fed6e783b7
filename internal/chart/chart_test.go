package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func lines(n int) *Chart {
	c := &Chart{Title: "Recall <&>", X: "K", Y: "Recall@K", Top: 1}
	for i := range n {
		l := Line{Name: fmt.Sprintf("mode %d of a long name that has no room", i)}
		for x := 1; x <= 10; x++ {
			l.Points = append(l.Points, Point{float64(x), 1 - math.Pow(0.5, float64(x+i)/3)})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// charts are those that tend to break: none, one point, equal points, no numbers, more lines than names fit.
func charts() map[string]*Chart {
	return map[string]*Chart{
		"lines":      lines(3),
		"many":       lines(40),
		"nothing":    {},
		"one point":  {Lines: []Line{{"p", []Point{{3, 4}}}}},
		"level":      {Lines: []Line{{"p", []Point{{1, 0}, {2, 0}}}}},
		"no numbers": {Lines: []Line{{"p", []Point{{math.NaN(), 1}, {1, math.Inf(1)}}}}},
		"beyond":     {Top: 1, Lines: []Line{{"p", []Point{{1, -5}, {2, 7}}}}},
	}
}

func TestSVGIsXML(t *testing.T) {
	for name, c := range charts() {
		var b bytes.Buffer
		if err := c.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") || strings.Contains(b.String(), ">-0<") {
			t.Errorf("%s: a place that is no number", name)
		}
		drawn, d := 0, xml.NewDecoder(&b)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
				drawn++
			}
		}
		if drawn < len(c.Lines)+1 {
			t.Errorf("%s: %d lines drawn", name, drawn)
		}
	}
}

// TestPNGShowsItsLines finds the colour of each line, and the same bytes in another run.
func TestPNGShowsItsLines(t *testing.T) {
	for name, c := range charts() {
		var a, b bytes.Buffer
		if err := errors.Join(c.WritePNG(&a), c.WritePNG(&b)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two runs differ", name)
		}
		img, err := png.Decode(&a)
		if err != nil {
			t.Fatal(err)
		}
		if name != "lines" {
			continue
		}
		seen := map[color.RGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range width - right { // beside the names
				r, g, b, _ := img.At(x, y).RGBA()
				seen[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
			}
		}
		for i := range c.Lines {
			if colour, _ := palette(i); seen[colour] < 100 {
				t.Errorf("line %d: %d pixels of %v", i, seen[colour], colour)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, x := range []struct {
		from, to float64
		want     []float64
	}{{0, 1, []float64{0, .2, .4, .6, .8, 1}}, {1, 10, []float64{2, 4, 6, 8, 10}}, {0, 3, []float64{0, .5, 1, 1.5, 2, 2.5, 3}}, {1, 100, []float64{20, 40, 60, 80, 100}}} {
		got := ticks(x.from, x.to)
		if !slices.EqualFunc(got, x.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%v to %v: %v, want %v", x.from, x.to, got, x.want)
		}
	}
	for to := 1e-6; to < 1e9; to *= 3.7 {
		if n := len(ticks(0, to)); n < 4 || n > 11 {
			t.Errorf("0 to %v: %d ticks", to, n)
		}
	}
}

// TestNumbersOfAllSizes: a chart of any numbers ends, and every place in it is one.
func TestNumbersOfAllSizes(t *testing.T) {
	huge := math.MaxFloat64
	for _, points := range [][]Point{
		{{-huge, huge}, {huge, huge}, {math.NaN(), 1}, {1, math.Inf(1)}},
		{{1e15, 1}, {1e15 + .125, 2}},
		{{-1e15, 1}, {1e15, 1e15}},
		{{5e-324, 5e-324}, {1e-323, 1e-323}},
		{{3, 1}},
		{},
	} {
		c := &Chart{Lines: []Line{{Name: "a", Points: points}}}
		var b bytes.Buffer
		if err := c.WriteSVG(&b); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%v: %v\n%s", points, err, &b)
		}
		if err := c.WritePNG(&b); err != nil {
			t.Errorf("%v: %v", points, err)
		}
	}
}
