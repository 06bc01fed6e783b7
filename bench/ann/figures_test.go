package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Every measure runs on a small set, checks its own answers, and reports all it is there to report. What the
// figures are is not tested: this is no machine and no size to measure at.
func TestMeasures(t *testing.T) {
	figures := map[string][]string{
		"threads": {"two searching threads against one", "arithmetic in two threads"},
		"writer":  {"searches beside a writer", "recall@10 that they lose", "committed meanwhile"},
		"scan":    {"exact scan over int8", "exact scan over float32"},
		"persist": {"processor time of all but indexing", "write amplification"},
		"commit":  {"commit of 60 vectors and a document against bare Pebble, wall", "to an indexed collection", "files in memory"},
		"open":    {"open after kill -9"},
		"memory":  {"heap in use against rows, codes and links", "rows not in memory"},
		"churn":   {"lost by 5 turns of 300 vectors", "no search can reach", "memory after Compact", "disk after Compact"},
		"million": {"load and index", "queries per second", "memory of a vector", "disk of a vector", "open and first search"},
	}
	cache := t.TempDir()
	for _, m := range measures() {
		if m.name == "curves" {
			continue // TestCommand
		}
		t.Run(m.name, func(t *testing.T) {
			out := t.TempDir()
			var stdout, stderr bytes.Buffer
			if err := run(context.Background(), []string{"-measure", m.name, "-n", "600", "-queries", "30", "-rounds", "1", "-efc", "40",
				"-out", out, "-cache", cache}, &stdout, &stderr); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			rows := readTable(t, filepath.Join(out, "figures.csv"), figureColumns())
			if len(figures[m.name]) == 0 {
				t.Fatal("the test does not know what to expect")
			}
			for _, want := range figures[m.name] {
				found := false
				for _, row := range rows {
					found = found || strings.Contains(row["figure"], want)
				}
				if !found || !strings.Contains(stdout.String(), want) {
					t.Errorf("no figure %q:\n%s", want, stdout.String())
				}
			}
			for _, row := range rows {
				got, low, high := numberOf(t, row, "measured"), numberOf(t, row, "low"), numberOf(t, row, "high")
				if math.IsNaN(got) || math.IsInf(got, 0) || low > got || got > high {
					t.Errorf("no such figure: %v", row)
				}
				if (row["bar"] == "") != (row["verdict"] == "") {
					t.Errorf("a bar and no verdict, or the reverse: %v", row)
				}
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		bar  bar
		got  float64
		want string
	}{
		{bar{}, 1, ""}, {atLeast(2), 2, "reached"}, {atLeast(2), 1.99, "missed"}, {noMoreThan(2), 2, "reached"},
		{noMoreThan(2), 2.01, "missed"}, {atLeast(2), math.NaN(), "not measured"},
	} {
		if got := c.bar.verdict(c.got); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.got, c.bar, got, c.want)
		}
	}
	for value, want := range map[float64]string{0: "0", 0.0612: "0.0612", 0.75: "0.750", 1.4: "1.40", 31.25: "31.2", 812.5: "812", 1062: "1062", -0.31: "-0.310"} {
		if got := valueText(value, ""); got != want {
			t.Errorf("%v is shown as %q, want %q", value, got, want)
		}
	}
}

// What a killed process leaves is what it told of, and the commit under way or not: nothing else.
func TestCommitted(t *testing.T) {
	for rows, ok := range map[int]bool{900: true, 900 + writeBatch: true, 899: false, 901: false, 800: false, 900 + 2*writeBatch: false} {
		if err := committed(rows, 900); (err == nil) != ok {
			t.Errorf("%d rows where 900 were told of: %v", rows, err)
		}
	}
}

// The vectors of a part are those of the whole.
func TestGeneratedInParts(t *testing.T) {
	const n, dim, half = 90, 96, 45
	whole := clustered(3, n, dim)
	g := newGenerator(3, n, dim)
	for _, from := range []int{0, half} {
		part := newMatrix(half, dim)
		g.fill(from, part)
		for i := range half {
			if !near(part.row(i), whole.row(from+i)) {
				t.Fatalf("vector %d is another", from+i)
			}
		}
	}
}

// The churn keeps its books: every place has one row and one id, and no id is used for a second vector once
// it was deleted.
func TestPopulation(t *testing.T) {
	p := newPopulation(5, 12)
	seen := map[uint32]bool{}
	for _, row := range append(append([]uint32{}, p.rows...), p.free...) {
		if seen[row] {
			t.Errorf("row %d is there twice", row)
		}
		seen[row] = true
	}
	if len(seen) != 12 || len(p.ids) != 5 || p.next != 5 {
		t.Errorf("%d rows, %d ids, next %d", len(seen), len(p.ids), p.next)
	}
}

// The figure is the least advantage where both curves have points around the recall: no bounds.
func TestWorst(t *testing.T) {
	line := func(name string, micros ...float64) *racer {
		s := &series{recall: []float64{0.93, 0.96, 0.98, 0.995}, widths: []int{10, 20, 40, 80}}
		for _, m := range micros {
			s.micros = append(s.micros, []float64{m})
		}
		return &racer{spec: spec{name: name}, series: map[int]*series{10: s}}
	}
	base, twice := line("base", 100, 200, 400, 800), line("twice", 50, 100, 200, 400)
	slowing := line("slowing", 1, 100, 400, 1600)
	r := &race{rounds: 1}
	if what, got := r.worst(base, twice, 10); math.Abs(got.mid-2) > 1e-9 || !strings.Contains(what, "hnswlib") {
		t.Errorf("twice as fast everywhere, and at 0.90 unknown: %v%s", got.mid, what)
	}
	if what, got := r.worst(base, slowing, 10); got.mid >= 0.75 || !strings.Contains(what, "0.99") {
		t.Errorf("slowest at 0.99: %v%s", got.mid, what)
	}
	none := &racer{spec: spec{name: "none"}, series: map[int]*series{10: {recall: []float64{0.5}, widths: []int{10}, micros: [][]float64{{1}}}}}
	if _, got := r.worst(base, none, 10); !math.IsNaN(got.mid) {
		t.Errorf("a curve that reaches nothing: %v", got.mid)
	}
}
