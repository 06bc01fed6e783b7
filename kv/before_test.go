package kv_test

import (
	"errors"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// What BeforeApply registers runs once, may read and stage, and its error keeps the batch out.
func TestBeforeApply(t *testing.T) {
	s, err := kv.Open("db", kv.Options{FS: testkit.MemFS()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	apply := func(lsn kv.LSN, fail error) error {
		b, err := s.NewBatch(lsn)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := b.Set([]byte("a"), []byte{byte(lsn)}); err != nil {
			t.Fatal(err)
		}
		runs := 0
		b.BeforeApply(func() error {
			runs++
			v, err := b.Get([]byte("a"))
			return errors.Join(err, b.Set([]byte("b"), append(v, byte(runs))), fail)
		})
		err = s.Apply(b)
		if runs != 1 {
			t.Errorf("it ran %d times", runs)
		}
		return err
	}
	if err := apply(1, nil); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if err := apply(2, refused); !errors.Is(err, refused) {
		t.Errorf("Apply = %v, want the error of BeforeApply", err)
	}
	r, err := s.Snapshot(2)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v, err := r.Get([]byte("b")); err != nil || string(v) != "\x01\x01" {
		t.Errorf("staged before apply: %x, %v", v, err)
	}
	if v, err := r.Get([]byte("a")); err != nil || string(v) != "\x01" {
		t.Errorf("a refused batch became visible: %x, %v", v, err)
	}
}
