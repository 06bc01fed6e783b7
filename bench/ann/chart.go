package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	panelWidth  = 17 * font.Centimeter
	panelHeight = 13 * font.Centimeter
	panelMargin = 4 * font.Millimeter
	// chartFrom is the lowest recall that is drawn: below it nobody chooses an index.
	chartFrom = 0.5
	// chartTo is where perfect recall is drawn; the axis is a logarithm and never gets to 1.
	chartTo = 0.9995
)

// chartRecalls are the recalls that the axis is labelled with.
func chartRecalls() []float64 { return []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999} }

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
		p.Draw(draw.Crop(all, left+panelMargin, left+panelWidth-all.Max.X-panelMargin, panelMargin, -panelMargin))
	}
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// panel draws queries per second over recall, both so that a constant factor is a constant distance: the
// axis of recall is the logarithm of what is missing. A dashed curve is the database around the index whose
// curve has its colour.
func (r *race) panel(k int) (*plot.Plot, error) {
	d := r.e.data
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = fmt.Sprintf("%s, %d × %d, %v", d.name, d.base.rows(), d.base.dim, d.metric)
	p.X.Label.Text = fmt.Sprintf("recall@%d", k)
	p.Y.Label.Text = "queries per second, one thread"
	p.Legend.Top, p.Legend.Left = false, true
	p.Legend.YOffs = vg.Points(4)
	p.Add(plotter.NewGrid())
	low, high := math.Inf(1), math.Inf(-1)
	colours := map[string]color.Color{}
	for _, x := range r.racers {
		name, whole := strings.CutSuffix(x.name, throughDB)
		if colours[name] == nil {
			colours[name] = plotutil.DarkColors[len(colours)%len(plotutil.DarkColors)]
		}
		var xy plotter.XYs
		for _, at := range x.series[k].curve(-1) {
			if at.recall >= chartFrom {
				xy = append(xy, plotter.XY{X: nines(at.recall), Y: 1e6 / at.micros})
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
		line.Color, dots.Color = colours[name], colours[name]
		line.Width, dots.Radius, dots.Shape = vg.Points(1.5), vg.Points(2), draw.CircleGlyph{}
		if whole {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line, dots)
		p.Legend.Add(x.name, line, dots)
	}
	p.X.Min, p.X.Max = nines(chartFrom), nines(chartTo)
	p.X.Tick.Marker = plot.ConstantTicks(recallTicks())
	if high > 0 {
		p.Y.Min, p.Y.Max = low/1.3, high*1.3
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = plot.ConstantTicks(speedTicks(p.Y.Min, p.Y.Max))
	}
	return p, nil
}

// nines is the place of a recall on the axis: 0.9 is at 1, 0.99 at 2.
func nines(recall float64) float64 { return -math.Log10(1 - min(recall, chartTo)) }

func recallTicks() (out []plot.Tick) {
	for _, x := range chartRecalls() {
		out = append(out, plot.Tick{Value: nines(x), Label: strconv.FormatFloat(x, 'g', -1, 64)})
	}
	return append(out, plot.Tick{Value: nines(chartTo), Label: "1"})
}

// speedTicks are 1, 2 and 5 times the powers of ten between low and high.
func speedTicks(low, high float64) (out []plot.Tick) {
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, digit := range []float64{1, 2, 5} {
			if v := digit * math.Pow(10, power); v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
			}
		}
	}
	return out
}
