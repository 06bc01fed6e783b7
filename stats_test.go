package db_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// TestStatsTellWhatIsStored: the size is that of all files, on every file system, and the models of the documents
// are told beside the configured ones.
func TestStatsTellWhatIsStored(t *testing.T) {
	stats := func(t *testing.T, d *db.DB) db.Stats {
		t.Helper()
		s, err := d.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			o, dir := testOptions(fs), filepath.Join(t.TempDir(), "glim.db")
			if name == "memory" {
				dir = "glim.db"
			}
			d, err := db.Open(dir, db.WithOptions(o))
			if err != nil {
				t.Fatal(err)
			}
			if s := stats(t, d); s.Stored != nil {
				t.Errorf("an empty store has models: %+v", s.Stored)
			}
			before := stats(t, d).DiskBytes
			const size = 100 << 10 // within the log only
			value := make([]byte, size)
			for i, x := 0, uint32(1); i < size; i++ { // does not compress
				x = x*1664525 + 1013904223
				value[i] = byte(x >> 24)
			}
			update(t, d, func(tx *db.Tx) error { return tx.KV("x").Put([]byte("k"), value) })
			if grown := stats(t, d).DiskBytes - before; grown < size {
				t.Errorf("%d bytes more on disk for %d written", grown, size)
			}
			insert(t, d, doc("a", "E Ada (counts)"))
			first := d.Models()
			closeChecked(t, d)
			o.LexicalDim = 128
			d, err = db.Open(dir, db.WithOptions(o))
			if err != nil {
				t.Fatal(err)
			}
			s := stats(t, d)
			if want := (db.StoredModels{Embedder: first.Embedder, Dim: 64, Tokenizer: first.Tokenizer}); s.Stored == nil || *s.Stored != want || s.Models.Dim != 128 {
				t.Errorf("stored %+v, configured %+v; want %+v beside 128", s.Stored, s.Models, want)
			}
			closeChecked(t, d)
		})
	}
}

// TestModelNameIsText: a name that a dump could not hold is refused.
func TestModelNameIsText(t *testing.T) {
	d := openTest(t, testOptions(nil))
	err := d.Update(ctx, func(tx *db.Tx) error {
		_, err := tx.CreateVectors("v", vector.Config{Dim: 2, Model: "m\xff"})
		return err
	})
	if err == nil {
		t.Error("accepted")
	}
}
