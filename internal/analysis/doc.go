// Package analysis reads texts as the terms under which full-text search stores and looks for them: the write side
// and the read side must read alike.
//
// Words come in normal form (case, width and accents folded) as stems, halves of compounds beside the whole, scripts
// without spaces as pairs of characters, function words not at all: internal/lexical does that, with stems of English and
// Russian by the script. A language may be named whose stems words in Latin letters then have instead.
//
// It owns no keys. An Analyzer is safe for concurrent use; it remembers the terms of frequent words, which changes
// nothing but time.
//
// Invariants:
//   - A1: equal texts give equal terms under equal ids; whatever changes terms changes the id.
//   - A2: any string is accepted, and no term is longer than postings.MaxTermBytes.
package analysis
