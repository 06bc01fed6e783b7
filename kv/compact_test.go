package kv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/kv"
)

// What was deleted and replaced takes no space after Compact, unless a snapshot shows it.
func TestCompactFreesSpace(t *testing.T) {
	s := open(t, "s", kv.Options{MemTableBytes: 64 << 10})
	r := rand.New(rand.NewPCG(1, 2))
	const keys, size = 400, 2000
	fill := func() {
		t.Helper()
		for from := 0; from < keys; from += 20 {
			err := update(s, func(b *kv.Batch) error {
				for i := from; i < from+20; i++ {
					value := make([]byte, size)
					for j := range value {
						value[j] = byte(r.Uint32())
					}
					if err := b.Set(fmt.Appendf(nil, "a/%05d", i), value); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	usage := func() int64 {
		t.Helper()
		if err := s.Compact(context.Background(), []byte("a/"), []byte("a0")); err != nil {
			t.Fatal(err)
		}
		n, err := s.DiskUsage([]byte("a/"), []byte("a0"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	fill()
	one := usage()
	if one < keys*size || one > keys*size*11/10 {
		t.Errorf("%d bytes for %d", one, keys*size)
	}
	old := snapshot(t, s)
	fill()
	if two := usage(); two < 2*keys*size {
		t.Errorf("%d bytes, while a snapshot shows what was replaced", two)
	}
	old.Close()
	for range 4 {
		fill()
	}
	if again := usage(); again > one*11/10 {
		t.Errorf("%d bytes after replacing all, %d before", again, one)
	}
	if err := put(s, "b", "outside"); err != nil {
		t.Fatal(err)
	}
	if err := update(s, func(b *kv.Batch) error { return b.DeleteRange([]byte("a/"), []byte("a0")) }); err != nil {
		t.Fatal(err)
	}
	if none := usage(); none > one/10 {
		t.Errorf("%d bytes of nothing", none)
	}
	if n, err := s.DiskUsage([]byte("b"), []byte("a")); err != nil || n != 0 {
		t.Errorf("empty range: %d, %v", n, err)
	}
	if err := s.Compact(context.Background(), []byte("b"), []byte("a")); err != nil {
		t.Errorf("empty range: %v", err)
	}
}

// Compact ends when its caller gives up, when the store closes and when the disk fails.
func TestCompactEnds(t *testing.T) {
	compact := func(ctx context.Context, s *kv.Store) error {
		if err := put(s, "k", "v"); err != nil {
			return err
		}
		return s.Compact(ctx, []byte("a"), []byte("z"))
	}
	eachEnd(t, kv.Options{}, compact, func(t *testing.T, s *kv.Store, _ error) {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := s.Compact(context.Background(), []byte("a"), []byte("z")); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := s.DiskUsage([]byte("a"), []byte("z")); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
