// Package index is LightRAG's write side: documents in, knowledge graph out. It has nothing to do with
// the HNSW index, which is vector/hnsw.
//
// A Pipeline enqueues documents, cuts them into chunks, extracts entity and relation records, merges
// them and commits text, chunks, vectors, graph, sources and status in one batch; it replaces and
// deletes documents exactly. It does not answer questions (package query) and does not order commits
// (it is handed an Updater).
//
// Keys: space.Document, Text, Chunk, Source, Contrib, Sequence, Track, Hash (encodings in
// internal/record).
//
// Concurrency: a Pipeline is safe for concurrent use; model calls run outside every lock, commits
// re-validate what they read.
//
// Invariants:
//   - I1: a document's effects are visible exactly when its status is processed (P1).
//   - I2: every merged entity and relation is a pure function of its source records (P2, P4).
//   - I3: a source record exists for (object, document, chunk, record) exactly when that chunk is stored.
//   - I4: no model or embedding call is made inside the writer turn.
package index
