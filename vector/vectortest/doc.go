// Package vectortest tells whether a vector.Index keeps what that interface promises: it runs collections that
// have such an index against brute force, through changes, views of old commits, reopening, power loss and damage.
//
// A test of an own index is one call:
//
//	func TestIndex(t *testing.T) {
//		vectortest.Run(t, vectortest.Suite{New: NewIndex})
//	}
//
// The package's own tests show an index of eighty lines that passes, and collections that have none.
//
// It does not look into an index, beyond Check and Stats: what an index promises besides needs tests of its own.
// Everything lives in memory; one run takes some ten seconds of one core, a fifth of the work under the race
// detector.
package vectortest
