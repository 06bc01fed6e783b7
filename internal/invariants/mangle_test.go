package invariants_test

import (
	"bytes"
	"testing"

	"github.com/glimdb/db/internal/invariants"
)

func TestMangle(t *testing.T) {
	b := append(make([]byte, 0, 8), "abc"...)
	invariants.Mangle(b)
	if changed := !bytes.Equal(b, []byte("abc")); changed != invariants.Enabled {
		t.Errorf("buffer %q, enabled %v", b, invariants.Enabled)
	}
	if spare := b[3:8]; invariants.Enabled && spare[4] == 0 {
		t.Error("spare capacity was spared")
	}
	invariants.Mangle(nil)
}
