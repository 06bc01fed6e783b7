// Command glim turns documents into a knowledge graph and answers questions from it, in one directory and
// one process. It is a thin skin over package db: reading files, settings, and showing results to people
// or, with --json, to programs. It holds no retrieval logic and writes nothing outside the database
// directory and the files it is told to write.
//
// Keys: none. Concurrency: one command a process; the database directory is locked while it runs.
//
// Invariants:
//   - M1: results go to standard output, everything else to standard error.
//   - M2: exit codes are those of `glim help exit-codes`.
//   - M3: one bad input never disturbs the others.
package main
