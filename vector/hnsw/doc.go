// Package hnsw is a navigable small-world graph over the points of a vector collection: a vector.Index.
//
// The algorithm is that of Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search
// using Hierarchical Navigable Small World graphs" (2018), with their diversity heuristic for choosing
// links. What differs: levels come from a hash of the ordinal, so that the graph is a function of the
// order of inserts; the traversal compares int8 codes (float32 rows under L2) and leaves rescoring to the
// collection; and the ground level carries a spanning tree.
//
// The tree is what keeps the graph whole. Each node but the root has a parent, a near node that was there
// before, and neither drops its link to the other, whatever the heuristic says. Identical vectors and
// deletes, which break plain HNSW graphs apart, cannot break a tree: a removed node's children move to
// its parent's side.
//
// It does not decide which vectors exist, are visible, or are returned, and it commits nothing: package
// vector feeds it, checks what it returns, and commits what Drain hands out.
//
// Removing costs what the neighbourhood of the removed node costs. Links have one direction, but each node
// counts those that lead to it, so that a search around it knows when it has found them all.
//
// Keys: space.HNSW under the collection's prefix, by package oplog: for every node its parent and its lists,
// then what changed. All of it is derived and may vanish. Loading decodes the lists to where they stay.
//
// Concurrency: Search may run with anything. The other methods belong to one goroutine at a time. Readers
// take no lock: link lists are arrays of atomically written slots, a node's arrays are in place before
// the first link to it, and removed nodes keep their links for readers that stand on them.
//
// Invariants:
//   - H1: the ground level is strongly connected: the parent links form a tree over all nodes, and each
//     of its edges is in the link lists of both ends.
//   - H2: no link leads to a removed node once Remove has returned.
//   - H3: a list holds no slot twice and not its own.
//   - H4: the entry point is a node of the highest level.
//   - H5: equal sequences of Insert and Remove give equal graphs.
//   - H6: a node counts, level by level, the links that lead to it.
package hnsw
