package main

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	panelWidth  = 14 * font.Centimeter
	panelHeight = 12 * font.Centimeter
	// chartFrom is the lowest recall that is drawn: below it nobody chooses an index.
	chartFrom = 0.70
)

// writeChart draws the curves of a race as PNG, a panel a k.
func (r *race) writeChart(w io.Writer) error {
	img := vgimg.New(panelWidth*vg.Length(len(r.ks)), panelHeight)
	all := draw.New(img)
	for i, k := range r.ks {
		p, err := r.panel(k)
		if err != nil {
			return err
		}
		left := panelWidth * vg.Length(i)
		p.Draw(draw.Crop(all, left, left+panelWidth-all.Max.X, 0, 0))
	}
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// panel draws queries per second over recall, on a logarithmic scale.
func (r *race) panel(k int) (*plot.Plot, error) {
	d := r.e.data
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = fmt.Sprintf("%s, %d × %d, %v", d.name, d.base.rows(), d.base.dim, d.metric)
	p.X.Label.Text = fmt.Sprintf("recall@%d", k)
	p.Y.Label.Text = "queries per second, one thread"
	p.Legend.Top, p.Legend.Left = false, true
	p.Add(plotter.NewGrid())
	low, high := math.Inf(1), math.Inf(-1)
	for i, x := range r.racers {
		var xy plotter.XYs
		for _, at := range x.series[k].curve(-1) {
			if at.recall >= chartFrom {
				xy = append(xy, plotter.XY{X: at.recall, Y: 1e6 / at.micros})
				low, high = min(low, 1e6/at.micros), max(high, 1e6/at.micros)
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		line.Color, dots.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width, dots.Shape = vg.Points(1.5), draw.CircleGlyph{}
		dots.Radius = vg.Points(2)
		p.Add(line, dots)
		p.Legend.Add(x.name, line, dots)
	}
	p.X.Min, p.X.Max = chartFrom, 1.003
	if high > 0 {
		p.Y.Min, p.Y.Max = low/1.3, high*1.3
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	return p, nil
}
