package main

import (
	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) vectorsStats() *cobra.Command {
	return &cobra.Command{
		Use:   "stats NAME",
		Short: "Show what a collection holds and takes",
		Long:  "Stats counts the vectors of a collection, tells its index and the memory and disk that it takes.",
		Example: `  glim vectors stats words
  glim vectors stats words --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.inCollection(cmd, given[0], func(v *db.Vectors) error {
				row, err := rowOf(given[0], v)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(row)
				}
				a.collection(row)
				return nil
			})
		},
	}
}

func (a *app) collection(r collectionRow) {
	s := r.Stats
	a.out.printf("%s\n", r.Name)
	a.out.printf("  vectors    %d, %s, %s\n", r.Vectors, r.Metric, count(r.Dim, "dimension"))
	if r.Model != "" {
		a.out.printf("  model      %s\n", r.Model)
	}
	if s.Index == nil {
		a.out.printf("  index      none: every search compares all vectors\n")
	} else {
		a.out.printf("  index      %s over %s, %s, %s\n", s.Index.Kind, r.Quantization, count(s.Index.Nodes, "node"), count(int(s.Index.Links), "link"))
		a.out.printf("  waiting    %s for the index\n", count(s.Tail, "vector"))
	}
	a.out.printf("  deleted    %s not yet forgotten\n", count(s.Dead, "vector"))
	a.out.printf("  memory     %s\n", bytesOf(s.Bytes))
}
