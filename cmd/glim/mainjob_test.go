package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/query"
)

// glim runs one command line on the database of dir and returns its exit code and output.
func glim(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"GLIM_DB": dir, "GLIM_OFFLINE": "true"}
	var out, errw bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errw, func(k string) string { return env[k] })
	return code, out.String(), errw.String()
}

// must is glim for a command that has to succeed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errs := glim(t, dir, args...)
	if code != exitOK {
		t.Fatalf("glim %q: exit code %d: %s", args, code, errs)
	}
	return out
}

func parse[T any](t *testing.T, out string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %.200q", err, out)
	}
	return v
}

// job is the product's main job on one folder or file.
type job struct {
	path, question string
	documents      int               // that the inputs become
	assumed        map[string]string // base name of an input that declares no encoding -> the one that is told
}

// run inserts, asks in every mode, checks, deletes all documents one by one, and wants nothing left.
func (j *job) run(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	code, out, errs := glim(t, dir, "insert", j.path, "--json")
	if code != exitOK {
		t.Fatalf("insert: exit code %d: %s", code, errs)
	}
	res := parse[inserted](t, out)
	if res.Summary.Failed != 0 || res.Summary.Processed != j.documents || len(res.Skipped) != 0 {
		t.Errorf("summary %+v, skipped %v, want %d processed", res.Summary, res.Skipped, j.documents)
	}
	j.everyInputIsAccountedFor(t, &res)
	if len(res.Notes) != len(j.assumed) {
		t.Errorf("notes %v, want those of %v", res.Notes, j.assumed)
	}
	for path, notes := range res.Notes {
		enc := j.assumed[filepath.Base(path)]
		if len(notes) != 1 || enc == "" || !strings.Contains(notes[0], enc) || !strings.Contains(errs, "note: "+path+": "+notes[0]+"\n") {
			t.Errorf("%s: notes %q, want one that names %q, also in %q", path, notes, enc, errs)
		}
	}
	must(t, dir, "check")

	for _, mode := range query.Modes() {
		code, out, errs := glim(t, dir, "query", j.question, "--mode", string(mode), "--json")
		if mode == query.Bypass {
			if code == exitOK || !strings.Contains(errs, "model") {
				t.Errorf("bypass without a model: exit code %d, %q", code, errs)
			}
			continue
		}
		if code != exitOK {
			t.Errorf("%s: exit code %d: %s", mode, code, errs)
			continue
		}
		if r := parse[struct {
			Outcome string
			Data    struct{ Chunks []json.RawMessage }
		}](t, out); len(r.Data.Chunks) == 0 {
			t.Errorf("%s: no chunks: %s %s", mode, r.Outcome, out[:min(len(out), 400)])
		}
	}

	for _, d := range res.Documents {
		must(t, dir, "delete", d.ID)
	}
	must(t, dir, "check")
	got := must(t, dir, "dump", "--logical")
	if want := emptyDump(t); got != want {
		t.Errorf("dump after deleting everything:\n%.2000s\nof an empty database:\n%.2000s", got, want)
	}
}

// everyInputIsAccountedFor wants each file to be a document.
func (j *job) everyInputIsAccountedFor(t *testing.T, res *inserted) {
	t.Helper()
	state := make(map[string]int)
	for _, d := range res.Documents {
		state[filepath.Base(d.ID)]++
	}
	files := 0
	err := filepath.WalkDir(filepath.FromSlash(j.path), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files++
			if n := state[e.Name()]; n != 1 {
				t.Errorf("%s is accounted for %d times", path, n)
			}
		}
		return err
	})
	if err != nil || files != j.documents {
		t.Errorf("%d files, %v; want %d", files, err, j.documents)
	}
}

// emptyDump is the logical dump of a database that never held anything.
func emptyDump(t *testing.T) string {
	t.Helper()
	d, err := db.Open(filepath.Join(t.TempDir(), "glim.db"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(d.Dump(context.Background(), &b, db.DumpOptions{Logical: true}), d.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMainJobOnShippedCorpus(t *testing.T) {
	t.Parallel()
	j := job{path: "../../testdata/corpus", question: "Who repairs the lighthouse lamp?", documents: 8}
	j.run(t)
}

func TestMainJobOnRealData(t *testing.T) {
	t.Parallel()
	for _, j := range []job{
		{path: "a-christmas-carol/book.txt", question: "Who is Jacob Marley to Scrooge?", documents: 1},
		{path: "lightrag-ollama-zh/inputs", question: "ollama Modelfile", documents: 14},
		{path: "eval-lightrag-sample/sample_documents", question: "How does LightRAG reduce hallucinations?", documents: 6}, // five and a README,
		{path: "messy-docs", question: "What is a Go interface type?", documents: 15, assumed: map[string]string{
			"candide-utf-16le.txt":            "utf-16le",
			"rashomon-shift-jis.txt":          "shift_jis",
			"sunzi-bingfa-simplified-gbk.txt": "gb18030",
			"unsu-joh-eun-nal-euc-kr.txt":     "euc-kr",
		}},
	} {
		t.Run(j.path, func(t *testing.T) {
			t.Parallel()
			j.path = testkit.Data(t, j.path)
			if raceDetector {
				j.withoutLargeFiles(t)
			}
			j.run(t)
		})
	}
}

// withoutLargeFiles takes a copy of the folder that has its small files only.
func (j *job) withoutLargeFiles(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(j.path)
	if err != nil {
		return // one file
	}
	dir := t.TempDir()
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(j.path, e.Name()))
		switch {
		case err != nil:
			t.Fatal(err)
		case len(raw) > 64<<10:
			j.documents--
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j.path = dir
}
