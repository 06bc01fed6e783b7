// Package bench measures: `go test -bench . ./bench`. Every figure that a promise is made about is printed
// as a ratio of two things measured in the same run (ours and the bare engine, a hub and the median), since
// absolute times of one machine say little about another.
//
// It holds no test of behaviour, but every benchmark checks its answer before it is timed. It reads real
// data in place (see internal/testkit) and skips, saying so, where that is absent. It is never imported and
// owns no on-disk keys.
package bench
