package db

import (
	"iter"
	"slices"

	"github.com/glimdb/db/vector"
)

// Vectors is a vector collection inside a transaction.
type Vectors struct {
	tx   *Tx
	name string
	c    *vector.Collection
}

// CreateVectors returns the collection of that name, creating it with c. If it exists with another
// configuration the error, a *vector.ConfigError, names both sides. The documents' own collections ("chunks",
// "entities", "relations") are refused with ErrReserved, here and in every other write.
func (tx *Tx) CreateVectors(name string, c vector.Config) (*Vectors, error) {
	b, err := tx.vectorWriter(name)
	if err != nil {
		return nil, err
	}
	coll, err := tx.s.vectors.Create(b, tx.s.name, name, c)
	if err != nil {
		return nil, err
	}
	return &Vectors{tx: tx, name: name, c: coll}, nil
}

// Vectors returns an existing collection, or ErrNotFound.
func (tx *Tx) Vectors(name string) (*Vectors, error) {
	r, err := tx.reader()
	if err != nil {
		return nil, err
	}
	coll, err := tx.s.vectors.Collection(r, tx.s.name, name)
	if err != nil {
		return nil, err
	}
	return &Vectors{tx: tx, name: name, c: coll}, nil
}

// VectorNames lists the collections in order of name, the documents' own included.
func (tx *Tx) VectorNames() ([]string, error) {
	r, err := tx.reader()
	if err != nil {
		return nil, err
	}
	names, err := tx.s.vectors.Names(r, tx.s.name)
	return slices.DeleteFunc(names, nextCollection), err
}

// DropVectors removes a collection with all its vectors.
func (tx *Tx) DropVectors(name string) error {
	b, err := tx.vectorWriter(name)
	if err != nil {
		return err
	}
	return tx.s.vectors.Drop(b, tx.s.name, name)
}

// Put inserts or replaces the vector of id. v is copied. Errors: ErrDimension, ErrVector, ErrTooLarge.
func (v *Vectors) Put(id string, vec []float32) error {
	b, err := v.tx.vectorWriter(v.name)
	if err != nil {
		return err
	}
	return v.c.Put(b, id, vec)
}

// Delete removes id; an absent id is no error.
func (v *Vectors) Delete(id string) error {
	b, err := v.tx.vectorWriter(v.name)
	if err != nil {
		return err
	}
	return v.c.Delete(b, id)
}

// Get returns the stored vector of id (normalised when the metric is cosine), or ErrNotFound.
func (v *Vectors) Get(id string) ([]float32, error) {
	r, err := v.tx.reader()
	if err != nil {
		return nil, err
	}
	return v.c.Get(r, id)
}

// GetMany returns the stored vectors of ids in their order, nil where there is none.
func (v *Vectors) GetMany(ids []string) ([][]float32, error) {
	r, err := v.tx.reader()
	if err != nil {
		return nil, err
	}
	return v.c.GetMany(r, ids)
}

// Search returns the nearest vectors of q, best first, ties by id: K of them whenever K pass the filters, none
// for the zero vector under cosine. It sees exactly this transaction's state, its own writes included. Errors:
// ErrParameter, ErrDimension, ErrVector.
func (v *Vectors) Search(q []float32, o vector.SearchOptions) ([]vector.Hit, error) {
	r, err := v.tx.reader()
	if err != nil {
		return nil, err
	}
	return v.c.Search(v.tx.ctx, r, q, o)
}

// Range returns all vectors whose score is at least o.MinScore, best first, ties by id. It is exact and costs
// a pass over the vectors' codes. Errors are those of Search.
func (v *Vectors) Range(q []float32, o vector.RangeOptions) (vector.RangeResult, error) {
	r, err := v.tx.reader()
	if err != nil {
		return vector.RangeResult{}, err
	}
	return v.c.Range(v.tx.ctx, r, q, o)
}

// Pairs yields all pairs of vectors whose score is at least minScore, A < B, in order of A, then best first. It is
// exact and costs a Range for every vector.
func (v *Vectors) Pairs(minScore float64) iter.Seq2[vector.Pair, error] {
	r, err := v.tx.reader()
	if err != nil {
		return func(yield func(vector.Pair, error) bool) { yield(vector.Pair{}, err) }
	}
	return v.c.Pairs(v.tx.ctx, r, minScore)
}

// IDSet prepares ids as a filter for many searches, in this transaction and in later ones: see vector.IDSet
// for what it stands for when vectors change.
func (v *Vectors) IDSet(ids []string) *vector.IDSet { return v.c.IDSet(ids) }

// IDSetWhere prepares the ids that pass test as a filter. test must be a pure function; it is kept, and called
// from any goroutine that searches with the set, for ids that are added later.
func (v *Vectors) IDSetWhere(test func(id string) bool) *vector.IDSet { return v.c.IDSetWhere(test) }

// All yields every vector in order of id.
func (v *Vectors) All() iter.Seq2[vector.Row, error] {
	r, err := v.tx.reader()
	if err != nil {
		return func(yield func(vector.Row, error) bool) { yield(vector.Row{}, err) }
	}
	return v.c.All(r)
}

// Len is the number of vectors.
func (v *Vectors) Len() (int, error) {
	r, err := v.tx.reader()
	if err != nil {
		return 0, err
	}
	return v.c.Len(r)
}

// Config is what the collection was created with.
func (v *Vectors) Config() vector.Config { return v.c.Config() }

// Stats describes the collection as it is now, which may be later than the transaction's state.
func (v *Vectors) Stats() vector.Stats { return v.c.Stats() }

// EstimateRecall compares what searches for stored vectors find with what there is: see
// vector.Collection.EstimateRecall. It costs a scan for each query.
func (v *Vectors) EstimateRecall(o vector.EstimateOptions) (vector.RecallEstimate, error) {
	r, err := v.tx.reader()
	if err != nil {
		return vector.RecallEstimate{}, err
	}
	return v.c.EstimateRecall(v.tx.ctx, r, o)
}

// OfDocuments reports whether documents write the collection, and nothing else may.
func (v *Vectors) OfDocuments() bool { return reservedCollection(v.name) }
