package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

type queryFlags struct {
	mode                          string
	context, answer, prompt, data bool
	low, high                     []string
	topK, chunkTopK               int
	threshold                     float64
	picker, search, fusion        string
	vectorShare                   float64
	explain                       bool
	full                          bool
	instruct                      string
	filter                        queryFilter
	noRerank                      bool
	minRerank                     float64
	routing                       routingFlags
}

func (a *app) queryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query QUESTION",
		Short: "Ask a question; passages, entities, relations and, with a model, an answer",
		Long: `Query finds what the documents say about a question. Without a chat model it shows the passages, entities and
relations; with one it also answers from them.

Modes: naive (passages only), local (entities and their relations), global (relations and their entities), hybrid (both),
mix (both and passages, the default), bypass (straight to the model).

Flags such as --doc, --prefix and --metadata restrict a question to some documents, as they do for ` + "`glim docs`" + `. Entities and
relations are then shown as those documents describe them, and nothing of others is.

In --context, --prompt and --json, <SEP> in a description stands between what different passages say.`,
		Example: `  glim query "Who repairs the lighthouse lamp?"
  glim query "What links the council to the tide mill?" --mode global
  glim query "lamp" --low "lamp,lighthouse" --json
  glim query "Who is Scrooge?" --prefix dickens/ --metadata 'year<=1850'
  glim query "Who is Scrooge?" --context > context.txt
  echo "Who is Scrooge?" | glim query -`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o, err := f.options(cmd)
			if err != nil {
				return err
			}
			question, err := a.question(given)
			if err != nil {
				return err
			}
			return a.asking(func(d *db.DB) (err error) {
				if o.Filter, err = f.filter.of(cmd.Context(), a, d); err != nil {
					return err
				}
				return a.query(cmd.Context(), d, question, o, f)
			})
		},
	}
	fl := cmd.Flags()
	f.addRetrieval(cmd)
	fl.BoolVar(&f.context, "context", false, "print the context as a model would get it, and nothing else")
	fl.BoolVar(&f.prompt, "prompt", false, "print the whole prompt, and nothing else")
	fl.BoolVar(&f.answer, "answer", false, "print only the answer; needs a chat model")
	fl.StringSliceVar(&f.low, "low", nil, "low-level keywords (names, things) instead of found ones")
	fl.StringSliceVar(&f.high, "high", nil, "high-level keywords (themes) instead of found ones")
	return cmd
}

// addRetrieval adds the flags that a single question and a session share.
func (f *queryFlags) addRetrieval(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", string(query.Mix), strings.Join(modeNames(), ", "))
	fl.BoolVar(&f.data, "data", false, "no answer even if a chat model is configured")
	fl.BoolVar(&f.full, "full", false, "show whole passages and descriptions")
	fl.BoolVar(&f.explain, "explain", false, "show every step with its counts and times")
	fl.IntVar(&f.topK, "top-k", 0, "entities and relations to search for, 1 to 1000 (default 40)")
	fl.IntVar(&f.chunkTopK, "chunk-top-k", 0, "passages to show, 1 to 1000 (default 20)")
	fl.Float64Var(&f.threshold, "threshold", 0, "smallest cosine that counts, -1 to 1 (default 0.2)")
	fl.StringVar(&f.search, "search", "", "how passages are found for the question: vector, bm25 or hybrid (default vector)")
	fl.StringVar(&f.fusion, "fusion", "", "how a hybrid search merges: rrf (reciprocal ranks) or scores (default scores)")
	fl.Float64Var(&f.vectorShare, "vector-share", 0, "what the vector counts in a hybrid search, 0 to 1 (default 0.5, of offline vectors 0.35)")
	fl.StringVar(&f.picker, "picker", "", "how passages of entities are chosen: vector, weight or auto")
	fl.BoolVar(&f.noRerank, "no-rerank", false, "leave passages in the order in which they were found")
	fl.Float64Var(&f.minRerank, "min-rerank-score", 0, "leave out passages that the reranker scores lower (default 0: none)")
	f.filter.add(cmd)
	f.routing.add(cmd)
	fl.StringVar(&f.instruct, "instruct", "", "further instructions for the answer")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("search", cobra.FixedCompletions(typed(query.Searches()), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fusion", cobra.FixedCompletions(typed(query.Fusions()), cobra.ShellCompDirectiveNoFileComp))
}

func modeNames() []string { return typed(query.Modes()) }

// typed are names as they are typed.
func typed[T ~string](names []T) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}

// maxQuestionBytes bounds a question on standard input; no model reads more in a prompt.
const maxQuestionBytes = 1 << 20

// question is what was asked: the arguments, so that quotes may be left out, or standard input for "-".
func (a *app) question(given []string) (string, error) {
	if len(given) > 1 || given[0] != stdinArg {
		return strings.Join(given, " "), nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.in, maxQuestionBytes+1))
	if len(raw) > maxQuestionBytes {
		return "", usage("the question on standard input is longer than %d bytes", maxQuestionBytes)
	}
	return strings.TrimSpace(string(raw)), err
}

func (f *queryFlags) options(cmd *cobra.Command) (query.Options, error) {
	var asked []string
	for _, name := range []string{"context", "prompt", "answer", "data"} {
		if cmd.Flags().Changed(name) {
			asked = append(asked, "--"+name)
		}
	}
	if len(asked) > 1 {
		return query.Options{}, misused(cmd, strings.Join(asked, " and ")+" exclude each other")
	}
	for flag, n := range map[string]int{"top-k": f.topK, "chunk-top-k": f.chunkTopK} {
		if cmd.Flags().Changed(flag) && n == 0 { // there 0 is the default
			return query.Options{}, bounded(flag, n, 1, query.MaxTopK)
		}
	}
	o := query.Options{Mode: query.Mode(f.mode), LowKeywords: f.low, HighKeywords: f.high, TopK: f.topK,
		ChunkTopK: f.chunkTopK, Search: query.Search(f.search), Fusion: query.Fusion(f.fusion), Picker: query.Picker(f.picker), NoRerank: f.noRerank}
	o.Reply.UserPrompt = f.instruct
	o.Routing = f.routing.options()
	if cmd.Flags().Changed("vector-share") {
		o.VectorShare = query.Some(f.vectorShare)
	}
	if cmd.Flags().Changed("threshold") {
		o.CosineThreshold = query.Some(f.threshold)
	}
	if cmd.Flags().Changed("min-rerank-score") {
		o.MinRerankScore = query.Some(f.minRerank)
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
	return o, o.Validate()
}

func (a *app) query(ctx context.Context, d *db.DB, question string, o query.Options, f queryFlags) error {
	o.Stream = !a.json && (o.Want == query.WantAnswer || o.Want == query.WantDefault)
	res, err := d.Query(ctx, question, o)
	if err == nil {
		err = a.unsearched(ctx, d)
	}
	if err != nil {
		return err
	}
	switch {
	case a.json:
		if err := a.out.json(res); err != nil {
			return err
		}
		return a.explainEmpty(res)
	case f.context:
		return a.bare(res, res.Context)
	case f.prompt:
		return a.bare(res, res.Prompt)
	}
	answered, err := a.answer(res)
	if err != nil {
		return err
	}
	if f.answer {
		return a.explainEmpty(res)
	}
	if answered {
		a.out.printf("\n")
	}
	p := &page{output: a.out, full: f.full}
	p.result(res)
	if f.explain {
		p.trace(res)
	}
	err = a.explainEmpty(res)
	if f, empty := errors.AsType[*failure](err); empty {
		f.told = true
	}
	return err
}

// unsearched says on standard error which documents could not be searched, or in an older version only, at the cost of a scan
// over their statuses. The result itself counts those that wait.
func (a *app) unsearched(ctx context.Context, d *db.DB) error {
	absent, older := make(map[string]int), make(map[string]int)
	for i, err := range d.Documents(ctx, index.Filter{}) {
		if err != nil {
			return err
		}
		if i.Visible {
			older[i.Status]++
		} else {
			absent[i.Status]++
		}
	}
	for _, n := range []struct {
		what   string
		counts map[string]int
	}{{"that are not searched", absent}, {"whose version before is searched", older}} {
		if rest := unfinished(n.counts); rest != "" {
			a.err.printf("note: documents %s: %s; `glim retry` works them off\n", n.what, strings.TrimPrefix(rest, ", "))
		}
	}
	return nil
}

// answer prints the answer as it arrives and says whether there was one.
func (a *app) answer(res *query.Result) (answered bool, err error) {
	if res.Stream == nil {
		fmt.Fprint(a.out, printableText(res.Answer))
		answered = res.Answer != ""
	} else {
		for piece, err := range res.Stream {
			if err != nil {
				return answered, err
			}
			answered = true
			fmt.Fprint(a.out, printableText(piece))
		}
	}
	if answered {
		a.out.printf("\n")
	}
	return answered, nil
}

// bare prints one part of a result and nothing else.
func (a *app) bare(res *query.Result, text string) error {
	if err := a.explainEmpty(res); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

// explainEmpty is the error of a result without anything found.
func (a *app) explainEmpty(res *query.Result) error {
	if res.Outcome == query.OutcomeOK {
		return nil
	}
	return notFound("", "nothing found: %s", reasons(res))
}

// reasons are the causes of an empty result.
func reasons(res *query.Result) string {
	texts := make([]string, 0, len(res.Reasons))
	for _, r := range res.Reasons {
		if text := detail(r); r.Code != query.ReasonNoModel && r.Code != query.ReasonDocumentsWaiting && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return string(res.Outcome)
	}
	return strings.Join(texts, "; ")
}
