package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// targets are the recalls at which contenders are compared.
func targets() []float64 { return []float64{0.90, 0.95, 0.97, 0.99} }

// print writes the tables of one race.
func (r *race) print(w io.Writer) error {
	d := r.e.data
	fmt.Fprintf(w, "\n%s: %d vectors × %d, %v, %d queries, M %d, efConstruction %d, %d rounds, %s\n",
		d.name, d.base.rows(), d.base.dim, d.metric, d.queries.rows(), r.e.m, r.e.efConstruction, r.rounds, clockName)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.printBuilds(t)
	for _, k := range r.ks {
		r.printCurves(t, k)
	}
	for _, k := range r.ks {
		r.printRatios(t, k)
	}
	r.printDatabase(t)
	return t.Flush()
}

func (r *race) printBuilds(w io.Writer) {
	base := r.find(nameHnswlib)
	fmt.Fprint(w, "\nbuild\tCPU s\tvectors/s\tagainst hnswlib\tbytes/vector\t\n")
	for _, x := range r.racers {
		fmt.Fprintf(w, "%s\t", x.name)
		if x.builds {
			fmt.Fprintf(w, "%.2f\t%.0f\t", x.build.Seconds(), float64(r.e.data.base.rows())/x.build.Seconds())
		} else {
			fmt.Fprint(w, "\t\t")
		}
		if base != nil && x.builds {
			fmt.Fprintf(w, "%.2f×\t", base.build.Seconds()/x.build.Seconds())
		} else {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintf(w, "%.0f\t\n", x.perRow)
	}
}

func (r *race) printCurves(w io.Writer, k int) {
	fmt.Fprintf(w, "\nk = %d\twidth\trecall@%d\tµs\tqueries/s\t\n", k, k)
	for _, x := range r.racers {
		s := x.series[k]
		for i, width := range s.widths {
			m := median(s.micros[i])
			fmt.Fprintf(w, "%s\t%s\t%.4f\t%.1f\t%.0f\t\n", x.name, widthText(width), s.recall[i], m, 1e6/m)
		}
	}
}

// widthText shows the width; contenders without one have 0.
func widthText(width int) string {
	if width == 0 {
		return "-"
	}
	return strconv.Itoa(width)
}

// printRatios compares everything with hnswlib at equal recall.
func (r *race) printRatios(w io.Writer, k int) {
	base := r.find(nameHnswlib)
	if base == nil {
		return
	}
	fmt.Fprintf(w, "\ntimes as fast as hnswlib at recall@%d\t", k)
	for _, recall := range targets() {
		fmt.Fprintf(w, "%.2f\t", recall)
	}
	fmt.Fprintln(w)
	for _, x := range r.racers {
		if x == base {
			continue
		}
		fmt.Fprintf(w, "%s\t", x.name)
		for _, recall := range targets() {
			fmt.Fprintf(w, "%s\t", ratioText(r.ratio(base, x, k, recall)))
		}
		fmt.Fprintln(w)
	}
}

// ratioText shows a median with its range; a star marks a value that is a bound only.
func ratioText(s span, how bound) string {
	if how == unreached {
		return "not reached"
	}
	star := ""
	if how == atMost {
		star = "*"
	}
	return fmt.Sprintf("%.2f%s (%.2f–%.2f)", s.mid, star, s.low, s.high)
}

// printDatabase compares each bare index with the same index in a database.
func (r *race) printDatabase(w io.Writer) {
	head := "\nthrough the database, as a share of the bare index\tmedian\trange\t\n"
	for _, bare := range r.racers {
		whole := r.find(bare.name + throughDB)
		if whole == nil {
			continue
		}
		fmt.Fprint(w, head)
		head = ""
		for _, k := range r.ks {
			s := r.atEqualWidth(bare, whole, k)
			fmt.Fprintf(w, "%s, k = %d\t%.3f\t%.3f–%.3f\t\n", bare.name, k, s.mid, s.low, s.high)
		}
	}
}

// columns of the CSV, one row a contender, k and width.
func columns() []string {
	return []string{"data", "vectors", "dim", "metric", "contender", "k", "width", "recall", "micros", "micros_min", "micros_max",
		"queries_per_second", "build_seconds", "bytes_per_vector"}
}

// rows are those of the CSV.
func (r *race) rows() (out [][]string) {
	d := r.e.data
	for _, x := range r.racers {
		build := ""
		if x.builds {
			build = number(x.build.Seconds())
		}
		for _, k := range r.ks {
			s := x.series[k]
			for i, width := range s.widths {
				sp := spanOf(s.micros[i])
				out = append(out, []string{d.name, strconv.Itoa(d.base.rows()), strconv.Itoa(d.base.dim), d.metric.String(), x.name,
					strconv.Itoa(k), strconv.Itoa(width), number(s.recall[i]), number(sp.mid), number(sp.low), number(sp.high),
					number(1e6 / sp.mid), build, number(x.perRow)})
			}
		}
	}
	return out
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
