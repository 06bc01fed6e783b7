package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// besideName is the workspace of BesidePut and BesideDrop.
const besideName = "beside"

// doBeside writes into another workspace, under ids that the first one uses, or drops it; then its documents are those
// of the model. That the first one shows nothing of it is what every comparison of its state holds.
func (r *runner) doBeside(ctx context.Context, op Op) error {
	w, err := r.d.Workspace(besideName)
	if err != nil {
		return err
	}
	if op.Kind == BesideDrop {
		had := len(r.beside) > 0
		clear(r.beside)
		err = found(had, r.d.DropWorkspace(ctx, besideName))
	} else {
		put := func() error {
			_, err := w.Put(ctx, index.Document{ID: op.Name, Path: op.Name + ".txt", Text: op.Text})
			return err
		}
		if err = put(); errors.Is(err, db.ErrMismatch) { // the model was changed for the first workspace alone
			clear(r.beside)
			err = errors.Join(r.d.DropWorkspace(ctx, besideName), put())
		}
		r.beside[op.Name] = op.Text
	}
	if err != nil {
		return err
	}
	var got, want []string
	for info, err := range w.Documents(ctx, index.Filter{}) {
		if err != nil {
			return err
		}
		text, err := w.Text(ctx, info.ID)
		if err != nil {
			return err
		}
		got = append(got, fmt.Sprintf("%s %s %q", info.ID, info.Status, strings.TrimSpace(text)))
	}
	for id, text := range r.beside {
		want = append(want, fmt.Sprintf("%s processed %q", id, strings.TrimSpace(text)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := differ(got, want); d != "" {
		return errors.New("documents of the other workspace differ from the model: " + d)
	}
	return check(ctx, w)
}
