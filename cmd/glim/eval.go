package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/eval"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

// evaluation is one run of `glim eval`.
type evaluation struct {
	modes          []string
	ks             []int
	topK, chunks   int
	threshold      float64
	noRerank, both bool
	routing        routingFlags
	format         string
	curve          string
	to             target
}

func (a *app) evalCommand() *cobra.Command {
	x := &evaluation{}
	cmd := &cobra.Command{
		Use:   "eval FILE",
		Short: "Measure retrieval with questions whose answers are known",
		Long: `Eval asks the database every question of a set under each mode, and prints what was found: Recall, Precision, Hit and nDCG
at each K, MRR, latencies, and how often another way was taken than the one asked for. No answer model is called.

The set is JSON Lines, an object a line: {"question": "...", "documents": ["ID", ...], "chunks": [...], "entities": [...]}, with one of the
three lists at least; an object {"ID": 2} in place of a list grades. A document is named by its id, or by the end of it
after a slash. "-" reads standard input.`,
		Example: `  glim eval testdata/questions.jsonl
  glim eval questions.jsonl --mode naive,mix --both-rerank --k 5,20
  glim eval questions.jsonl --format markdown -o results.md --curve recall.svg`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return x.run(cmd, a, given[0]) },
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&x.modes, "mode", evalModes(), "the modes to compare")
	fl.IntSliceVar(&x.ks, "k", []int{1, 2, 5, 10}, "the numbers of results that are looked at")
	fl.IntVar(&x.topK, "top-k", 0, "hits taken from the entity and the relation index (default 40)")
	fl.IntVar(&x.chunks, "chunk-top-k", 0, "passages found by the question, and kept (default 20, or the largest K)")
	fl.Float64Var(&x.threshold, "threshold", 0.2, "drop vector hits of a lower cosine")
	fl.BoolVar(&x.noRerank, "no-rerank", false, "leave passages in the order in which they were found")
	fl.BoolVar(&x.both, "both-rerank", false, "measure every mode with and without the reranker")
	fl.StringVarP(&x.format, "format", "f", "", "text, markdown, csv or json; by default as --output ends, else text")
	fl.StringVar(&x.curve, "curve", "", "draw Recall against K into this `file`, whose name ends in .svg or .png")
	x.routing.add(cmd)
	x.to.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(evalModes(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(spelled(eval.Formats()), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (x *evaluation) run(cmd *cobra.Command, a *app, file string) error {
	f, err := x.form(a)
	if err != nil {
		return err
	}
	image := eval.Image(strings.TrimPrefix(strings.ToLower(filepath.Ext(x.curve)), "."))
	if x.curve != "" && image != eval.SVG && image != eval.PNG {
		return usage("--curve %s: want a name that ends in .svg or .png", x.curve)
	}
	curve := target{file: x.curve, force: x.to.force, flag: "--curve"}
	for _, t := range []*target{&x.to, &curve} {
		if _, err := t.place(); err != nil {
			return err
		}
	}
	setups, err := x.setups(cmd)
	if err != nil {
		return err
	}
	questions, err := a.questions(file)
	if err != nil {
		return err
	}
	return a.asking(func(d *db.DB) error {
		r, err := eval.Run(cmd.Context(), d, questions, setups, eval.Options{Ks: x.ks, Progress: a.evalProgress(cmd.Context())})
		if err != nil {
			return evalFailure(err)
		}
		if x.curve != "" {
			if _, _, err := curve.create(func(w io.Writer) error { return r.Draw(w, image) }); err != nil {
				return err
			}
			a.err.printf("note: recall drawn into %s\n", x.curve)
		}
		return a.write(x.to, func(w io.Writer) error { return r.Write(w, f) })
	})
}

// form is the format asked for, or that of the file's name.
func (x *evaluation) form(a *app) (eval.Format, error) {
	endings := map[string]eval.Format{".md": eval.Markdown, ".csv": eval.CSV, ".json": eval.JSON}
	switch f := eval.Format(x.format); {
	case slices.Contains(eval.Formats(), f):
		return f, nil
	case f != "":
		return "", usage("--format %s: want one of %s", x.format, joined(eval.Formats()))
	}
	if f, ok := endings[strings.ToLower(filepath.Ext(x.to.file))]; ok {
		return f, nil
	}
	if a.json {
		return eval.JSON, nil
	}
	return eval.Text, nil
}

func (x *evaluation) setups(cmd *cobra.Command) ([]eval.Setup, error) {
	if x.noRerank && x.both {
		return nil, misused(cmd, "--no-rerank and --both-rerank exclude each other")
	}
	for _, k := range x.ks {
		if err := bounded("k", k, 1, query.MaxTopK); err != nil {
			return nil, err
		}
	}
	o := query.Options{TopK: x.topK, ChunkTopK: x.chunks, NoRerank: x.noRerank}
	exhaustive := o
	o.Routing = x.routing.options()
	if cmd.Flags().Changed("threshold") {
		o.CosineThreshold = query.Some(x.threshold)
	}
	if len(x.modes) == 0 {
		return nil, usage("--mode: want some of %s", joined(evalModes()))
	}
	var out []eval.Setup
	for _, name := range x.modes {
		m := query.Mode(name)
		if !slices.Contains(evalModes(), name) {
			return nil, usage("--mode %s: want some of %s", name, joined(evalModes()))
		}
		setup := eval.Modes(o, m)[0]
		if !o.Routing.IsZero() { // what routing loses is told by asking without it
			full := exhaustive
			full.Mode, full.Routing.Mode = m, query.RoutingOff
			setup.Exhaustive = &full
		}
		out = append(out, setup)
		if x.both {
			setup.Name += ", no reranker"
			setup.Options.NoRerank = true
			out = append(out, setup)
		}
	}
	return out, o.Validate()
}

// evalModes are the modes that retrieve.
func evalModes() []string {
	return slices.DeleteFunc(modeNames(), func(name string) bool { return name == string(query.Bypass) })
}

// questions reads a set from a file or standard input.
func (a *app) questions(file string) ([]eval.Question, error) {
	r, name := a.in, "standard input"
	if file != stdinArg {
		if st, err := os.Stat(file); err == nil && st.IsDir() {
			return nil, usage("%s is a directory; name a file of questions, or - for standard input", file)
		}
		f, err := os.Open(file)
		if err != nil {
			return nil, &failure{code: exitNotFound, what: plain(err), hint: "name a file of questions, or - for standard input", err: err}
		}
		defer f.Close()
		r, name = f, file
	}
	qs, err := eval.ReadQuestions(r, name)
	return qs, evalFailure(err)
}

// evalFailure puts what is wrong with a question on one line and what to do on the next.
func evalFailure(err error) error {
	q, ok := errors.AsType[*eval.QuestionError](err)
	if !ok {
		return err
	}
	return &failure{code: exitUsage, what: fmt.Sprintf("%s, line %d: %s", q.File, q.Line, q.What), hint: q.Do, err: err}
}

// evalProgress tells on a terminal which question is asked.
func (a *app) evalProgress(ctx context.Context) func(string, int, int) {
	if !a.err.terminal || a.json {
		return nil
	}
	return func(setup string, done, of int) {
		if ctx.Err() == nil {
			a.err.printf("\r\x1b[K%s: %d of %d", setup, done, of)
		}
		if done == of {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
	}
}
