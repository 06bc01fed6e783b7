package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/codec"
)

// sameMany fails when GetMany of some keys says anything else than Get of each.
func sameMany(t *testing.T, r Reader, keys [][]byte) {
	t.Helper()
	got, err := r.GetMany(keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		want, err := r.Get(key)
		if errors.Is(err, ErrNotFound) {
			want = nil
		} else if err != nil {
			t.Fatal(err)
		}
		if (got[i] == nil) != (want == nil) || !bytes.Equal(got[i], want) {
			t.Fatalf("%T at %d: %q is %.40q, want %.40q", r, r.LSN(), key, got[i], want)
		}
	}
}

// sameLists fails when ScanMany of some prefixes says anything else than a cursor.
func sameLists(t *testing.T, r Reader, prefixes [][]byte, limit int) {
	t.Helper()
	got, err := r.ScanMany(prefixes, limit)
	if err != nil {
		t.Fatal(err)
	}
	for i, prefix := range prefixes {
		c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; (limit == 0 || n < limit) && c.Next(); n++ {
			if n >= len(got[i]) || !bytes.Equal(c.Key(), append(bytes.Clone(prefix), got[i][n].Key...)) || !bytes.Equal(c.Value(), got[i][n].Value) {
				t.Fatalf("%T at %d: row %d under %q is not %q", r, r.LSN(), n, prefix, c.Key())
			}
		}
		if err := errors.Join(c.Err(), c.Close()); err != nil || n != len(got[i]) {
			t.Fatalf("%T at %d: %d rows under %q, want %d, %v", r, r.LSN(), len(got[i]), prefix, n, err)
		}
	}
}

// rowHistory draws keys and changes from a few keys, so that rows are kept, changed and read at many LSNs.
type rowHistory struct {
	*rand.Rand
	keys int
}

func (h rowHistory) key() []byte { return fmt.Appendf(nil, "k%03d", h.IntN(h.keys)) }

func (h rowHistory) some() (keys [][]byte) {
	for range 1 + h.IntN(12) {
		keys = append(keys, h.key()) // twice the same, at times
	}
	return keys
}

// prefixes are some of the prefixes of one, two and three bytes of keys, and of a whole key.
func (h rowHistory) prefixes() (list [][]byte) {
	for range 1 + h.IntN(4) {
		list = append(list, h.key()[:1+h.IntN(4)])
	}
	return list
}

func (h rowHistory) change(b *Batch) error {
	switch h.IntN(20) {
	case 0:
		low, high := h.key(), h.key()
		return b.DeleteRange(low, high)
	case 1, 2, 3:
		return b.Delete(h.key())
	case 4, 5, 6:
		return b.SetText(h.key(), []byte(strings.Repeat(fmt.Sprint("text ", h.Uint64()), h.IntN(40))))
	case 7:
		return b.Set(h.key(), make([]byte, maxRowBytes+1-h.IntN(3)))
	case 8:
		return b.Set(h.key(), nil)
	}
	return b.Set(h.key(), fmt.Appendf(nil, "value %d", h.Uint64()))
}

// GetMany answers as Get does, and ScanMany as a cursor, on every snapshot and batch, whatever was read before and whatever is kept.
func TestRowsAreThoseOfTheEngine(t *testing.T) {
	for _, rowBytes := range []int64{-1, 16 << 10, 256 << 10, 32 << 20} {
		for seed := range uint64(3) {
			s, err := Open("db", Options{FS: vfs.NewMem(), RowBytes: rowBytes})
			if err != nil {
				t.Fatal(err)
			}
			h := rowHistory{rand.New(rand.NewPCG(seed, 7)), 60}
			var snaps []*Snapshot
			for lsn := LSN(1); lsn < 90; lsn++ {
				b, err := s.NewBatch(lsn - 1)
				if err != nil {
					t.Fatal(err)
				}
				for range h.IntN(8) {
					if err := h.change(b); err != nil {
						t.Fatal(err)
					}
					if h.IntN(3) == 0 {
						sameMany(t, b, h.some())
						sameLists(t, b, h.prefixes(), h.IntN(2)*h.IntN(30))
					}
				}
				if h.IntN(10) > 0 { // else it is given up
					if err := s.Apply(b); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				snap, err := s.Snapshot(lsn)
				if err != nil {
					t.Fatal(err)
				}
				snaps = append(snaps, snap)
				if len(snaps) > 6 {
					i := h.IntN(len(snaps))
					if err := snaps[i].Close(); err != nil {
						t.Fatal(err)
					}
					snaps = append(snaps[:i], snaps[i+1:]...)
				}
				for _, snap := range snaps {
					sameMany(t, snap, h.some())
					sameLists(t, snap, h.prefixes(), h.IntN(2)*h.IntN(30))
				}
			}
			for _, snap := range snaps {
				if err := snap.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Readers beside a writer never see a row of another commit than their own.
func TestGetManyBesideWriter(t *testing.T) {
	s, err := Open("db", Options{FS: vfs.NewMem(), RowBytes: 128 << 10})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for reader := range uint64(4) {
		readers.Go(func() {
			h := rowHistory{rand.New(rand.NewPCG(reader, 9)), 200}
			for {
				select {
				case <-ended:
					return
				default:
				}
				snap, err := s.Snapshot(0)
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					keys := h.some()
					got, err := snap.GetMany(keys)
					if err != nil {
						t.Error(err)
						return
					}
					prefix := h.prefixes()[:1]
					lists, err := snap.ScanMany(prefix, 0)
					if err != nil {
						t.Error(err)
						return
					}
					for _, p := range lists[0] {
						want, err := snap.Get(append(bytes.Clone(prefix[0]), p.Key...))
						if err != nil || !bytes.Equal(p.Value, want) {
							t.Errorf("%q %q is %.40q, want %.40q, %v", prefix, p.Key, p.Value, want, err)
							return
						}
					}
					for i, key := range keys {
						want, err := snap.Get(key)
						if err != nil && !errors.Is(err, ErrNotFound) {
							t.Error(err)
							return
						}
						if !bytes.Equal(got[i], want) {
							t.Errorf("%q is %.40q, want %.40q", key, got[i], want)
							return
						}
					}
				}
				if err := snap.Close(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	h := rowHistory{rand.New(rand.NewPCG(1, 1)), 200}
	for lsn := range LSN(400) {
		b, err := s.NewBatch(lsn)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if err := h.change(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(ended)
	readers.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// What is kept stays within its bound, and is what was read last.
func TestRowsAreBounded(t *testing.T) {
	const bound = 1 << 20
	s, err := Open("db", Options{FS: vfs.NewMem(), RowBytes: bound})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.NewBatch(0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	key := func(i int) []byte { return fmt.Appendf(nil, "key %06d", i) }
	for i := range n {
		if err := b.Set(key(i), make([]byte, 200)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Apply(b), b.Close()); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	kept := func() (rows int, size int64) {
		for i := range s.rows.shards {
			for _, generation := range []map[uint64]row{s.rows.shards[i].young, s.rows.shards[i].old} {
				for _, r := range generation {
					rows++
					size += r.size()
				}
			}
		}
		return rows, size
	}
	for i := range n {
		if _, err := snap.GetMany([][]byte{key(i), key(0)}); err != nil {
			t.Fatal(err)
		}
	}
	rows, size := kept()
	if size > bound || rows < 1000 {
		t.Fatalf("%d rows of %d bytes are kept, bound %d", rows, size, bound)
	}
	if _, ok := s.rows.get(s.rows.hash(key(0)), key(0), snap.snap.label); !ok {
		t.Fatal("the row that is read all the time was dropped")
	}
	var all [][]byte
	for i := range n {
		all = append(all, key(i))
	}
	if _, err := snap.GetMany(all); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.rows.get(s.rows.hash(key(0)), key(0), snap.snap.label); !ok {
		t.Fatal("one pass over all rows drove out the one that is read all the time")
	}
	if err := errors.Join(snap.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}
