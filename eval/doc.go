// Package eval measures retrieval: it asks a database a set of questions whose answers are known, under one or more
// settings of a query, and reports what was found, how long it took and what it cost.
//
// Judge is the measures of one ranking; ReadQuestions reads a set; Run asks it; a Report is written as text, Markdown,
// CSV or JSON, and its recall curves as SVG or PNG. It judges retrieval, not the wording of answers, and builds no
// database. It owns no on-disk keys.
//
// Concurrency: everything may be called from any number of goroutines; Run asks one question after the other, so that
// latencies are those of a database that does nothing else.
//
// Invariants:
//   - E1: a result that is listed twice counts once, at its first place.
//   - E2: a gold document or chunk that the database does not have is an error, with file and line, never a lower score;
//     a gold entity that it does not have was not extracted, which is a miss, and is counted. A question without gold of
//     a level is left out of that level.
//   - E3: all measures but latencies are equal for equal databases and questions.
package eval
