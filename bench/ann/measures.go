package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// measure is one name of the flag -measure.
type measure struct {
	name string
	// generates says that the measure makes its own vectors, whatever -data names.
	generates bool
	run       func(ctx context.Context, s *session) error
}

// measures lists what can be measured. The last is too large to be run with the others.
func measures() []measure {
	return []measure{
		{"curves", false, curves},
		{"threads", false, threads},
		{"writer", false, besideWriter},
		{"scan", false, scan},
		{"persist", false, persist},
		{"commit", false, commit},
		{"open", false, openKilled},
		{"memory", false, memory},
		{"churn", false, churn},
		{"million", true, million},
	}
}

func measureNames() string {
	var names []string
	for _, m := range measures() {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}

// measuresNamed picks measures by a comma-separated list.
func measuresNamed(list string) ([]measure, error) {
	all := measures()
	if list == "all" {
		return all[:len(all)-1], nil
	}
	var out []measure
next:
	for name := range strings.SplitSeq(list, ",") {
		for _, m := range all {
			if m.name == name {
				out = append(out, m)
				continue next
			}
		}
		return nil, fmt.Errorf("-measure %s: no such measure; there are %s", name, measureNames())
	}
	return out, nil
}

// session is one measure of one data set.
type session struct {
	*settings
	data    *dataset // nil for a measure that generates its own
	temp    string   // folder that is removed at the end
	out     io.Writer
	log     io.Writer
	results *results
	measure string
}

// exact returns the exact answers of the data set.
func (s *session) exact() (truth, error) {
	fmt.Fprintf(s.log, "%s: %d vectors × %d, %d queries: exact answers\n", s.data.name, s.data.base.rows(), s.data.base.dim, s.data.queries.rows())
	return solve(s.data, s.cache)
}

// env is what contenders are made from.
func (s *session) env(ctx context.Context) *env {
	return &env{ctx: ctx, data: s.data, m: s.m, efConstruction: s.efConstruction, include: s.include, temp: s.temp}
}

// report adds a figure to the table at the end.
func (s *session) report(what, unit string, got span, must bar) {
	name := s.measure
	if s.data != nil {
		name = fmt.Sprintf("%s %s", s.data.name, sizeText(s.data.base.rows()))
	}
	s.results.figures = append(s.results.figures, figure{measure: s.measure, data: name, what: what, unit: unit, got: got, bar: must})
}

// results are everything a run has found out.
type results struct {
	figures []figure
	curves  [][]string // rows of ann.csv
}

// take runs one measure of one data set.
func (r *results) take(ctx context.Context, s *settings, m measure, d *dataset, stdout, stderr io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "glim-ann-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	one := &session{settings: s, data: d, temp: temp, out: stdout, log: stderr, results: r, measure: m.name}
	if err := m.run(ctx, one); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

// write leaves the tables in a folder.
func (r *results) write(dir string) error {
	rows := [][]string{figureColumns()}
	for _, f := range r.figures {
		rows = append(rows, f.row())
	}
	err := writeTable(filepath.Join(dir, "figures.csv"), rows)
	if len(r.curves) > 0 {
		err = errors.Join(err, writeTable(filepath.Join(dir, "ann.csv"), append([][]string{columns()}, r.curves...)))
	}
	return err
}
