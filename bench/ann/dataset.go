package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glimdb/db/vector"
)

// dataset is a set of vectors to search, and queries that are not among them.
type dataset struct {
	name    string
	metric  vector.Metric
	base    matrix
	queries matrix
}

// dataOptions tell sources what to load and where from.
type dataOptions struct {
	n       int    // vectors to search; 0: as many as the source says
	queries int    // at most
	shared  string // folder of real data, or ""
	words   string // packed npm package of the word vectors, or ""
	cache   string // folder of what is expensive to make
}

// source makes data sets under one name of the flag -data.
type source struct {
	name string
	load func(o dataOptions) ([]*dataset, error)
}

// sources lists what -data may name.
func sources() []source {
	return []source{
		{"clustered768", func(o dataOptions) ([]*dataset, error) { return loadClustered(o, 768) }},
		{"clustered1536", func(o dataOptions) ([]*dataset, error) { return loadClustered(o, 1536) }},
		{"words", loadWords},
		{"fashion", loadFashion},
		{"text", loadText},
	}
}

// sourcesNamed picks sources by a comma-separated list.
func sourcesNamed(list string) ([]source, error) {
	all := sources()
	var out []source
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(s source) bool { return s.name == name })
		if i < 0 {
			var names []string
			for _, s := range all {
				names = append(names, s.name)
			}
			return nil, fmt.Errorf("-data %s: no such data; there are %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// absentError says that something a run would use is not on this machine. The run goes on without it.
type absentError struct{ why string }

func (e *absentError) Error() string { return e.why }

func absent(format string, args ...any) error {
	return &absentError{fmt.Sprintf(format, args...)}
}

// split makes a data set of rows: the first are its queries, at most a tenth of all. Under cosine the rows
// are normalised.
func split(name string, metric vector.Metric, rows matrix, o dataOptions) (*dataset, error) {
	if metric == vector.Cosine {
		if err := rows.normalise(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	q := min(o.queries, rows.rows()/10)
	n := rows.rows() - q
	if o.n > 0 {
		n = min(n, o.n)
	}
	return checked(&dataset{name, metric, rows.slice(q, q+n), rows.slice(0, q)})
}

// checked refuses a data set on which recall means nothing.
func checked(d *dataset) (*dataset, error) {
	if d.base.rows() == 0 || d.queries.rows() == 0 {
		return nil, fmt.Errorf("%s: %d vectors and %d queries: too few to measure", d.name, d.base.rows(), d.queries.rows())
	}
	return d, nil
}

// cached returns the rows that an earlier run kept under name, or makes and keeps them.
func cached(o dataOptions, name string, rows func() (matrix, error)) (matrix, error) {
	path := filepath.Join(o.cache, name+".fvecs")
	m, err := readFvecs(path)
	if err == nil {
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return matrix{}, fmt.Errorf("%w; remove it to have it made anew", err)
	}
	if m, err = rows(); err != nil {
		return matrix{}, err
	}
	if err := os.MkdirAll(o.cache, 0o755); err != nil {
		return matrix{}, err
	}
	return m, writeFvecs(path, m)
}
