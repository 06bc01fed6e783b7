package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A measure that needs a process of its own starts this program again.
func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		if err := child(context.Background(), task, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestCommand draws the curves of a small set: every contender that is on this machine answers, finds what
// it should, and the files can be read.
func TestCommand(t *testing.T) {
	out, cache := t.TempDir(), t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"-data", "clustered768", "-n", "2000", "-queries", "60", "-rounds", "2", "-k", "1,10", "-efc", "64",
		"-out", out, "-cache", cache, "-profile", nameBare}
	if testing.Short() {
		args = append(args, "-run", "glim|coder") // the C++ compiler takes longer than all the rest
	}
	if err := run(context.Background(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	text := stdout.String()
	rows := readTable(t, filepath.Join(out, "ann.csv"), columns())
	best := map[string]float64{}
	for _, row := range rows {
		if row["k"] == "10" {
			best[row["contender"]] = max(best[row["contender"]], numberOf(t, row, "recall"))
		}
		if numberOf(t, row, "micros") <= 0 || numberOf(t, row, "bytes_per_vector") < 4*768 {
			t.Errorf("no such cost: %v", row)
		}
		if low, mid, high := numberOf(t, row, "micros_min"), numberOf(t, row, "micros"), numberOf(t, row, "micros_max"); low > mid || mid > high {
			t.Errorf("the median is outside its range: %v", row)
		}
	}
	floors := map[string]float64{nameExact: 1, "coder/hnsw": 0.05}
	for _, v := range variants() {
		floors[v.name] = 0.99
		if v.database {
			floors[v.name+throughDB] = 0.99
		}
	}
	if !strings.Contains(text, "hnswlib is left out") && !testing.Short() {
		floors[nameHnswlib] = 0.99
		if !strings.Contains(text, "times as fast as hnswlib at recall@10") {
			t.Errorf("no table of ratios:\n%s", text)
		}
	}
	for name, floor := range floors {
		if best[name] < floor {
			t.Errorf("%s finds %.4f of the ten nearest at best, want %.2f", name, best[name], floor)
		}
	}
	for _, v := range variants() {
		if bare, whole := best[v.name], best[v.name+throughDB]; v.database && bare != whole {
			t.Errorf("%s finds %.4f bare and %.4f through the database", v.name, bare, whole)
		}
	}
	if !strings.Contains(text, "through the database") {
		t.Errorf("no table of indexes in databases:\n%s", text)
	}
	wanted := []string{"through the database", "against coder/hnsw at its best"}
	if floors[nameHnswlib] > 0 {
		wanted = append(wanted, nameBare+", search against hnswlib", nameFloat32+", search against hnswlib", nameBare+defaultWidth+", build against hnswlib")
	}
	figures := readTable(t, filepath.Join(out, "figures.csv"), figureColumns())
	for _, want := range wanted {
		if !slices.ContainsFunc(figures, func(row map[string]string) bool { return strings.Contains(row["figure"], want) }) {
			t.Errorf("no figure %q", want)
		}
	}
	f, err := os.Open(filepath.Join(out, "clustered768.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 2*b.Dy() {
		t.Errorf("a chart of two panels is %v", b)
	}
	if st, err := os.Stat(filepath.Join(out, "clustered768.pprof")); err != nil || st.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(out, "*.part-*")); err != nil || len(left) > 0 {
		t.Errorf("unfinished files are left: %v, %v", left, err)
	}
}

// readTable reads a CSV by the names of its columns.
func readTable(t *testing.T, path string, columns []string) (out []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 2 || !slices.Equal(lines[0], columns) {
		t.Fatalf("%s begins %v", path, lines)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out
}

func numberOf(t *testing.T, row map[string]string, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return x
}

func TestWrongSettings(t *testing.T) {
	for _, args := range [][]string{
		{"-k", "0"}, {"-k", "101"}, {"-k", "ten"}, {"-rounds", "0"}, {"-n", "-1"}, {"-data", "nothing"}, {"-measure", "nothing"}, {"-run", "("},
		{"-n", "2000", "-run", "no such contender"}, {"-n", "5"},
	} {
		args = append(args, "-out", t.TempDir(), "-cache", t.TempDir())
		var stderr bytes.Buffer
		if err := run(context.Background(), args, &stderr, &stderr); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// TestAbsent goes on without what is not there, and says so.
func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no npm, no g++
	var stdout, stderr bytes.Buffer
	err := run(context.Background(), []string{"-data", "words,fashion,text,clustered768", "-n", "300", "-queries", "30", "-rounds", "1", "-k", "10",
		"-run", "hnswlib|exact", "-shared", filepath.Join(t.TempDir(), "none"), "-out", t.TempDir(), "-cache", t.TempDir()}, &stdout, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	all := stdout.String() + stderr.String()
	for _, want := range []string{"words are left out", "fashion is left out", "text is left out", "hnswlib is left out", nameExact} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said:\n%s", want, all)
		}
	}
}
