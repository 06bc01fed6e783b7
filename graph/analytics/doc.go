// Package analytics runs algorithms over a whole graph, offline, on the copy that graph.Snapshot makes: degrees,
// components, PageRank, cores, communities (Louvain, Leiden), distances.
//
// It reads no store and writes none: Run takes a graph.CSR and gives a Result, one value a node, which the caller
// prints, keeps or stores. It does not judge what a node stands for. Self-loops are left out everywhere, as in the
// views that gonum's algorithms get.
//
// Everything is in flat arrays by node number, which is the order of names: no map, no allocation a node. Options.
// MemoryBytes bounds what a run may take, the snapshot included; more is refused with a *MemoryError before anything
// is allocated. gonum has PageRank and Louvain as well; its Louvain weighs every node against every community, which
// is quadratic, and its PageRank copies the graph (docs/analytics.md has figures), so that both are written here and
// compared with gonum's in tests.
//
// It owns no on-disk keys. Concurrency: Run may be called from any number of goroutines on one CSR; a Result is
// immutable and safe for concurrent use. It starts no goroutines.
//
// Invariants:
//   - N1: equal graphs, options and seed give equal results, bit for bit on one architecture, whatever the order in
//     which the graph was written; ties go to the smaller name (P9).
//   - N2: every node has a value; groups are numbered from 0 by falling size, then by their first name, without gaps.
//   - N3: a community of Leiden is connected.
//   - N4: values are numbers: no NaN on any graph, and infinite only the distance to a node that cannot be reached.
package analytics
