package main

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

func (a *app) deleteCommand() *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete documents and everything that only they say",
		Long: `Delete removes documents in one step; when one of the ids is unknown, nothing is deleted. Entities and relations that
other documents mention stay, and say only what those say. The files that the documents were read from are not touched.`,
		Example: `  glim delete notes/lamp.md
  glim delete notes/a.md notes/b.md
  glim delete --prefix notes/old/`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, ids []string) error {
			if (len(ids) == 0) == (prefix == "") {
				return misused(cmd, "name documents by their ids or by --prefix")
			}
			return a.with(false, false, func(d *db.DB) (err error) {
				if prefix != "" {
					ids, err = a.beginning(cmd.Context(), d, prefix)
				} else {
					ids, err = a.ids(cmd.Context(), d, ids)
				}
				if err != nil {
					return err
				}
				r, err := d.Delete(cmd.Context(), ids...)
				switch {
				case err != nil:
					return err
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
	cmd.Flags().StringVar(&prefix, "prefix", "", "delete all whose path begins so, as `glim docs --prefix` lists them")
	return cmd
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
	return nil, notFound(hint, "no document %s in %s", quoted(unknown), a.set.DB)
}

// beginning lists the ids of the documents whose path begins so.
func (a *app) beginning(ctx context.Context, d *db.DB, prefix string) (ids []string, err error) {
	for i, err := range d.Documents(ctx, index.Filter{PathPrefix: prefix}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, i.ID)
	}
	if len(ids) == 0 {
		return nil, notFound("`glim docs` lists the paths", "no document whose path begins with %s in %s", brief.Quote(prefix), a.set.DB)
	}
	return ids, nil
}
