package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/spf13/cobra"
)

func (a *app) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Group the passages into topics, so that questions search a few of them",
		Long: `Cluster keeps topic clusters of the passages, each with a summary and keywords. With them, ` + "`glim query --routing`" + ` compares a
question with the passages of a few topics instead of all. They pay from some ten thousand passages on; build measures it, and
--routing auto goes by that. Once built they are kept up with every document.`,
		Example: `  glim cluster build
  glim cluster show
  glim query "Who repairs the lamp?" --routing auto --explain
  glim cluster drop`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.clusterBuild(), a.clusterShow(), a.clusterTune(), a.clusterTend(), a.clusterDrop())
	return cmd
}

func (a *app) clusterBuild() *cobra.Command {
	var o cluster.Options
	var method, summary, centroid string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the clusters, in place of those there are",
		Long: `Build clusters the passages, describes the clusters, and measures whether routing by them pays. Queries and documents go on
meanwhile; Ctrl-C leaves the clusters that there are. With a chat model summaries are written by it, a call a cluster.`,
		Example: `  glim cluster build
  glim cluster build --k 200 --summary extractive
  glim cluster build --elbow --replicas 2
  glim cluster build --method communities --near 10`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Method, o.Summary, o.Centroid = cluster.Method(method), cluster.SummaryMode(summary), cluster.CentroidMode(centroid)
			return a.with(false, false, func(d *db.DB) error {
				rep, err := d.BuildClusters(cmd.Context(), o)
				if bad, ok := errors.AsType[*cluster.OptionError](err); ok {
					return usage("--%s %v: want %s", strings.ToLower(bad.Field), bad.Value, bad.Want)
				}
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(rep)
				case rep.Generation == 0:
					a.out.printf("%s has no passages to cluster\n", a.set.DB)
					return nil
				}
				a.out.printf("%s of %s\n", count(len(rep.Clusters), "cluster"), count(rep.Chunks, "passage"))
				a.quality(rep.Info)
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&method, "method", "", "kmeans (the default), or for small sets dbscan, communities or hierarchical")
	fl.IntVar(&o.K, "k", 0, "number of clusters (default: about the root of the number of passages)")
	fl.Float64Var(&o.Radius, "radius", 0, "cosine distance within which passages belong together (default 0.3 for dbscan, 0.5 for hierarchical, 1 for communities)")
	fl.IntVar(&o.Near, "near", 0, "dbscan: passages within the radius that make a cluster (default 4); communities: nearest passages that one is joined with (default 10)")
	fl.Float64Var(&o.Resolution, "resolution", 0, "communities: larger makes more and smaller ones (default 1)")
	fl.BoolVar(&o.Elbow, "elbow", false, "choose the number where the curve of distances bends; takes longer")
	fl.Uint64Var(&o.Seed, "seed", 0, "what is drawn at random follows from it (default 42)")
	fl.IntVar(&o.Reduce, "reduce", 0, "cluster by that many principal components (default: all dimensions)")
	fl.IntVar(&o.Replicas, "replicas", 0, "clusters that a passage near a border is in, 1 to 8 (default 1)")
	fl.StringVar(&summary, "summary", "", "hybrid (the default with a chat model), generative, extractive (without one) or none")
	fl.StringVar(&centroid, "centroid", "", "what questions are compared with: both (the default), mean or summary")
	return cmd
}

// quality tells what was measured.
func (a *app) quality(i cluster.Info) {
	q := i.Quality
	if i.Always > 0 {
		a.out.printf("  in no cluster, and always searched: %s\n", count(i.Always, "passage"))
	}
	if q.Sample == 0 {
		a.out.printf("  too little to measure whether routing pays; --routing auto searches everything\n")
		return
	}
	verdict := "routing does not pay here, and --routing auto searches everything"
	if i.Pays {
		verdict = "routing pays"
	}
	a.out.printf("  %.1f%% of the nearest passages are found in %.1f%% of all, in %.1f clusters on average; silhouette %.3f: %s\n",
		100*q.Recall, 100*q.Share, q.Probes, q.Silhouette, verdict)
}

func (a *app) clusterShow() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "show [CLUSTER]",
		Short: "Show the clusters, or one with its passages",
		Long: `Show lists the clusters by number with their size and the words that set them apart, what was measured when they were built, and
what is due. With a number it shows that cluster: keywords, summary, the passages that speak for it, and all others.`,
		Example: `  glim cluster show
  glim cluster show 3
  glim cluster show --json`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.with(false, true, func(d *db.DB) error {
				i, err := d.Clusters(cmd.Context())
				if err != nil {
					return a.noClusters(err)
				}
				if len(given) == 1 {
					return a.showCluster(cmd, d, i, given[0])
				}
				if a.json {
					return a.out.json(i)
				}
				a.out.printf("%s of %s, made from commit %d\n", count(len(i.Clusters), "cluster"), count(i.Chunks, "passage"), i.Data)
				a.quality(i)
				if m := i.Monitored; m != nil && m.Queries > 0 {
					a.out.printf("  questions routed of late find %.1f%% (%s)\n", 100*m.Recall, count(m.Queries, "question"))
				}
				if m := i.Monitored; m != nil && m.First > 0 {
					a.out.printf("  the first questions watched found %.1f%%; 3 points less of late make a rebuild due\n", 100*m.First)
				}
				if len(i.Due) > 0 {
					a.out.printf("  due: %s\n", strings.Join(i.Due, ", "))
				}
				for _, c := range i.Clusters {
					a.out.printf("%5d  %-12s %s\n", c.ID, count(c.Size, "passage"), printable(c.Title))
					if full && c.Summary != "" {
						a.out.printf("       %s\n", printable(c.Summary))
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "show the summaries, too")
	return cmd
}

func (a *app) showCluster(cmd *cobra.Command, d *db.DB, i cluster.Info, name string) error {
	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		return usage("%q is no number of a cluster; `glim cluster show` lists them", name)
	}
	for _, c := range i.Clusters {
		if uint64(c.ID) != id {
			continue
		}
		members, err := d.ClusterMembers(cmd.Context(), c.ID)
		if err != nil {
			return err
		}
		if a.json {
			return a.out.json(struct {
				cluster.Topic
				Members []string `json:"members"`
			}{c, members})
		}
		var words []string
		for _, k := range c.Keywords {
			words = append(words, k.Word)
		}
		a.out.printf("cluster %d, %s\n  keywords  %s\n  summary   %s\n  speakers  %s\n", c.ID, count(c.Size, "passage"),
			printable(strings.Join(words, ", ")), printable(c.Summary), printable(strings.Join(c.Representatives, ", ")))
		for _, m := range members {
			a.out.printf("  %s\n", printable(m))
		}
		return nil
	}
	return notFound("`glim cluster show` lists them", "no cluster %s in %s", name, a.set.DB)
}

func (a *app) clusterTend() *cobra.Command {
	return &cobra.Command{
		Use:   "tend",
		Short: "Do now what is due: merge, split, describe anew",
		Long: `Tend mends what changes of documents have left: small clusters are merged, large ones split, changed ones described anew, and all
built anew when the passages have doubled. A running program does it by itself in the background.`,
		Example: `  glim cluster tend`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, false, func(d *db.DB) error {
				rep, err := d.TendClusters(cmd.Context())
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(rep)
				case rep.Rebuilt:
					a.out.printf("built anew\n")
				default:
					a.out.printf("%d merged, %d split, %d described; %s moved\n", rep.Merged, rep.Split, rep.Described, count(rep.Moved, "passage"))
				}
				return nil
			})
		},
	}
}

func (a *app) clusterDrop() *cobra.Command {
	return &cobra.Command{
		Use:     "drop",
		Short:   "Remove the clusters; no passage is touched",
		Long:    "Drop removes the clusters and everything about them. Queries with --routing then search all passages, and say so.",
		Example: `  glim cluster drop`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, false, func(d *db.DB) error {
				if err := d.DropClusters(cmd.Context()); err != nil {
					return a.noClusters(err)
				}
				a.out.printf("clusters of %s dropped\n", a.set.DB)
				return nil
			})
		},
	}
}

// noClusters puts the absence of clusters into words.
func (a *app) noClusters(err error) error {
	if errors.Is(err, cluster.ErrNone) {
		return notFound("`glim cluster build` makes them", "%s has no clusters", a.set.DB)
	}
	return err
}
