package db_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// opened opens a database by options of one field each, checked and closed at the end.
func opened(t *testing.T, path string, opts ...db.Option) *db.DB {
	t.Helper()
	d, err := db.Open(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, d) })
	return d
}

// The file system given is the one that is used, and the only one.
func TestWithFS(t *testing.T) {
	mem, dir := vfs.NewMem(), filepath.Join(t.TempDir(), "glim.db")
	if err := mem.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	insert(t, opened(t, dir, db.WithFS(mem)), doc("mill", "Ines Calder runs the mill."))
	names, err := mem.List(dir)
	if err != nil || len(names) == 0 {
		t.Errorf("in the file system given: %q, %v", names, err)
	}
	if _, err := vfs.Default.Stat(dir); err == nil {
		t.Errorf("%s exists on the disk, too", dir)
	}
}

// Each role is played by the model that was given for it; the chat model plays those without one.
func TestWithModels(t *testing.T) {
	general := extracting(llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "from the general model"})
	general.SetID("general")
	special := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "from the answer model"})
	special.SetID("special")
	emb := llmtest.NewEmbedder(8)
	for name, c := range map[string]struct {
		option db.Option
		answer string
		dim    int
	}{
		"WithModels": {db.WithModels(llm.Models{Chat: general, Answer: special, Embedder: emb}), "from the answer model", 8},
		"WithChat":   {db.WithChat(general), "from the general model", 0},
	} {
		t.Run(name, func(t *testing.T) {
			general.Reset()
			d := opened(t, "glim.db", db.WithFS(vfs.NewMem()), c.option)
			insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
			if n := general.Count(llm.PurposeExtract); n != 1 || entity(t, d, "Ines Calder") == nil {
				t.Errorf("%d extraction calls", n)
			}
			res, err := d.Query(ctx, "What does Ines Calder do?", query.Options{})
			if err != nil || res.Answer != c.answer {
				t.Errorf("answer %q, %v; want %q", res.Answer, err, c.answer)
			}
			if m := d.Models(); c.dim != 0 && (m.Dim != c.dim || m.Embedder != emb.ID()) {
				t.Errorf("models %+v", m)
			}
		})
	}
}

// The logger hears of a call that is repeated, and nothing of what documents say.
func TestWithLogger(t *testing.T) {
	var log bytes.Buffer
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeExtract, Times: 1, Err: &llm.Error{Provider: "fake", Op: "chat", Status: 503, RetryAfter: time.Millisecond}})
	d := opened(t, "glim.db", db.WithFS(vfs.NewMem()), db.WithChat(chat), db.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	if s := log.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "503") || strings.Contains(s, "Ines") {
		t.Errorf("log %q", s)
	}
}

// ReadOnly opens what exists and changes nothing; it creates nothing.
func TestReadOnlyOption(t *testing.T) {
	mem := vfs.NewMem()
	if _, err := db.Open("glim.db", db.WithFS(mem), db.ReadOnly()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database that does not exist: %v", err)
	}
	if names, err := mem.List(""); err != nil || len(names) != 0 {
		t.Errorf("opening it left %q, %v", names, err)
	}
	d, err := db.Open("glim.db", db.WithFS(mem))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("mill", "Ines Calder runs the mill."))
	closeChecked(t, d)
	d = opened(t, "glim.db", db.WithFS(mem), db.ReadOnly())
	if get(t, d, "mill").Status != "processed" {
		t.Error("the document cannot be read")
	}
	if _, err := d.Delete(ctx, "mill"); !errors.Is(err, db.ErrReadOnly) {
		t.Errorf("delete: %v, want ErrReadOnly", err)
	}
}

// A later option edits what an earlier one set, and no option changes the struct of the caller.
func TestOptionsAreAppliedInOrder(t *testing.T) {
	mem := vfs.NewMem()
	mine := db.Options{FS: mem, LexicalDim: 64}
	d := opened(t, "glim.db", db.WithOptions(mine), db.WithEmbedder(letters{}))
	if m := d.Models(); m.Embedder != "letters/1" {
		t.Errorf("WithEmbedder after WithOptions: %+v", m)
	}
	d = opened(t, "other.db", db.WithEmbedder(letters{}), db.WithOptions(mine))
	if m := d.Models(); m.Embedder == "letters/1" || m.Dim != 64 {
		t.Errorf("WithOptions after WithEmbedder: %+v", m)
	}
	if mine.Models.Embedder != nil || mine.Logger != nil || mine.Now != nil {
		t.Errorf("the caller's struct is now %+v", mine)
	}
}

// Under a memory limit the rows of the largest collections stay in the store, and queries go on finding what
// they found.
func TestVectorMemoryOption(t *testing.T) {
	mem := vfs.NewMem()
	for _, limit := range []int64{0, 1} {
		d, err := db.Open("glim.db", db.WithOptions(db.Options{FS: mem, Vectors: db.VectorOptions{MemoryBytes: limit}}))
		if err != nil {
			t.Fatal(err)
		}
		if limit == 0 {
			insert(t, d, doc("mill", "Ines Calder runs the mill."))
		}
		err = d.View(ctx, func(tx *db.Tx) error {
			v, err := tx.Vectors("entities")
			if err == nil {
				if m := v.Stats().Memory; (m.Rows > 0) != (limit == 0) || m.Codes == 0 {
					t.Errorf("limit %d: %+v", limit, m)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		res, err := d.Query(ctx, "Who runs the mill?", query.Options{})
		if err != nil || len(res.Data.Chunks) != 1 {
			t.Errorf("limit %d: %d passages, %v", limit, len(res.Data.Chunks), err)
		}
		closeChecked(t, d)
	}
}
