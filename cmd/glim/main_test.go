package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary stand in for glim, so that scripts run the real command in processes of
// its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"glim": main})
}
