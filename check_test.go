package db_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// keyValue is one stored entry.
type keyValue struct{ key, value []byte }

// stored lists the entries of a space of a closed database.
func stored(t *testing.T, fs vfs.FS, sp space.Space) (out []keyValue) {
	t.Helper()
	raw(t, fs, func(s *kv.Store) {
		snap, err := s.Snapshot(0)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		prefix := space.In("", sp)
		c, err := snap.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			t.Fatal(err)
		}
		for c.Next() {
			out = append(out, keyValue{bytes.Clone(c.Key()), bytes.Clone(c.Value())})
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return out
}

// raw opens the store below a closed database.
func raw(t *testing.T, fs vfs.FS, f func(*kv.Store)) {
	t.Helper()
	s, err := kv.Open("glim.db", kv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	f(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// found opens a database and returns the parts that Check complains of; one that cannot be opened, or not
// be read, complains of itself.
func found(t *testing.T, fs vfs.FS) (parts map[string]string) {
	t.Helper()
	parts = make(map[string]string)
	d, err := db.Open("glim.db", db.WithOptions(testOptions(fs)))
	if err != nil {
		parts["open"] = err.Error()
		return parts
	}
	for p, err := range d.Check(ctx) {
		if err != nil {
			parts["error"] = err.Error()
			continue
		}
		if p.String() == "" || p.What == "" {
			t.Errorf("a problem without words: %+v", p)
		}
		parts[p.Part] = p.String()
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return parts
}

// TestCheckSeesEveryKey damages a closed database entry by entry, by taking it away and by cutting it short:
// none may go unnoticed, for a checker that overlooks damage proves nothing in any other test.
func TestCheckSeesEveryKey(t *testing.T) {
	base := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(testOptions(base)))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("a", "E Ada (counts)\nE Bob (sums)\nR Ada - Bob (together)"), doc("b", "E Ada (adds)\nR Ada - Cy (apart)"))
	if err := d.Update(ctx, func(tx *db.Tx) error { return writeAll(tx, 1) }); err != nil {
		t.Fatal(err)
	}
	for _, edit := range []func() (index.EditResult, error){
		func() (index.EditResult, error) {
			return d.CreateEntity(ctx, index.NewEntity{Name: "Dora", Type: "t", Description: "by hand"})
		},
		func() (index.EditResult, error) {
			return d.CreateRelation(ctx, index.NewRelation{Src: "Dora", Dst: "Ada", Description: "by hand"})
		},
		func() (index.EditResult, error) { return d.DeleteRelation(ctx, "Ada", "Cy") },
		func() (index.EditResult, error) { return d.RenameEntity(ctx, "Ada", "Ada L.") },
		func() (index.EditResult, error) {
			return d.EditEntity(ctx, "Ada", index.EntityFields{Type: pointer("person")})
		},
	} {
		if _, err := edit(); err != nil {
			t.Fatal(err)
		}
	}
	closeChecked(t, d)
	if p := found(t, base.Clone(1)); len(p) != 0 {
		t.Fatalf("in a sound database: %v", p)
	}
	reported := make(map[string]int)
	for _, sp := range []space.Space{space.Graph, space.Vector, space.Document, space.Text, space.Chunk, space.Source, space.Contrib, space.Hash, space.Track, space.Manual} {
		entries := stored(t, base.Clone(1), sp)
		if len(entries) == 0 {
			t.Errorf("space %q holds nothing", sp)
		}
		for i, e := range entries {
			damage := map[string]func(b *kv.Batch) error{"taken away": func(b *kv.Batch) error { return b.Delete(e.key) }}
			if len(e.value) > 0 {
				damage["cut short"] = func(b *kv.Batch) error { return b.Set(e.key, e.value[:len(e.value)-1]) }
			}
			for how, f := range damage {
				fs := base.Clone(uint64(i + 2))
				raw(t, fs, func(s *kv.Store) {
					b, err := s.NewBatch(0)
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(f(b), s.Apply(b), b.Durable(), b.Close()); err != nil {
						t.Fatal(err)
					}
				})
				parts := found(t, fs)
				if len(parts) == 0 {
					t.Errorf("key %q of space %q %s: nobody noticed", e.key, sp, how)
				}
				for p := range parts {
					reported[p]++
				}
			}
		}
	}
	for _, part := range []string{"graph", "vector", "index"} {
		if reported[part] == 0 {
			t.Errorf("no damage was reported by part %s: %v", part, reported)
		}
	}
}
