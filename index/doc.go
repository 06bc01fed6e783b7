// Package index is LightRAG's write side: documents in, knowledge graph out. It has nothing to do with
// the HNSW index, which is vector/hnsw.
//
// A Pipeline enqueues documents (Enqueue), cuts them into chunks, extracts entity and relation records,
// merges them, and commits text, chunks, vectors, graph, sources and status in one batch (Process); it
// replaces and deletes documents exactly (Delete), tries again (Retry), and proves all of that (Check).
// It does not answer questions (package query) and does not order commits (it is handed an Updater).
//
// What a chunk yielded is stored record by record (record.Source), under the entity or relation it speaks
// of; what an entity or relation looks like is derived from its records (merge.go). A change is planned on
// a view (plan.go), completed by models without any lock (prepare.go), and staged in the writer turn if
// none of its objects moved (stage.go); those that moved are planned again, alone. An object's Tally
// carries what is needed of records beyond the caps, and the version that plans are checked against.
//
// People may change the graph (edit_*.go): they state entities and relations, which are source records of a document
// that is always there, and decide what is deleted, set, or one entity under several names. Records stay under the
// names that documents use; a resolver (resolve.go) tells what they count for.
//
// Keys: space.Document, Text (visible and waiting), Chunk, Source (records by kind, and tallies), Contrib
// (the objects of a document), Sequence (counter and queue), Track, Hash, Manual (decisions), Reembed (what the
// vectors of the next model were made from); the graph, the postings and the three collections named in internal/record, and
// those that take their places. Encodings are in internal/record.
//
// Concurrency: a Pipeline is safe for concurrent use. Model calls are made outside every lock; callbacks
// run on the goroutine that works on the document. Lock order: Pipeline.tending, the commit gate, then the writer turn;
// Pipeline.mu is held for map operations only, the lock of a Process call before that of its schedule, under which
// a page of the queue is read.
//
// Invariants:
//   - I1: chunks, vectors and records of a document are visible exactly when a version of it is current;
//     status processed means that no other version waits. Texts, lists and queue fit the status (P1).
//   - I2: every entity and relation is a pure function of its source records and of what people decided, and its
//     tally sums the records that count; it is in the graph exactly when it has any. Only a summary's words are a model's (P2, P4).
//   - I3: a source record belongs to a stored chunk; a relation record has an endpoint record under each
//     of its two entities.
//   - I4: a document's chunks are numbered without gaps, lie in its text byte for byte, and are counted.
//   - I5: a document lists an object exactly when it has a record of it.
//   - I6: each chunk, entity and relation has exactly one vector, and each vector its object.
//   - I7: sequences are unique and grow; hash and track entries have their documents and the reverse.
//   - I8: no model or embedding call is made inside the writer turn.
//   - I9: a cancelled or failed attempt changes nothing but the document's status.
//   - I10: decisions of people are about names that some record has, and go with the last one; an alias and the
//     entity that it stands for know each other.
//   - I11: postings hold exactly the chunks of the documents that they cover, as the analyser reads their texts.
package index
