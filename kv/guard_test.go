package kv

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestEnginePanic: a panic of the engine becomes an error and a read-only store whose Close does not touch
// the engine's locks and frees the directory.
func TestEnginePanic(t *testing.T) {
	fs := vfs.NewMem()
	cause := errors.New("cause")
	for _, value := range []any{cause, "text"} {
		s, err := Open("s", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		call := func() (err error) {
			defer s.guard("test", &err)
			panic(value)
		}
		if err := call(); !errors.Is(err, ErrReadOnly) || value == any(cause) && !errors.Is(err, cause) {
			t.Errorf("guarded: %v", err)
		}
		if _, err := s.NewBatch(0); !errors.Is(err, ErrReadOnly) {
			t.Errorf("later write: %v", err)
		}
		db := s.db
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		again, err := Open("s", Options{FS: fs})
		if err != nil {
			t.Fatalf("directory is not free: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil { // end the abandoned engine, for the sake of the other tests
			t.Error(err)
		}
	}
}
