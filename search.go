package db

import (
	"context"

	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/query"
)

// SearchText finds the passages that fit the words of text best, without any model and without going through retrieval: words,
// "phrases", +words that must be there, beginnings with a star*. query.Engine.SearchText tells the language, what it
// costs and its errors. Passages of documents that are not processed yet are not found (TextResult.Waiting), nor all in a
// database whose postings are still being made (TextResult.Complete; Settle waits for them). It works whatever models the
// documents were indexed with.
func (d *DB) SearchText(ctx context.Context, text string, o query.TextOptions) (*query.TextResult, error) {
	ctx, s, leave, err := d.enter(ctx, reads)
	if err != nil {
		return nil, err
	}
	defer leave()
	res, err := s.engine.SearchText(ctx, text, o)
	return res, because(ctx, err)
}

// SearchEntities finds the entities whose names and descriptions fit the words of text best, in the language of SearchText and as
// little in need of a model. Entities are searched so where Index.EntityWords had postings made for them: else the error is
// query.ErrNoEntityWords.
func (d *DB) SearchEntities(ctx context.Context, text string, o query.TextOptions) (*query.EntityTextResult, error) {
	ctx, s, leave, err := d.enter(ctx, reads)
	if err != nil {
		return nil, err
	}
	defer leave()
	res, err := s.engine.SearchEntities(ctx, text, o)
	return res, because(ctx, err)
}

// hashedShare is query.Options.VectorShare where vectors are hashed words: they repeat what the words say. docs/quality.md
// has the measurements.
const hashedShare = 0.35

// weighed is o with the weight of the present vectors in a hybrid search, unless it was given.
func (s *state) weighed(o query.Options) query.Options {
	if o.VectorShare.IsZero() && s.opts.Query.VectorShare.IsZero() && hashed.IsID(s.models.names().Embedder) {
		o.VectorShare = query.Some(hashedShare)
	}
	return o
}
