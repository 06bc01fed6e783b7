// Package query is LightRAG's read side: a question in, context, structured data or an answer out.
//
// An Engine runs naive, local, global, hybrid, mix and bypass. One query goes through: validation;
// keywords given, cached, asked of a model, or found offline; one embedding call; one snapshot, on which
// the filter selects its documents, names that stand in the question are looked up and entity, relation and chunk
// indexes searched at the same time, the results merged round-robin, cut to their token budgets, source chunks picked
// and read; rerank; the rest of the budget; the context; and, when a model is configured and wanted, the answer, whole
// or streamed.
//
// It writes nothing but replies through the byte stores handed in, and owns no keys: graph, collections
// and chunk records are index's, read through internal/record. It sees neither the commit path nor the
// write side. It does not chunk, extract, or embed documents.
//
// Files by step: options, validate; keywords, keywordparse, offline; embed; retrieve, search, names, merge;
// budget; pick, source; filter, selection, views for queries with a filter; compose, rerank_offline, reference, render; answer; result, trace. engine.go ties
// them together.
//
// Concurrency: an Engine is safe for concurrent use. A Result belongs to its caller; its Stream writes to
// it on the goroutine that ranges over it.
//
// Invariants:
//   - Q1: everything a Result shows was read at its LSN, on one snapshot, which is taken after the
//     embedding call and released before the reranker and the answer model are called (P3).
//   - Q2: orders are total: score, then id; rank, weight, then pair; owner, then place (P9).
//   - Q3: an absence carries its Reason, a detour its Fallback (P7); a failed model is an UpstreamError,
//     never an empty result; the answer model never sees an empty context.
//   - Q4: stored text is never tokenized: its counts are stored with it. Only a record that someone put
//     into the graph without a count is counted, and the line of a chunk with headings that an earlier build stored, whose
//     count is without them.
//   - Q5: a prompt never exceeds its total budget: counted pieces are summed, a line break costs a whole
//     token, and safetyMargin is left for joints.
//   - Q6: the properties read for the relations of an entity are bounded by the relation budget, whatever
//     its degree (P8), and the relations shown are the same as if all had been read.
//   - Q7: the names looked up by key are bounded by the length of the question, whatever is stored.
//   - Q8: with a filter, what a Result tells about a document, entity or relation follows from the matching documents
//     and the names that people decided on, and within the caps of the write side is what a store of these documents
//     alone would tell. Only which of them are nearest is decided by the stored vectors of whole descriptions.
package query
