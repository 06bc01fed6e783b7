package main

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) deleteCommand() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete documents and everything that only they say",
		Long: `Delete removes documents in one step; when one of the ids is unknown, nothing is deleted. Entities and relations that
other documents mention stay, and say only what those say. The files that the documents were read from are not touched.

Instead of ids, flags select documents; ` + "`glim docs`" + ` with the same flags lists them. Very many go in several steps.`,
		Example: `  glim delete notes/lamp.md
  glim delete notes/a.md notes/b.md
  glim delete --prefix notes/old/
  glim delete --track insert_20260301_081500_5f0c9a1e
  glim delete --metadata year=2019 --metadata draft=true
  glim delete --until 2019 --has draft`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, ids []string) error {
			filter, any, err := f.filter()
			switch {
			case err != nil:
				return err
			case (len(ids) == 0) == !any:
				return misused(cmd, "name documents by their ids, or select them by flags")
			}
			return a.with(false, false, func(d *db.DB) error {
				r, err := a.delete(cmd.Context(), d, ids, filter)
				switch {
				case err != nil:
					return err
				case r.Documents == 0:
					return notFound("`glim docs` lists all", "no document %v in %s", &f, a.where())
				case a.json:
					return a.out.json(r)
				}
				a.out.printf("deleted %s with %s, %s and %s", count(r.Documents, "document"), count(r.Chunks, "chunk"),
					count(r.Entities, "entity"), count(r.Relations, "relation"))
				if r.Rederived > 0 {
					a.out.printf("; %d that others mention, too, were derived again", r.Rederived)
				}
				a.out.printf("\n")
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

// delete deletes the documents with ids, or those that f selects when there are none.
func (a *app) delete(ctx context.Context, d *db.DB, ids []string, f index.Filter) (index.DeleteResult, error) {
	if len(ids) == 0 {
		return d.DeleteMatching(ctx, f)
	}
	ids, err := a.ids(ctx, d, ids)
	if err != nil {
		return index.DeleteResult{}, err
	}
	return d.Delete(ctx, ids...)
}

// ids turns what a person calls documents into their ids: those as they are, else as insert makes them of
// paths. A folder is none; the error says how to name what is in it.
func (a *app) ids(ctx context.Context, d *db.DB, names []string) ([]string, error) {
	ids := make([]string, 0, len(names))
	var unknown []string
	for _, name := range names {
		id := name
		_, err := d.Document(ctx, id)
		if errors.Is(err, db.ErrNotFound) && name != "" {
			id = pathID(name)
			_, err = d.Document(ctx, id)
		}
		switch {
		case errors.Is(err, db.ErrNotFound):
			unknown = append(unknown, name)
		case err != nil:
			return nil, err
		}
		ids = append(ids, id)
	}
	if len(unknown) == 0 {
		return ids, nil
	}
	hint := "`glim docs` lists the ids"
	folder := path.Clean(filepath.ToSlash(unknown[0])) + "/"
	for _, err := range d.Documents(ctx, index.Filter{PathPrefix: folder}) {
		if err != nil {
			return nil, err
		}
		hint = "it is a folder; its documents are those of --prefix " + folder + ", for `glim docs` and `glim delete`"
		break
	}
	return nil, notFound(hint, "no document %s in %s", quoted(unknown), a.where())
}
