// Package ivf is an inverted file over the points of a vector collection: a vector.Index that keeps slots in
// cells around centroids and compares a query with the cells whose centroids are nearest.
//
// Nothing is ever trained as a whole. The first vectors lie in one cell, which a search compares entirely;
// then k-means divides it, a few parts at a time, and from there on cells follow their vectors, by a bounded piece
// of work with each insert or removal. A cell that grows beyond twice the size that is meant splits in two, a cell that all but
// empties is dissolved, and around a split vectors move to whichever cell is nearest now (the LIRE rule of
// Xu et al., "SPFresh: Incremental In-Place Update for Billion-Scale Vector Search", 2023). In turn each cell
// is refreshed: its centroid moves to the mean of its vectors, and those go to the nearest centroid, which is
// Lloyd's algorithm, a cell at a time. The size that is meant grows with the root of the number of vectors.
// Copies of one vector are divided by number, so that no list grows without bound.
//
// Under cosine and dot cells are cones of directions around centroids of length one; under L2 they are
// Euclidean. Slots are compared through vector.Probe and rescored by the collection.
//
// It does not decide which vectors exist, are visible, or are returned, and it commits nothing.
//
// A search goes through cells in order of their distance from the query until it has compared about Ef/2
// cells' worth of admitted slots and holds K: a filter that rejects what is near makes it go on, if need be
// through all.
//
// Keys: space.HNSW under the collection's prefix, by package oplog: for every vector the number of its cell,
// for every cell its centroid. Lists are made from these. All of it is derived and may vanish.
//
// Concurrency: Search may run with anything. The other methods belong to one goroutine at a time. Readers
// take no lock: centroids and the set of cells are replaced as one, a list by another, and a list grows
// behind the length that readers know.
//
// Invariants:
//   - I1: every slot inserted and not removed is in exactly one list, once, that of the cell noted for it.
//   - I2: there are as many centroids as cells, all of them finite; with no slots there may be none.
//   - I3: equal sequences of Insert and Remove give equal cells, whatever was saved and loaded in between
//     and whoever searched, on one kind of processor.
//   - I4: whatever the number of vectors, an Insert or a Remove does work bounded by a few cells.
package ivf
