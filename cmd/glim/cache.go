package main

import (
	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Look at what models said before, or forget it: stats, clear",
		Long: `Replies and embeddings are kept, so that the same question to the same model is paid once, up to a size for each kind:
extract (replies about chunks), summary (of descriptions), keywords (of questions), answer, embed (vectors of texts).
Nothing that is stored depends on them.`,
		Example: `  glim cache stats
  glim cache clear answer keywords`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.cacheStats(), a.cacheClear())
	return cmd
}

func (a *app) cacheStats() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Show how much is kept of each kind",
		Long: `Show how many entries each cache has, their bytes, and the limit above which the oldest go.
Nothing is read from a model, and nothing changes.`,
		Example: `  glim cache stats
  glim cache stats --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				s, err := d.Stats(cmd.Context())
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(s.Caches)
				}
				a.caches(s.Caches, "")
				return nil
			})
		},
	}
}

// caches lists caches, one a line.
func (a *app) caches(all map[db.CacheKind]db.CacheStats, verb string) {
	for _, kind := range db.CacheKinds() {
		c, ok := all[kind]
		switch {
		case !ok:
		case verb != "":
			a.out.printf("%-9s %s %s, %s\n", kind, count(c.Entries, "entry"), verb, bytesOf(c.Bytes))
		case c.Limit == 0:
			a.out.printf("%-9s %s, %s, off\n", kind, count(c.Entries, "entry"), bytesOf(c.Bytes))
		default:
			a.out.printf("%-9s %s, %s of %s\n", kind, count(c.Entries, "entry"), bytesOf(c.Bytes), bytesOf(c.Limit))
		}
	}
}

func (a *app) cacheClear() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "clear KIND... | --all",
		Short: "Forget replies and embeddings",
		Long:  "Clear forgets what is kept of some kinds. Documents, their graph and what a delete leaves do not change; the same calls are paid again.",
		Example: `  glim cache clear answer
  glim cache clear --all`,
		ValidArgs: spelled(db.CacheKinds()),
		RunE: func(cmd *cobra.Command, given []string) error {
			if all == (len(given) > 0) {
				return usage("name kinds (%s), or all of them with --all", joined(db.CacheKinds()))
			}
			var kinds []db.CacheKind
			for _, name := range given {
				kinds = append(kinds, db.CacheKind(name))
			}
			return a.with(false, false, func(d *db.DB) error {
				had, err := d.ClearCache(cmd.Context(), kinds...)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(had)
				}
				a.caches(had, "dropped")
				return nil
			})
		},
	}
	cmd.Args = args(cobra.OnlyValidArgs)
	cmd.Flags().BoolVar(&all, "all", false, "all kinds")
	return cmd
}
