package testkit

import (
	"testing"

	"go.uber.org/goleak"
)

// VerifyNoLeaks runs the tests of a package and fails it when goroutines are left. One is expected: a store whose disk
// cannot be read while the engine writes values anew leaves the engine's writer behind, which waits for ever. No store
// does so twice.
func VerifyNoLeaks(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2/sstable/blob.(*FileWriter).drainWriteQueue"))
}
