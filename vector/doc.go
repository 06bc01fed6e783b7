// Package vector keeps collections of (id, vector) with exact and approximate nearest-neighbour search.
//
// Rows and tombstones are staged into the shared kv.Batch and are the truth; everything in memory, and
// every index over it, is derived from them. A committed vector is found at once: it is published into the
// collection's points when its commit is, and what an index has not taken in yet is scanned exactly.
// It knows no index of its own beyond the exact scan: hnsw is handed in as a NewIndex factory. It does
// not embed texts and stores nothing but ids and vectors.
//
// Keys: space.Vector (configuration, rows, id maps, counts); space.HNSW through an index.
//
// Concurrency: Set and Collection are safe for concurrent use; methods that take a *kv.Batch belong to
// the batch's goroutine. Searches take no lock that a commit or an index holds for long.
//
// Invariants:
//   - V1: a search on a view at LSN n returns vectors that were stored and not deleted at n, and no others;
//     on a batch, the batch's own changes count, too.
//   - V2: scores come from the float32 rows; results are ordered by score descending, then id ascending.
//   - V3: exact search returns the K nearest, whatever rounding the codes hide.
//   - V4: the row of an id names the ordinal that the id's map entry names, and the count counts them.
//   - V5: losing all persisted index data loses work, never a vector.
package vector
