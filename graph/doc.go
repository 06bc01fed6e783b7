// Package graph keeps named graphs as ordered keys in the shared batch: nodes, edges, adjacency in both
// directions, degree counters, the edges of hubs by rank.
//
// Names are the caller's strings; inside, nodes are dense uint32 ids, so that a rename moves no edge. A
// graph is undirected or directed for life. Edges have a type (parallel edges need different types), a
// weight and properties; self-loops are allowed and count twice in a degree. Reads take a kv.Reader: a
// snapshot shows one commit, a batch shows its own staged changes too.
//
// It does not merge, rank by relevance or interpret properties, keeps no state between commits, and runs no
// algorithm that needs the whole graph: Snapshot makes a bounded copy for those (CSR, which gonum's graph
// algorithms accept).
//
// Keys, all under space.Graph of a workspace and the graph's name as one key part:
//
//	c                       configuration
//	k                       counters: next id, nodes, edges
//	s <name>             -> id
//	i <id>               -> name
//	n <id>               -> type, properties
//	d <id / 64>          -> degrees of 64 consecutive ids
//	o <id> <id> <type>   -> weight; outgoing, or both directions when undirected
//	r <id> <id> <type>   -> weight; incoming, directed graphs only
//	e <id> <id> <type>   -> weight, properties; smaller id first when undirected
//	f <hash> <name>      -> nothing; the name under the hash of its Fold
//	p <id>               -> derived properties, see derived.go
//	a <property>         -> the stamp of a derived property
//	h <id> <class> <weight> <name> -> id; the pairs of a hub (512 edges up) in order of rank, see shelf.go
//
// Degrees share a key by 64 because ranking edges reads hundreds of them: one page costs one step of a
// cursor and about as many bytes as one counter's key.
//
// Counters, degree pages and shelves that a batch changes are kept beside it and staged when it is applied,
// or when this package reads them through it: pass the *kv.Batch itself, not a wrapper.
//
// Concurrency: a Graph is an immutable handle, safe for concurrent use on snapshots. Changes are staged
// into a kv.Batch, which belongs to one goroutine and the writer turn. An iterator over a batch shows
// the batch as it was when the iteration began. Drop a whole workspace in a batch of its own.
//
// Invariants, verified by Check:
//   - G1: s and i are inverse; each has exactly one n, and nothing else refers to other ids.
//   - G2: every edge has its e record and adjacency keys of equal weight in both directions.
//   - G3: a degree is the number of adjacency keys of its node, a self-loop counting twice.
//   - G4: the counters equal what a scan counts; ids are below the next id and never reused.
//   - G5: an undirected edge is the same edge from both ends, stored with the smaller id first.
//   - G6: equal logical content gives equal answers in equal order, whatever the order of insertion.
//   - G7: nodes of at least 512 edges, and only they, have a shelf: one entry for each joined node, by the
//     class of its degree, the largest weight of the edges to it, and its name.
//   - G8: every name, and no other, is stored under the hash of its Fold.
//   - G9: derived properties are those of nodes, and each has its stamp.
package graph
