package main

import (
	"context"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// reembedProgress shows how far a re-embedding is: a bar on a terminal, plain lines elsewhere.
type reembedProgress struct {
	w     *output
	bar   *progressbar.ProgressBar
	shown time.Time
}

func newReembedProgress(w *output) *reembedProgress {
	p := &reembedProgress{w: w, shown: time.Now()}
	if w.terminal {
		p.bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("embedding"), progressbar.OptionShowCount(),
			progressbar.OptionThrottle(barEvery), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(minBar))
	}
	return p
}

func (p *reembedProgress) event(e index.ReembedProgress) {
	if p.bar != nil {
		p.bar.ChangeMax(max(1, e.Total))
		_ = p.bar.Set(e.Done)
		return
	}
	if now := time.Now(); now.Sub(p.shown) >= plainEvery {
		p.shown = now
		p.w.printf("%d of %s embedded\n", e.Done, count(e.Total, "text"))
	}
}

func (p *reembedProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// namedModel refuses to give up the vectors of a model for those of none unless that is said.
func (a *app) namedModel(ctx context.Context, d *db.DB) error {
	if a.set.Offline || a.set.EmbedModel != "" {
		return nil
	}
	s, err := d.Stats(ctx)
	if err != nil || s.Stored == nil || s.Stored.Embedder == s.Models.Embedder {
		return err
	}
	return &failure{code: exitUsage, what: a.where() + " is of " + s.Stored.Embedder + ", and no embedding model is named to change to",
		hint: "name one with --embed-model (`glim settings --help`), or give up models for lexical vectors with --offline"}
}

func (a *app) reembedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reembed",
		Short: "Change the embedding model: make all vectors anew",
		Long: `Reembed embeds all chunks, entities and relations with the embedding model of the settings, and binds the database to it.
No other model is asked. The database stays one of the old model until everything is there: Ctrl-C at any time keeps what
is done, and the same command goes on from there. With the stored model it drops what an interrupted run has left. From a model to the lexical vectors of none it goes with --offline only.`,
		Example: `  glim reembed --embed-model text-embedding-3-large
  glim reembed --offline`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, false, func(d *db.DB) error {
				if err := a.namedModel(cmd.Context(), d); err != nil {
					return err
				}
				var o db.ReembedOptions
				if !a.json {
					p := newReembedProgress(a.err)
					defer p.end()
					o.Progress = p.event
				}
				res, err := d.Reembed(cmd.Context(), o)
				switch m := d.Models(); {
				case err != nil:
					return err
				case a.json:
					return a.out.json(res)
				case res.LSN == 0:
					a.out.printf("%s is of %s already\n", a.where(), m.Embedder)
				default:
					a.out.printf("%s is of %s now (%s): %s, %s, %s\n", a.where(), m.Embedder, count(m.Dim, "dimension"), count(res.Chunks, "chunk"),
						count(res.Entities, "entity"), count(res.Relations, "relation"))
				}
				if res.Kept > 0 {
					a.out.printf("%s embedded now, %d before\n", count(res.Embedded, "text"), res.Kept)
				}
				return nil
			})
		},
	}
}
