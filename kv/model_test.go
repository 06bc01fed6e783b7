package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// model is what a view must show.
type model map[string]string

func (m model) deleteRange(lo, hi string) {
	maps.DeleteFunc(m, func(k, _ string) bool { return k >= lo && k < hi })
}

// checkView compares r with m: all keys by Get, and random walks of a cursor.
func checkView(r *rand.Rand, v kv.Reader, m model) error {
	keys := slices.Sorted(maps.Keys(m))
	for i := range modelKeys {
		k := modelKey(i)
		got, err := v.Get([]byte(k))
		want, ok := m[k]
		if !ok && !errors.Is(err, kv.ErrNotFound) || ok && (err != nil || string(got) != want) {
			return fmt.Errorf("get %q: %q, %w; want %q, %v", k, got, err, want, ok)
		}
	}
	lo, hi := modelKey(r.IntN(modelKeys)), modelKey(r.IntN(modelKeys))
	var lower, upper []byte
	if r.IntN(3) > 0 {
		lower = []byte(lo)
		keys = slices.DeleteFunc(keys, func(k string) bool { return k < lo })
	}
	if r.IntN(3) > 0 {
		upper = []byte(hi)
		keys = slices.DeleteFunc(keys, func(k string) bool { return k >= hi })
	}
	c, err := v.Cursor(lower, upper)
	if err != nil {
		return err
	}
	defer c.Close()
	at := -1 // position in keys; len(keys) is past the end
	for step := range 30 {
		var ok bool
		var move string
		switch r.IntN(6) {
		case 0:
			move, ok, at = "First", c.First(), 0
		case 1:
			move, ok, at = "Last", c.Last(), len(keys)-1
		case 2:
			k := modelKey(r.IntN(modelKeys))
			move, ok = "SeekGE "+k, c.SeekGE([]byte(k))
			at, _ = slices.BinarySearch(keys, k)
		case 3:
			k := modelKey(r.IntN(modelKeys))
			move, ok = "SeekLT "+k, c.SeekLT([]byte(k))
			at, _ = slices.BinarySearch(keys, k)
			at--
		case 4:
			move, ok = "Next", c.Next()
			at = min(at+1, len(keys))
		case 5:
			move, ok = "Prev", c.Prev()
			if step == 0 {
				at = len(keys)
			}
			at = max(at-1, -1)
		}
		want := at >= 0 && at < len(keys)
		if ok != want || c.Err() != nil {
			return fmt.Errorf("step %d %s: %v, %w; want %v", step, move, ok, c.Err(), want)
		}
		if !ok {
			if c.Key() != nil || c.Value() != nil {
				return fmt.Errorf("step %d %s: key or value at no position", step, move)
			}
			continue
		}
		for range 2 { // asking twice costs nothing and changes nothing
			if string(c.Key()) != keys[at] || string(c.Value()) != m[keys[at]] {
				return fmt.Errorf("step %d %s: at %q %q, want %q", step, move, c.Key(), c.Value(), keys[at])
			}
		}
	}
	return nil
}

const modelKeys = 40

func modelKey(i int) string { return fmt.Sprintf("k%02d", i) }

// TestAgainstModel runs random batches, snapshots, cursors and reopenings and compares every view with maps (K1).
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runModel(t, seed) })
	}
}

func runModel(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	fs := testkit.MemFS()
	o := kv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
	s := open(t, "s", o)
	state := model{}
	type view struct {
		sn *kv.Snapshot
		m  model
	}
	var views []view
	for i := range 150 {
		switch n := r.IntN(20); {
		case n == 0 && len(views) == 0:
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, "s", o)
		case n < 4:
			sn, err := s.Snapshot(kv.LSN(i))
			if err != nil {
				t.Fatal(err)
			}
			views = append(views, view{sn, maps.Clone(state)})
		case n < 7 && len(views) > 0:
			j := r.IntN(len(views))
			v := views[j]
			if err := checkView(r, v.sn, v.m); err != nil {
				t.Fatalf("op %d: snapshot at %d: %v", i, v.sn.LSN(), err)
			}
			v.sn.Close()
			views = slices.Delete(views, j, j+1)
		default:
			next := maps.Clone(state)
			drop := r.IntN(4) == 0
			b, err := s.NewBatch(0)
			if err != nil {
				t.Fatal(err)
			}
			for range r.IntN(8) {
				stage(t, r, b, next)
			}
			if err := checkView(r, b, next); err != nil {
				t.Fatalf("op %d: batch: %v", i, err)
			}
			if !drop {
				if err := s.Apply(b); err != nil {
					t.Fatal(err)
				}
				state = next
			}
			b.Close()
		}
	}
	oldest := kv.LSN(1<<64 - 1)
	for _, v := range views {
		oldest = min(oldest, v.sn.LSN())
	}
	if got := s.OldestLSN(); got != oldest {
		t.Errorf("oldest LSN %d, want %d", got, oldest)
	}
	for _, v := range views {
		if err := checkView(r, v.sn, v.m); err != nil {
			t.Errorf("snapshot at %d: %v", v.sn.LSN(), err)
		}
		v.sn.Close()
	}
}

// stage stages one random change in b and in m.
func stage(t *testing.T, r *rand.Rand, b *kv.Batch, m model) {
	t.Helper()
	k := modelKey(r.IntN(modelKeys))
	var err error
	switch r.IntN(6) {
	case 0:
		err = b.Delete([]byte(k))
		delete(m, k)
	case 1:
		hi := modelKey(r.IntN(modelKeys)) // often an empty range
		err = b.DeleteRange([]byte(k), []byte(hi))
		m.deleteRange(k, hi)
	case 2:
		v := strings.Repeat(fmt.Sprint("text ", r.Uint32(), " "), r.IntN(200))
		err = b.SetText([]byte(k), []byte(v))
		m[k] = v
	default:
		v := make([]byte, []int{0, 1, 100, 3000}[r.IntN(4)])
		for i := range v {
			v[i] = byte(r.Uint32())
		}
		err = b.Set([]byte(k), v)
		m[k] = string(v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLimits(t *testing.T) {
	s := open(t, "s", kv.Options{})
	b, err := s.NewBatch(0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	long := make([]byte, kv.MaxKeyBytes+1)
	huge := make([]byte, kv.MaxBatchBytes)
	for name, err := range map[string]error{
		"set long key":    b.Set(long, nil),
		"text long key":   b.SetText(long, nil),
		"delete long key": b.Delete(long),
		"range long key":  b.DeleteRange(nil, long),
		"huge value":      b.Set([]byte("k"), huge),
		"huge text":       b.SetText([]byte("k"), huge),
	} {
		if !errors.Is(err, kv.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !b.Empty() {
		t.Error("a refused change was staged")
	}
	if err := b.Set(long[1:], []byte("v")); err != nil {
		t.Errorf("longest key: %v", err)
	}
	if v, err := b.Get(long[1:]); err != nil || !bytes.Equal(v, []byte("v")) {
		t.Errorf("longest key: %q, %v", v, err)
	}
}

// TestLargeBatch writes one batch larger than any memtable, which takes another way through the engine.
func TestLargeBatch(t *testing.T) {
	fs := testkit.MemFS()
	o := kv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
	s := open(t, "s", o)
	value := bytes.Repeat([]byte{7}, 1000)
	err := update(s, func(b *kv.Batch) error {
		for i := range 500 {
			if err := b.Set(fmt.Appendf(nil, "%04d", i), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, "s", o)
	sn := snapshot(t, s)
	for i := range 500 {
		if v, err := sn.Get(fmt.Appendf(nil, "%04d", i)); err != nil || !bytes.Equal(v, value) {
			t.Fatalf("%d: %d bytes, %v", i, len(v), err)
		}
	}
	sn.Close()
}

func TestBatchHooksAndAttachments(t *testing.T) {
	s := open(t, "s", kv.Options{})
	b, err := s.NewBatch(5)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	type key struct{}
	if b.Attachment(key{}, nil) != nil {
		t.Error("attachment before any")
	}
	made := 0
	for range 2 {
		if got := b.Attachment(key{}, func() any { made++; return "x" }); got != "x" {
			t.Errorf("attachment %v", got)
		}
	}
	if made != 1 || b.LSN() != 5 || !b.Empty() {
		t.Errorf("made %d, LSN %d, empty %v", made, b.LSN(), b.Empty())
	}
	var ran []string
	b.OnCommit(func(l kv.LSN) { ran = append(ran, fmt.Sprint("a", l)) })
	b.OnCommit(func(l kv.LSN) { ran = append(ran, fmt.Sprint("b", l)) })
	b.Committed(6)
	b.Committed(7)
	if !slices.Equal(ran, []string{"a6", "b6"}) {
		t.Errorf("hooks %v", ran)
	}
}
