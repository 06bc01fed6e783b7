// Package db is Glim, an embedded graph-RAG database: one directory, one process, no server.
//
// Open gives a DB. Documents go in with Insert, Put and Delete; entities and relations are extracted,
// merged and kept up to date; Query answers by dual-level retrieval over entities, relations and chunks.
// Below that, View and Update give transactions over key-value spaces, vector collections and graphs that
// commit together. Everything lives in one LSM and every change is one atomic batch.
//
// This package wires and validates; no algorithm lives here. It never exits the process, never logs
// unless given a logger, and reaches the network only through models that the caller configured. Without
// a model it works offline: rules extract, hashed n-grams embed, keywords come from the question.
//
// Keys: space.Stamp (format, models), space.User (key-value spaces of transactions), and, by a byte for each cache,
// the prefixes of space.ReplyCache and space.VectorCache, under which internal/cache keeps what models said.
//
// Concurrency: a DB is safe for any number of goroutines; a Tx belongs to its function. One process owns a
// directory (ErrLocked otherwise).
//
// Invariants (the promises; packages below hold their share):
//   - P1 Atomic: a document's insert, replace or delete is wholly there or wholly absent after any kill.
//   - P2 Exact: the logical dump after insert and delete equals the dump before.
//   - P3 One view: a query reads one commit, LSN n, of records, graph and vectors alike.
//   - P4 Order-free: results do not depend on worker count or timing.
//   - P5 Good guest: no exit, no panic, no leak; a failed disk makes the database read-only.
//   - P6 Pay once: every finished model reply is durable when it arrives.
//   - P7 Never silently empty: statuses and results carry counts and reasons.
//   - P8 Cost follows the document, not the store.
//   - P9 Deterministic: equal inputs, equal ordered results.
package db
