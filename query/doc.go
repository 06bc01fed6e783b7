// Package query is LightRAG's read side: a question in, context, structured data or an answer out.
//
// An Engine runs naive, local, global, hybrid, mix and bypass over one snapshot: keywords, one embedding
// call, concurrent searches, round-robin merges, token budgets, chunk picking, rerank, context, answer.
// It writes nothing but caches through the stores handed in, and owns no keys.
//
// Concurrency: an Engine is safe for concurrent use; each query holds one snapshot, released before any
// network call that follows retrieval.
//
// Invariants:
//   - Q1: everything a Result shows was read at its LSN (P3).
//   - Q2: orders are total: score, then id (P9).
//   - Q3: an empty result carries its reason (P7); the answer model never sees an empty context.
//   - Q4: stored text is never tokenized; counts are stored with it.
package query
