// Package invariants turns on checks that are too dear or too strict for normal builds: under the build
// tag invariants, and in every build with the race detector, Enabled is true and Mangle destroys buffers
// whose lifetime has ended, so that a caller who kept one reads garbage and fails in a test instead of in
// production.
//
// It does not report or log anything, and owns no on-disk keys. All functions are safe for concurrent use
// on buffers that the caller owns.
//
// Invariants:
//   - I1: in a normal build Enabled is a false constant, so that guarded code is not compiled in.
package invariants
