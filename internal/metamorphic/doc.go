// Package metamorphic runs one random list of operations on whole databases under many options and
// compares each with a model of plain maps and brute force, and the databases with each other.
//
// It covers key-value spaces, a vector collection, a graph, documents, snapshots held open over writes, queries, with filters
// too, searches of entities by words, changes of the embedding model, caches that are cleared, a second workspace, dump and
// load, reopening, full disks, and power loss between and inside operations. It does not make writes race each other: the order of operations is the list's, so
// that a failure can be replayed and shrunk. It owns no on-disk keys and is imported from tests only.
//
// A list is text, one JSON object a line. Replay a failure with
//
//	go test ./internal/metamorphic -metamorphic.seed=N
//	go test ./internal/metamorphic -metamorphic.ops=FILE
//
// and run longer with -metamorphic.n (operations in a list) and -metamorphic.seeds (lists); the plain form is
// a smoke test of two short lists.
//
// Concurrency: a run belongs to one goroutine; runs are independent of each other.
//
// Invariants:
//   - M1: any sublist of a list is a list: no operation needs another one to be legal, which is what lets
//     the shrinker remove any of them.
//   - M2: the state after each checkpoint equals the model's, whatever the options.
//   - M3: what an open View shows does not change while others write.
//   - M4: a transaction or document under way when the power goes or the disk is full is wholly there or wholly absent, and
//     everything acknowledged is there.
//   - M5: databases whose options promise the same content answer queries equally and end with equal
//     logical dumps.
//   - M6: what happens in the second workspace never shows in the first.
//   - M7: a query with a filter tells of nothing that the model does not select, and one that asks for all passages tells of
//     those that it finds without the filter, in the same order.
//   - M8: a search of entities by words finds what the formula over all entities does, score for score.
package metamorphic
