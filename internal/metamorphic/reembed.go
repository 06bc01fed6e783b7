package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
)

// embedder is the model of a dimension. It is given to databases as one from elsewhere, so that its vectors are cached.
func embedder(dim int) (llm.Embedder, error) { return hashed.New(hashed.Options{Dim: dim}) }

// reembed changes the embedding model, or begins to: then the database stays one of the old model, and what is done
// until the next change is done beside vectors that are half there.
func (r *runner) reembed(ctx context.Context, op Op) error {
	e, err := embedder(op.N)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	given := op.Exact
	_, err = r.d.Reembed(ctx, db.ReembedOptions{Embedder: e, Progress: func(index.ReembedProgress) {
		if given {
			cancel()
		}
	}})
	if given && errors.Is(err, context.Canceled) {
		return r.served(context.WithoutCancel(ctx), r.dim)
	}
	if err == nil {
		r.dim = op.N
		err = r.served(context.WithoutCancel(ctx), op.N)
	}
	return err
}

// served: documents have vectors of a dimension, and the database asks its model.
func (r *runner) served(ctx context.Context, dim int) error {
	s, err := r.d.Stats(ctx)
	if err != nil {
		return err
	}
	if s.Models.Dim != dim || s.Stored != nil && s.Stored.Dim != dim || s.Next != nil && s.Next.Dim == dim {
		return fmt.Errorf("a database of dimension %d asks %+v, holds %+v, and awaits %+v", dim, s.Models, s.Stored, s.Next)
	}
	return nil
}

// crashReembed: a change of the model under way when the power goes is done or not begun, for all that is seen; then it
// is finished.
func (r *runner) crashReembed(ctx context.Context, op Op) error {
	dim, err := strconv.Atoi(op.Name)
	if err != nil {
		return err
	}
	e, err := embedder(dim)
	if err != nil {
		return err
	}
	before := r.dim
	r.dim = dim // what is left can be opened with either model
	acked, err := r.interrupted(ctx, op.N, func() error {
		_, err := r.d.Reembed(ctx, db.ReembedOptions{Embedder: e})
		return err
	})
	if err != nil {
		return err
	}
	s, err := r.d.Stats(ctx)
	if err != nil {
		return err
	}
	if s.Stored != nil && s.Stored.Dim != dim && (acked || s.Stored.Dim != before) {
		return fmt.Errorf("after a change from dimension %d to %d (acknowledged: %v) it is %d", before, dim, acked, s.Stored.Dim)
	}
	if err := r.compare(ctx); err != nil {
		return fmt.Errorf("half-way between two models: %w", err)
	}
	if _, err := r.d.Reembed(ctx, db.ReembedOptions{}); err != nil {
		return err
	}
	return r.served(ctx, dim)
}
