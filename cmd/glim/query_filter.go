package main

import (
	"context"

	"github.com/glimdb/db"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

// queryFilter are the flags that restrict a question to some documents.
type queryFilter struct {
	filterFlags
	docs []string
}

func (f *queryFilter) add(cmd *cobra.Command) {
	f.filterFlags.add(cmd)
	cmd.Flags().StringArrayVar(&f.docs, "doc", nil, "only this document, by id or path; may be repeated")
}

// of returns the filter of the flags; documents are named as for other commands, and must be there.
func (f *queryFilter) of(ctx context.Context, a *app, d *db.DB) (query.Filter, error) {
	filter, _, err := f.filter()
	if err == nil && len(f.docs) > 0 {
		filter.IDs, err = a.ids(ctx, d, f.docs)
	}
	return filter, err
}
