package chart

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// WritePNG writes the chart as a PNG image.
func (c *Chart) WritePNG(w io.Writer) error {
	p := &pixels{image.NewRGBA(image.Rect(0, 0, width, height))}
	draw.Draw(p.img, p.img.Bounds(), image.White, image.Point{}, draw.Src)
	c.draw(p)
	return png.Encode(w, p.img)
}

type pixels struct{ img *image.RGBA }

// line fills a rectangle for each stretch between two points.
func (p *pixels) line(points []Point, c color.RGBA, width float64, dashed bool) {
	z := vector.NewRasterizer(p.img.Bounds().Dx(), p.img.Bounds().Dy())
	for i := 1; i < len(points); i++ {
		for _, s := range stretches(points[i-1], points[i], dashed) {
			stroke(z, s[0], s[1], width)
		}
	}
	z.Draw(p.img, p.img.Bounds(), image.NewUniform(c), image.Point{})
}

// stretches cut a way into dashes.
func stretches(a, b Point, dashed bool) [][2]Point {
	const dash, gap = 6, 4
	length := math.Hypot(b.X-a.X, b.Y-a.Y)
	if !dashed || length < dash {
		return [][2]Point{{a, b}}
	}
	at := func(d float64) Point { return Point{a.X + (b.X-a.X)*d/length, a.Y + (b.Y-a.Y)*d/length} }
	var out [][2]Point
	for d := 0.0; d < length; d += dash + gap {
		out = append(out, [2]Point{at(d), at(min(d+dash, length))})
	}
	return out
}

func stroke(z *vector.Rasterizer, a, b Point, width float64) {
	length := math.Hypot(b.X-a.X, b.Y-a.Y)
	if length == 0 {
		return
	}
	dx, dy := (b.Y-a.Y)/length*width/2, (a.X-b.X)/length*width/2
	for i, q := range []Point{{a.X + dx, a.Y + dy}, {b.X + dx, b.Y + dy}, {b.X - dx, b.Y - dy}, {a.X - dx, a.Y - dy}} {
		if i == 0 {
			z.MoveTo(float32(q.X), float32(q.Y))
		} else {
			z.LineTo(float32(q.X), float32(q.Y))
		}
	}
	z.ClosePath()
}

func (p *pixels) text(x, y float64, s string, a anchor) {
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(ink), Face: basicfont.Face7x13}
	shift := []float64{0, 0.5, 1}[a] * float64(d.MeasureString(s)) / 64
	d.Dot = fixed.P(int(x-shift), int(y))
	d.DrawString(s)
}
