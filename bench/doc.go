// Package bench measures: `go test -bench . ./bench`. Every figure that a promise is made about is printed
// as a ratio of two things measured in the same run (ours and the bare engine, a hub and the median), since
// absolute times of one machine say little about another.
//
// It holds no test of behaviour, but every benchmark checks its answer (B2). It reads real
// data in place (see internal/testkit) and skips, saying so, where that is absent. It is never imported, sets
// no target that fails a build, and owns no on-disk keys.
//
// Concurrency: benchmarks run one after the other. The tokenizer's growth is taken from the processor time of the
// one thread that works (cputime_linux_test.go), which a busy machine does not move.
//
// Invariants:
//   - B1: both sides of a ratio are measured in one run.
//   - B2: a benchmark that answers wrongly fails, whatever its time.
package bench
