// Package format makes documents of files: text, Markdown, HTML, JSON, JSON Lines, CSV, PDF and Word. Decode takes
// bytes and answers with documents for db.Insert and db.Put and a report of what was assumed. It opens no file,
// stores nothing, calls no model and owns no keys.
//
// HTML and Word become Markdown, headings and tables kept, so that chunk.Markdown can cut them by their structure. A
// row of JSON Lines, of CSV or of a JSON array is a document of its own. PDF gives the text of its pages, line by line.
//
// Files come from anywhere, so every size is bounded: of the file, of what is unpacked from it (zip and PDF streams
// expand a thousandfold), of the text, of the number of documents, and of the time for PDF. A limit that is reached is
// a *LimitError, never a shorter text. A file that is damaged is ErrMalformed, or, where the rest of it can be read, a
// note in the report.
//
// Concurrency: Decode may be called from any number of goroutines; it starts none.
//
// Invariants:
//   - F1: no panic and no endless loop, whatever the bytes.
//   - F2: equal bytes, name and options give equal documents.
//   - F3: a text is valid UTF-8.
//   - F4: what was assumed (an encoding that nothing declares) or left out (pages, cells) is in Report.Notes.
package format
