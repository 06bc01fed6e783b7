package main

import (
	"bufio"
	"errors"
	"os"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/spf13/cobra"
)

func (a *app) clusterTune() *cobra.Command {
	var (
		o         cluster.TuneOptions
		questions string
	)
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Measure how many clusters a question has to search, and go by that",
		Long: `Tune asks for the ten nearest passages of questions, one a line of a file, and tells how many of these lie in the nearest clusters.
It sets the least number of clusters that reaches the recall, how much more a question between topics may search, and how near
the best cluster has to be. Without questions passages stand in for them.`,
		Example: `  glim cluster tune
  glim cluster tune --questions asked.txt --recall 0.99
  glim cluster tune --curve --keep`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if questions != "" {
				if o.Questions, err = linesOf(questions); err != nil {
					return err
				}
			}
			return a.with(false, false, func(d *db.DB) error {
				t, err := d.TuneClusters(cmd.Context(), o)
				if bad, ok := errors.AsType[*cluster.OptionError](err); ok {
					return usage("--%s %v: want %s", strings.ToLower(bad.Field), bad.Value, bad.Want)
				}
				switch {
				case err != nil:
					return a.noClusters(err)
				case a.json:
					return a.out.json(t)
				}
				a.tuned(t)
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&questions, "questions", "", "file with a question a line")
	fl.Float64Var(&o.Recall, "recall", 0, "share of the ten nearest passages to find (default 0.975)")
	fl.BoolVar(&o.Curve, "curve", false, "also cluster a sample with several numbers of clusters")
	fl.BoolVar(&o.Keep, "keep", false, "only measure")
	return cmd
}

func (a *app) tuned(t cluster.Tuning) {
	for _, p := range t.Curve {
		mark := ""
		if p.K == t.Elbow {
			mark = "  <- bend"
		}
		a.out.printf("K %-6d distance %.4f  silhouette %.3f%s\n", p.K, p.SSE, p.Silhouette, mark)
	}
	if t.Questions == 0 {
		a.out.printf("there is too little to measure by\n")
		return
	}
	for _, p := range t.Table {
		a.out.printf("%4d clusters: %5.1f%% of the nearest passages in %5.1f%% of all\n", p.Clusters, 100*p.Recall, 100*p.Share)
	}
	l := t.Limits.WithDefaults()
	a.out.printf("%s: %d clusters, up to %d within %.3f of the best, which has to reach %.3f: %.1f%% found in %.1f%% of all\n",
		count(t.Questions, "question"), l.Clusters, l.Max, l.Slack, l.Threshold, 100*t.Recall, 100*t.Share)
}

// linesOf reads the lines of a file that are not blank.
func linesOf(name string) (lines []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, s.Err()
}
