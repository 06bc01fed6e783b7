// Package chunk cuts text into spans for retrieval. A Chunker gets the text and answers with byte spans
// of it; it stores nothing, calls no chat model and owns no keys.
//
// A Spec names one of the built-in methods with its settings, as data; New builds its chunker: Windows of a
// fixed number of tokens that overlap (LightRAG's, also as NewWindow), Recursive separators, Semantic breaks between
// sentences, and Markdown structure with headings as a breadcrumb (Span.Context). Limit puts any other Chunker, a
// caller's own included, under the engine's rules: spans are checked and those that are too large are cut. Package
// chunktest has the suite that every Chunker must pass.
//
// Concurrency: a Chunker must be safe for concurrent use; the ones here are immutable.
//
// Invariants, for every Chunker (Check tests C1 to C3):
//   - C1: a span is a non-empty byte range of the text and starts and ends between characters, so a chunk
//     is valid UTF-8 whenever the text is; its text has no white space at either end.
//   - C2: spans are in order of their starts; equal starts are in order of their ends. A chunk's order in
//     its document is its place in the list, so numbers have no gaps: what was only white space has none.
//   - C3: no span is given twice.
//   - C4: equal texts give equal spans.
//
// And for the chunkers of New and for Limit:
//   - C5: every character that is not white space lies in a span (for Limit: in one of the spans it cuts).
//   - C6: a chunk, encoded on its own, is within the size (for windows see WithDrift, for sizes of 400 and more).
package chunk
