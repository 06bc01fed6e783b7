package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

type queryFlags struct {
	mode                          string
	context, answer, prompt, data bool
	low, high                     []string
	topK, chunkTopK               int
	threshold                     float64
	picker                        string
	explain                       bool
	full                          bool
	instruct                      string
}

func (a *app) queryCommand() *cobra.Command {
	var f queryFlags
	modes := make([]string, 0, len(query.Modes()))
	for _, m := range query.Modes() {
		modes = append(modes, string(m))
	}
	cmd := &cobra.Command{
		Use:   "query QUESTION",
		Short: "Ask a question; passages, entities, relations and, with a model, an answer",
		Long: `Query finds what the documents say about a question. Without a chat model it shows the passages, entities and
relations; with one it also answers from them.

Modes: naive (passages only), local (entities and their relations), global (relations and their entities), hybrid (both),
mix (both and passages, the default), bypass (straight to the model).`,
		Example: `  glim query "Who repairs the lighthouse lamp?"
  glim query "What links the council to the tide mill?" --mode global
  glim query "lamp" --low "lamp,lighthouse" --json
  glim query "Who is Scrooge?" --context > context.txt
  echo "Who is Scrooge?" | glim query -`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			question := given[0]
			if question == stdinArg {
				raw, err := io.ReadAll(io.LimitReader(a.in, maxConfigSize))
				if err != nil {
					return err
				}
				question = string(raw)
			}
			o, err := f.options(cmd)
			if err != nil {
				return err
			}
			return a.with(false, false, func(d *db.DB) error { return a.query(cmd.Context(), d, question, o, f) })
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.mode, "mode", "m", string(query.Mix), strings.Join(modes, ", "))
	fl.BoolVar(&f.context, "context", false, "print the context as a model would get it, and nothing else")
	fl.BoolVar(&f.prompt, "prompt", false, "print the whole prompt, and nothing else")
	fl.BoolVar(&f.answer, "answer", false, "print only the answer; needs a chat model")
	fl.BoolVar(&f.data, "data", false, "no answer even if a chat model is configured")
	fl.BoolVar(&f.full, "full", false, "show whole passages and descriptions")
	fl.BoolVar(&f.explain, "explain", false, "show every step with its counts and times")
	fl.StringSliceVar(&f.low, "low", nil, "low-level keywords (names, things) instead of found ones")
	fl.StringSliceVar(&f.high, "high", nil, "high-level keywords (themes) instead of found ones")
	fl.IntVar(&f.topK, "top-k", 0, "entities and relations to search for (default 40)")
	fl.IntVar(&f.chunkTopK, "chunk-top-k", 0, "passages to show (default 20)")
	fl.Float64Var(&f.threshold, "threshold", 0, "smallest cosine that counts (default 0.2)")
	fl.StringVar(&f.picker, "picker", "", "how passages of entities are chosen: vector, weight or auto")
	fl.StringVar(&f.instruct, "instruct", "", "further instructions for the answer")
	cmd.MarkFlagsMutuallyExclusive("context", "prompt", "answer", "data")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *queryFlags) options(cmd *cobra.Command) (query.Options, error) {
	o := query.Options{Mode: query.Mode(f.mode), LowKeywords: f.low, HighKeywords: f.high, TopK: f.topK,
		ChunkTopK: f.chunkTopK, Picker: query.Picker(f.picker)}
	o.Reply.UserPrompt = f.instruct
	if cmd.Flags().Changed("threshold") {
		o.CosineThreshold = query.Some(f.threshold)
	}
	switch {
	case f.context:
		o.Want = query.WantContext
	case f.prompt:
		o.Want = query.WantPrompt
	case f.answer:
		o.Want = query.WantAnswer
	case f.data:
		o.Want = query.WantData
	case o.Mode == query.Bypass:
		o.Want = query.WantAnswer // nothing else comes back: without a model that is an error
	}
	if err := o.Validate(); err != nil {
		return o, usage(err)
	}
	return o, nil
}

func (a *app) query(ctx context.Context, d *db.DB, question string, o query.Options, f queryFlags) error {
	o.Stream = !a.json && (o.Want == query.WantAnswer || o.Want == query.WantDefault)
	res, err := d.Query(ctx, question, o)
	if err != nil {
		if errors.Is(err, query.ErrEmptyQuery) {
			return usage(err)
		}
		return err
	}
	switch {
	case a.json:
		return a.printJSON(res)
	case f.context:
		_, err = fmt.Fprintln(a.out, res.Context)
		return errors.Join(err, a.explainEmpty(res))
	case f.prompt:
		_, err = fmt.Fprintln(a.out, res.Prompt)
		return errors.Join(err, a.explainEmpty(res))
	}
	streamed := false
	if res.Stream != nil {
		for piece, err := range res.Stream {
			if err != nil {
				return err
			}
			streamed = true
			fmt.Fprint(a.out, piece)
		}
	} else if res.Answer != "" {
		streamed = true
		fmt.Fprint(a.out, res.Answer)
	}
	if streamed {
		fmt.Fprint(a.out, "\n")
	}
	if f.answer {
		return a.explainEmpty(res)
	}
	if streamed {
		fmt.Fprint(a.out, "\n")
	}
	w := &page{w: a.out, width: terminalWidth(a.out), full: f.full}
	w.result(res)
	if f.explain {
		w.trace(res.Trace)
	}
	return w.err
}

// explainEmpty tells on stderr why a bare output is empty, and makes the exit code say so.
func (a *app) explainEmpty(res *query.Result) error {
	if res.Outcome == query.OutcomeOK {
		return nil
	}
	return &exitError{exitNotFound, fmt.Errorf("nothing found: %s", reasons(res))}
}

func reasons(res *query.Result) string {
	texts := make([]string, 0, len(res.Reasons))
	for _, r := range res.Reasons {
		if r.Code != query.ReasonNoModel && !slices.Contains(texts, r.Detail) {
			texts = append(texts, r.Detail)
		}
	}
	if len(texts) == 0 {
		return string(res.Outcome)
	}
	return strings.Join(texts, "; ")
}
