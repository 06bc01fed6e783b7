// Package hashed turns texts into vectors without a model: stems, character pairs of unspaced scripts and
// short letter sequences are hashed to signed coordinates. It is the embedder of a database that has no
// embedding model configured.
//
// The vectors are lexical: texts are near when they share words, however inflected, capitalised or accented;
// synonyms are strangers. It learns nothing and needs no corpus, so equal texts have equal vectors in every
// database, on every machine, in every order of insertion.
//
// It owns no keys. An Embedder is immutable and safe for concurrent use.
//
// Invariants:
//
//	E1. Every text, the empty one and invalid UTF-8 included, has a vector of unit length.
//	E2. A vector depends on text, dimension and the version in ID only, not on the kind, the batch or the machine.
//	E3. Cost is linear in the length of the text.
package hashed
