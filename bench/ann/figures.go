package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// figure is one measured value and what it must reach.
type figure struct {
	measure, data string
	what, unit    string
	got           span
	bar           bar
}

// bar is what a figure must reach. The zero value demands nothing.
type bar struct {
	sign  string // "≥" or "≤"
	value float64
}

func atLeast(x float64) bar { return bar{"≥", x} }

func noMoreThan(x float64) bar { return bar{"≤", x} }

// verdict holds a value, which is a median, against the bar.
func (b bar) verdict(x float64) string {
	switch {
	case b.sign == "":
		return ""
	case math.IsNaN(x):
		return "not measured"
	case b.sign == "≥" && x >= b.value, b.sign == "≤" && x <= b.value:
		return "reached"
	}
	return "missed"
}

func (b bar) text(unit string) string {
	if b.sign == "" {
		return "none"
	}
	return b.sign + " " + valueText(b.value, unit)
}

// valueText shows a value with three digits that count.
func valueText(x float64, unit string) string {
	text := fmt.Sprintf("%.0f", x)
	if size := math.Abs(x); size < 1000 && x != math.Trunc(x) {
		text = fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(max(size, 0.01))))), x)
	}
	switch unit {
	case "":
		return text
	case "×", "%":
		return text + unit
	}
	return text + " " + unit
}

// printFigures writes the table that a run ends with.
func printFigures(w io.Writer, figures []figure) error {
	if len(figures) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nfigures: medians, with their ranges; %s unless it says wall\n\n", clockName)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "data\tfigure\tbar\tmeasured\trange\tverdict\n")
	for _, f := range figures {
		spread := ""
		if f.got.low != f.got.high {
			spread = valueText(f.got.low, "") + "–" + valueText(f.got.high, "")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.data, f.what, f.bar.text(f.unit), valueText(f.got.mid, f.unit), spread, f.bar.verdict(f.got.mid))
	}
	return t.Flush()
}

func figureColumns() []string {
	return []string{"measure", "data", "figure", "unit", "bar", "measured", "low", "high", "verdict"}
}

func (f figure) row() []string {
	must := ""
	if f.bar.sign != "" {
		must = f.bar.sign + number(f.bar.value)
	}
	return []string{f.measure, f.data, f.what, f.unit, must, number(f.got.mid), number(f.got.low), number(f.got.high), f.bar.verdict(f.got.mid)}
}

// single is the span of one value.
func single(x float64) span { return span{x, x, x} }

// sizeText shows a number of vectors.
func sizeText(n int) string {
	if n >= 1000 && n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// writeTable writes rows as CSV.
func writeTable(path string, rows [][]string) error {
	return writeWhole(path, func(w io.Writer) error {
		table := csv.NewWriter(w)
		return table.WriteAll(rows) // it flushes
	})
}
