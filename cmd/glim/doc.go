// Command glim turns documents into a knowledge graph and answers questions from it, in one directory and
// one process. It is a thin skin over package db: reading files, settings, and showing results to people
// or, with --json, to programs. It holds no retrieval logic and writes nothing outside the database
// directory and the files it is told to write.
//
// One file a subcommand. Around them: app.go opens databases, settings.go and models.go say which and with
// what models, source.go and decode.go turn inputs into text, output.go, page.go and excerpt.go lay results
// out, failure.go puts errors into words, exit.go lists the exit codes.
//
// Keys: none. Concurrency: one command a process; the database directory is locked while it runs.
//
// Invariants:
//   - M1: results go to standard output, everything else to standard error; what cannot be written to
//     standard output is a failure.
//   - M2: exit codes are those of `glim exit-codes`.
//   - M3: one bad input never disturbs the others.
//   - M4: a page for people says how much it leaves out and how to see it; --json leaves out nothing.
//   - M5: nothing that documents, file names or models say can steer a terminal. Texts that were asked for
//     by themselves (--context, --prompt, --text) go out as they are.
package main
