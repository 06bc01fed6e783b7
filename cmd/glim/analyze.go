package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

func (a *app) analyzeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "analyze",
		Short: "Run graph algorithms over everything: rank, communities, cores, components, distances",
		Long: `Analyze looks at the whole knowledge graph, or another one, as one commit shows it, and prints what it finds, writes it
as CSV, JSON Lines or Markdown, or stores it beside the graph (--save), stamped with the commit and the parameters. With
--vectors it looks at the pairs of similar vectors in place of a graph. Equal data, parameters and seed give equal results.`,
		Example: `  glim analyze communities
  glim analyze pagerank --top 10
  glim analyze communities --vectors chunks --min-score 0.5 --format csv -o topics.csv
  glim analyze pagerank --save`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.analyzeDegree(), a.analyzeComponents(), a.analyzePageRank(), a.analyzeCores(), a.analyzeCommunities(),
		a.analyzeDistance(), a.analyzeSimilar(), a.analyzeList(), a.analyzeDrop())
	return cmd
}

// analysis is what the commands of algorithms have in common.
type analysis struct {
	o        db.AnalysisOptions
	top      int
	save     bool
	as       string
	format   string
	to       target
	memoryMB int
}

func (x *analysis) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&x.o.Graph, "graph", "", "analyse this `graph` (default: that of the documents)")
	fl.StringVar(&x.o.Vectors, "vectors", "", "analyse the similar pairs of this vector `collection`, such as chunks or entities")
	fl.Float64Var(&x.o.MinScore, "min-score", 0.5, "the least score of a pair of --vectors, above 0")
	fl.IntVarP(&x.top, "top", "n", 20, "how many nodes or groups to print, 1 or more")
	fl.BoolVar(&x.save, "save", false, "store the result beside the graph")
	fl.StringVar(&x.as, "as", "", "the `property` that --save stores (default: the algorithm's name)")
	fl.StringVarP(&x.format, "format", "f", "", "write all nodes as csv, jsonl or markdown")
	fl.IntVar(&x.memoryMB, "memory-mb", analytics.DefaultMemoryBytes>>20, "refuse what would take more MiB of memory")
	x.to.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(spelled(tableFormats()), cobra.ShellCompDirectiveNoFileComp))
}

// formatted reports whether all nodes are to be written, and as what.
func formatted(format string, to target) (f db.ExportFormat, ok bool, err error) {
	if format == "" && to.file == "" {
		return "", false, nil
	}
	f, err = exportFormat(format, to.file)
	if f == db.ExportGraphML || err != nil && format != "" {
		err = usage("--format %s: want one of %s", cmp.Or(format, string(f)), joined(tableFormats()))
	}
	return f, true, err
}

// tableFormats are those of tables: a graph is another thing.
func tableFormats() []db.ExportFormat {
	return slices.DeleteFunc(db.ExportFormats(), func(f db.ExportFormat) bool { return f == db.ExportGraphML })
}

// run analyses, and does with the result what the flags say.
func (x *analysis) run(cmd *cobra.Command, a *app) error {
	ctx := cmd.Context()
	f, all, err := formatted(x.format, x.to)
	if err == nil {
		_, err = x.to.place()
	}
	switch {
	case err != nil:
		return err
	case x.o.Vectors == "" && cmd.Flags().Changed("min-score"):
		return usage("--min-score is of the pairs of --vectors: give both")
	case x.o.Vectors != "" && (x.o.Graph != "" || x.save):
		return usage("--vectors stands in the place of a graph: leave out --graph and --save")
	case x.as != "" && !x.save:
		return usage("--as names what --save stores: give both")
	}
	if err := bounded("top", x.top, 1, maxTop); err != nil {
		return err
	}
	if err := bounded("memory-mb", x.memoryMB, 1, maxMemoryMB); err != nil {
		return err
	}
	if err := nonZero(cmd); err != nil {
		return err
	}
	x.o.MemoryBytes = int64(x.memoryMB) << 20
	return a.with(false, !x.save, func(d *db.DB) error {
		if x.o.Algorithm == analytics.Distance && x.o.Graph == "" && x.o.Vectors == "" {
			if err := x.resolve(ctx, a, d); err != nil {
				return err
			}
		}
		res, err := d.Analyze(ctx, x.o)
		if err != nil {
			return a.analyzeFailure(ctx, d, err, x.o)
		}
		if x.save {
			saved, err := d.SaveAnalysis(ctx, res, x.as)
			if err != nil {
				return err
			}
			a.err.printf("note: %s of %s stored as %s\n", string(saved.Options.Algorithm), count(saved.Saved, "node"), brief.Quote(saved.Property))
		}
		switch {
		case all:
			return a.write(x.to, func(w io.Writer) error { return res.Write(w, f) })
		case a.json:
			return a.out.json(x.report(res))
		}
		x.show(a, res)
		return nil
	})
}

// nonZero refuses parameters of 0, which the library would take for their defaults.
func nonZero(cmd *cobra.Command) error {
	for _, name := range []string{"damping", "tolerance", "resolution", "rounds"} {
		if f := cmd.Flags().Lookup(name); f != nil && (f.Value.String() == "0" || f.Value.String() == "-0") {
			return usage("--%s 0: want more than 0", name)
		}
	}
	return nil
}

// analyzeFailure puts parameters and names that Analyze refused into the words of the command line.
func (a *app) analyzeFailure(ctx context.Context, d *db.DB, err error, o db.AnalysisOptions) error {
	bad, invalid := errors.AsType[*graph.InvalidError](err)
	_, noNode := errors.AsType[*graph.MissingNodeError](err)
	switch {
	case invalid && bad.Field == "argument":
		return &failure{code: exitUsage, what: "--" + bad.Key + " " + strings.Replace(bad.Reason, ", want", ": want", 1), err: err}
	case noNode || !errors.Is(err, db.ErrNotFound):
		return err
	case o.Vectors != "":
		return d.View(ctx, func(tx *db.Tx) error { return a.noCollection(tx, o.Vectors) })
	}
	return a.noGraph(o.Graph)
}

func (a *app) noGraph(name string) error {
	return notFound("leave out --graph for the graph of the documents; others are made by programs", "no graph %s in %s", brief.Quote(name), a.where())
}

const (
	maxTop      = 1_000_000 // more rows are what --format is for
	maxMemoryMB = 1 << 20
)

// resolve takes the name that a distance begins at for one of the documents' entities.
func (x *analysis) resolve(ctx context.Context, a *app, d *db.DB) error {
	return d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			return a.emptyGraph()
		}
		n, err := a.node(tx, g, x.o.From)
		x.o.From = n.Name
		return err
	})
}

// analysisJSON is a result for programs; --format writes all nodes.
type analysisJSON struct {
	Graph   string             `json:"graph,omitempty"`
	Vectors string             `json:"vectors,omitempty"`
	LSN     uint64             `json:"lsn"`
	Options analytics.Options  `json:"options"`
	Figures map[string]float64 `json:"figures"`
	Top     []scoredJSON       `json:"top,omitempty"`
	Groups  []groupJSON        `json:"groups,omitempty"`
}

type scoredJSON struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

type groupJSON struct {
	Size    int      `json:"size"`
	Members []string `json:"members"` // the first membersShown
}

// membersShown is how many members of a group are named, and membersIndent the columns before them.
const (
	membersShown  = 8
	membersIndent = 12
)

func (x *analysis) report(res *db.Analysis) analysisJSON {
	r := analysisJSON{Graph: res.Graph, Vectors: x.o.Vectors, LSN: uint64(res.LSN), Options: res.Options, Figures: map[string]float64{}}
	for _, f := range res.Figures {
		r.Figures[f.Name] = f.Value
	}
	for _, i := range res.Top(x.top) {
		if v := res.Scores[i]; v <= maxShown {
			r.Top = append(r.Top, scoredJSON{res.Name(i), v})
		}
	}
	if res.Options.Algorithm.Groups() {
		for g, members := range res.Groups.Members()[:min(x.top, res.Groups.Count())] {
			group := groupJSON{Size: res.Groups.Sizes[g]}
			for _, i := range members[:min(membersShown, len(members))] {
				group.Members = append(group.Members, res.Name(int(i)))
			}
			r.Groups = append(r.Groups, group)
		}
	}
	return r
}

// maxShown leaves out infinite distances.
const maxShown = 1e300

// show prints figures, and the first nodes or groups.
func (x *analysis) show(a *app, res *db.Analysis) {
	r := x.report(res)
	what := r.Graph
	if what == "" {
		what = "pairs of " + r.Vectors
	}
	a.out.printf("%s of %s, commit %d\n", string(res.Options.Algorithm), what, r.LSN)
	for _, f := range res.Figures {
		a.out.printf("  %-14s %s\n", strings.ReplaceAll(f.Name, "_", " "), number(f.Value))
	}
	for _, row := range r.Top {
		a.out.printf("%10s  %s\n", number(row.Score), row.Name)
	}
	for _, g := range r.Groups {
		names := slices.Clone(g.Members)
		if more := g.Size - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		a.out.printf("%10d  %s\n", g.Size, cut(strings.Join(names, ", "), a.out.width-membersIndent))
	}
}

// algorithm is a command that runs one algorithm; set may add flags and arguments.
func (a *app) algorithm(use, short, long, example string, algorithm analytics.Algorithm, set func(cmd *cobra.Command, x *analysis)) *cobra.Command {
	x := &analysis{}
	x.o.Algorithm = algorithm
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return x.run(cmd, a) },
	}
	x.flags(cmd)
	if set != nil {
		set(cmd, x)
	}
	return cmd
}

func (a *app) analyzeDegree() *cobra.Command {
	return a.algorithm("degree", "Count what each node is joined with",
		"Degree counts the nodes that each node is joined with, and tells how these numbers are spread.",
		"  glim analyze degree", analytics.Degree, nil)
}

func (a *app) analyzeComponents() *cobra.Command {
	return a.algorithm("components", "Find the parts that nothing joins",
		"Components are the parts of the graph that no edge joins with each other; with --strong those in which every node can be\nreached from every other along the directions of edges.",
		"  glim analyze components\n  glim analyze components --graph roads --strong", analytics.Components, func(cmd *cobra.Command, x *analysis) {
			strong := cmd.Flags().Bool("strong", false, "strong components, of a directed graph")
			cmd.PreRun = func(*cobra.Command, []string) {
				if *strong {
					x.o.Algorithm = analytics.StrongComponents
				}
			}
		})
}

func (a *app) analyzePageRank() *cobra.Command {
	return a.algorithm("pagerank", "Rank nodes by PageRank",
		"PageRank is the chance of finding a random walker at a node: high where much leads to, and where what leads there is high.",
		"  glim analyze pagerank\n  glim analyze pagerank --save --as rank", analytics.PageRank, func(cmd *cobra.Command, x *analysis) {
			fl := cmd.Flags()
			fl.Float64Var(&x.o.Damping, "damping", 0.85, "the share of walkers that follow an edge, above 0 and below 1")
			fl.Float64Var(&x.o.Tolerance, "tolerance", 1e-9, "end when the ranks change by less, all together")
			fl.IntVar(&x.o.Rounds, "rounds", 200, "end after this many rounds, 1 to 10,000")
			fl.BoolVar(&x.o.Unweighted, "unweighted", false, "take every edge for one of weight 1")
		})
}

func (a *app) analyzeCores() *cobra.Command {
	return a.algorithm("cores", "Find the densest parts (k-cores)",
		"Cores numbers each node with the largest k for which it is in a part whose nodes all have k neighbours in it.",
		"  glim analyze cores", analytics.Cores, nil)
}

func (a *app) analyzeCommunities() *cobra.Command {
	return a.algorithm("communities", "Find communities (Leiden or Louvain)",
		"Communities are groups of nodes with more weight inside than chance would give. Leiden's are connected, Louvain's need not be.",
		"  glim analyze communities --resolution 2\n  glim analyze communities --vectors chunks --min-score 0.4", analytics.Leiden, func(cmd *cobra.Command, x *analysis) {
			fl := cmd.Flags()
			fl.StringVar((*string)(&x.o.Algorithm), "algorithm", string(analytics.Leiden), "leiden or louvain")
			fl.Float64Var(&x.o.Resolution, "resolution", 1, "above 1 more and smaller communities, below 1 fewer and larger ones")
			fl.Uint64Var(&x.o.Seed, "seed", 0, "the order in which nodes are looked at")
			fl.IntVar(&x.o.Rounds, "rounds", 10, "passes over the graph, 1 to 10,000; it ends sooner when one finds nothing better")
			fl.BoolVar(&x.o.Unweighted, "unweighted", false, "take every edge for one of weight 1")
			cmd.PreRunE = func(*cobra.Command, []string) error {
				if x.o.Algorithm != analytics.Leiden && x.o.Algorithm != analytics.Louvain {
					return usage("--algorithm %s: want leiden or louvain", x.o.Algorithm)
				}
				return nil
			}
			_ = cmd.RegisterFlagCompletionFunc("algorithm", cobra.FixedCompletions([]string{"leiden", "louvain"}, cobra.ShellCompDirectiveNoFileComp))
		})
}

func (a *app) analyzeDistance() *cobra.Command {
	return a.algorithm("distance NAME", "Measure how far every node is from one",
		"Distance is the length of a shortest path from a node to every other that can be reached, along the directions of edges.\n"+nameHelp,
		"  glim analyze distance \"Maren Holt\"\n  glim analyze distance \"Maren Holt\" --length inverse --format csv", analytics.Distance, func(cmd *cobra.Command, x *analysis) {
			fl := cmd.Flags()
			fl.StringVar((*string)(&x.o.Length), "length", string(analytics.Hops), "hops: every edge is 1 long; weight: as long as its weight; inverse: 1/weight, stronger is shorter")
			cmd.Args = args(cobra.ExactArgs(1))
			cmd.RunE = func(cmd *cobra.Command, given []string) error {
				if !slices.Contains(analytics.Lengths(), x.o.Length) {
					return usage("--length %s: want one of %s", x.o.Length, joined(analytics.Lengths()))
				}
				x.o.From = given[0]
				return x.run(cmd, a)
			}
			_ = cmd.RegisterFlagCompletionFunc("length", cobra.FixedCompletions(spelled(analytics.Lengths()), cobra.ShellCompDirectiveNoFileComp))
		})
}
