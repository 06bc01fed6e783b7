package llm_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No decorator leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
