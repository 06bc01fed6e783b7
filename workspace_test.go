package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// workspace returns a handle whose workspace is checked when the test ends.
func workspace(t testing.TB, d *db.DB, name string) *db.DB {
	t.Helper()
	w, err := d.Workspace(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkDB(t, w) })
	return w
}

func workspaces(t testing.TB, d *db.DB) (names []string) {
	t.Helper()
	for name, err := range d.Workspaces(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// oddNames are names that a careless layout of keys, or a careless comparison, would mix up: prefixes of each other,
// bytes that separate and escape, one letter written in two ways, and the longest.
var oddNames = []string{"", "\x00", "\x00\x01", "\x00\xc3\xbf", "a", "a\x00", "a\x00b", "ab", "A", "\u00e9", "e\u0301", "łódź/..", "日本語", "💧",
	"\u202eabc", "default", strings.Repeat("x", db.MaxWorkspaceName), strings.Repeat("x", db.MaxWorkspaceName-1)}

// fill writes one thing of each kind, under names and ids that are the same in every workspace, saying word.
func fill(t testing.TB, d *db.DB, word string, n byte) {
	t.Helper()
	document := doc("same", fmt.Sprintf("E Mira (%s)\nE Bridge (old)\nR Mira - Bridge (%s mends)\n", word, word))
	document.Track = "track"
	insert(t, d, document, doc("copy", "E Copy (is the same in every workspace)"), doc("only-"+word, "E Only "+word+" (is here alone)"))
	update(t, d, func(tx *db.Tx) error { return writeAll(tx, n) })
	if _, err := d.EditEntity(ctx, "Bridge", index.EntityFields{Description: &word}); err != nil {
		t.Fatal(err)
	}
}

// wantFilled reports where d shows something else than fill(d, word, n) left.
func wantFilled(t *testing.T, d *db.DB, word string, n byte, words []string) {
	t.Helper()
	t.Run(word, func(t *testing.T) {
		view(t, d, func(tx *db.Tx) { wantAll(t, tx, n) })
		var ids []string
		for info, err := range d.Documents(ctx, index.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, info.ID)
		}
		slices.Sort(ids)
		if want := []string{"copy", "only-" + word, "same"}; !slices.Equal(ids, want) {
			t.Errorf("documents %v, want %v", ids, want)
		}
		tracked := 0
		for info, err := range d.Documents(ctx, index.Filter{Track: "track"}) {
			if err != nil || info.ID != "same" {
				t.Errorf("tracked: %v, %v", info.ID, err)
			}
			tracked++
		}
		if tracked != 1 {
			t.Errorf("%d documents of the track", tracked)
		}
		if text, err := d.Text(ctx, "same"); err != nil || !strings.Contains(text, word) {
			t.Errorf("text %q, %v", text, err)
		}
		if e := entity(t, d, "Mira"); e == nil || e.Description != word || e.SourceCount != 1 {
			t.Errorf("Mira is %+v", e)
		}
		if e := entity(t, d, "Bridge"); e == nil || e.Description != word {
			t.Errorf("edited by hand: %+v", e)
		}
		if r := relation(t, d, "Mira", "Bridge"); r == nil || r.Description != word+" mends" {
			t.Errorf("relation: %+v", r)
		}
		s, err := d.Stats(ctx)
		if err != nil || s.Documents != 3 || s.Chunks != 3 || s.Entities != 4 || s.Relations != 1 || s.Collections["points"].Live != 1 {
			t.Errorf("statistics %+v, %v", s, err)
		}
		said := logical(t, d) + contexts(t, d, "Who mends the Bridge?")
		res, err := d.Query(ctx, "Mira", query.Options{Mode: query.Local, Want: query.WantContext, Filter: index.Filter{IDPrefix: "same"}})
		if err != nil || len(res.Data.Entities) == 0 {
			t.Errorf("filtered query: %v", err)
		} else {
			said += res.Context
		}
		for _, other := range words {
			if strings.Contains(said, other) != (other == word) {
				t.Errorf("it says %q: %v", other, other != word)
			}
		}
	})
}

// Every kind of data, the same ids and names in all of them.
func TestWorkspacesAreIsolated(t *testing.T) {
	o := testOptions(vfs.NewMem())
	d := openTest(t, o)
	var words []string
	for i := range oddNames {
		words = append(words, fmt.Sprintf("word%02dx", i))
	}
	var open []*db.DB
	for i, name := range oddNames {
		w := workspace(t, d, name)
		fill(t, w, words[i], byte(i+1))
		open = append(open, w)
	}
	sorted := slices.Sorted(slices.Values(oddNames))
	if got := workspaces(t, open[3]); !slices.Equal(got, sorted) {
		t.Errorf("listed %q, want %q", got, sorted)
	}
	for i, w := range open {
		if w.WorkspaceName() != oddNames[i] {
			t.Errorf("a handle on %q says %q", oddNames[i], w.WorkspaceName())
		}
		wantFilled(t, w, words[i], byte(i+1), words)
	}
	// Dropped one after the other: the rest stays.
	for i := len(open) - 1; i > 0; i -= 2 {
		if err := d.DropWorkspace(ctx, oddNames[i]); err != nil {
			t.Fatal(err)
		}
	}
	closeChecked(t, d)
	d = openTest(t, o)
	var left []string
	for i, name := range oddNames {
		w := workspace(t, d, name)
		if (len(open)-1-i)%2 == 0 && i > 0 {
			if s, err := w.Stats(ctx); err != nil || s.Documents != 0 || s.Entities != 0 || s.Stored != nil || len(s.Collections) != 0 {
				t.Errorf("dropped %q: %+v, %v", name, s, err)
			}
			continue
		}
		left = append(left, name)
		wantFilled(t, w, words[i], byte(i+1), words)
	}
	slices.Sort(left)
	if got := workspaces(t, d); !slices.Equal(got, left) {
		t.Errorf("listed %q, want %q", got, left)
	}
}

// P2 across workspaces: whatever happens in one, the logical dump of another stays what it was, byte for byte.
func TestWorkspaceLeavesOthersAlone(t *testing.T) {
	o := modelled(extracting(), llmtest.NewEmbedder(8))
	d := openTest(t, o)
	a, b := workspace(t, d, "w"), workspace(t, d, "w2")
	insert(t, a, doc("same", "E Mira (mends)"), doc("other", "E Tom (paints)\nR Tom - Mira (knows)"))
	update(t, a, func(tx *db.Tx) error { return writeAll(tx, 7) })
	want := logical(t, a)
	cached := func() string {
		s, err := a.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.Caches, s.Usage, s.Stored, s.Next)
	}
	caches := cached()
	other := llmtest.NewEmbedder(4)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"insert", func() error {
			_, err := b.Insert(ctx, doc("same", "E Mira (sings)"), doc("third", "E Zoe (runs)\nR Zoe - Mira (hears)"))
			return err
		}},
		{"put", func() error { _, err := b.Put(ctx, doc("same", "E Mira (dances)")); return err }},
		{"transaction", func() error {
			return b.Update(ctx, func(tx *db.Tx) error {
				return errors.Join(writeAll(tx, 9), tx.DropVectors("points"), tx.DropGraph("roads"))
			})
		}},
		{"edit", func() error { _, err := b.RenameEntity(ctx, "Mira", "Myra"); return err }},
		{"delete entity", func() error { _, err := b.DeleteEntity(ctx, "Zoe"); return err }},
		{"query", func() error { _, err := b.Query(ctx, "Who dances?", query.Options{}); return err }},
		{"clear caches", func() error { _, err := b.ClearCache(ctx); return err }},
		{"embed anew", func() error { _, err := b.Reembed(ctx, db.ReembedOptions{Embedder: other}); return err }},
		{"compact", func() error { return b.Compact(ctx) }},
		{"delete", func() error { _, err := b.Delete(ctx, "third"); return err }},
		{"wait", func() error { _, err := b.Enqueue(ctx, index.Insert, doc("waits", "E Ann (waits)")); return err }},
		{"drop", func() error { return b.DropWorkspace(ctx, "w2") }},
		{"load", func() error { _, err := b.Load(ctx, strings.NewReader(want)); return err }},
		{"change what was loaded", func() error { _, err := b.Delete(ctx, "other"); return err }},
		{"forget", b.Close},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		equalDumps(t, logical(t, a), want)
		if got := cached(); got != caches {
			t.Errorf("%s: caches and models of the other workspace are %s, were %s", step.name, got, caches)
		}
	}
	// Nothing waits in a, and what waited in b does not become its work.
	if s, err := a.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed+s.Failed != 0 {
		t.Errorf("processed in the other workspace: %+v, %v", s, err)
	}
}

// Replies that one workspace paid for are not another's: a hit would tell what was asked there.
func TestWorkspaceCachesAreApart(t *testing.T) {
	chat := extracting()
	d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	for i, name := range []string{"", "a", "b"} {
		insert(t, workspace(t, d, name), doc("same", "E Mira (mends)"))
		if got := len(asked(chat)); got != i+1 {
			t.Errorf("%d extraction calls after %d workspaces", got, i+1)
		}
	}
}

// A workspace is bound to the models of its first document, whatever others are bound to.
func TestWorkspacesAreBoundToTheirOwnModels(t *testing.T) {
	fs := vfs.NewMem()
	with := func(dim int) *db.DB {
		o := modelled(extracting(), llmtest.NewEmbedder(dim))
		o.FS = fs
		return openTest(t, o)
	}
	d := with(8)
	insert(t, workspace(t, d, "eight"), doc("a", "E Mira (mends)"))
	closeChecked(t, d)
	d = with(4)
	insert(t, d, doc("a", "E Tom (paints)"))
	insert(t, workspace(t, d, "four"), doc("a", "E Tom (paints)"))
	eight := workspace(t, d, "eight")
	if _, err := eight.Insert(ctx, doc("b", "E Ann (waits)")); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("insert with another model: %v", err)
	}
	if _, err := eight.Query(ctx, "Who mends?", query.Options{}); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("query with another model: %v", err)
	}
	if got := eight.Models(); got.Dim != 4 {
		t.Errorf("models in use: %+v", got)
	}
	if s, err := eight.Stats(ctx); err != nil || s.Stored == nil || s.Stored.Dim != 8 {
		t.Errorf("stored models %+v, %v", s.Stored, err)
	}
	if _, err := eight.Reembed(ctx, db.ReembedOptions{}); err != nil {
		t.Fatal(err)
	}
	insert(t, eight, doc("b", "E Ann (waits)"))
	for _, name := range []string{"", "four"} {
		insert(t, workspace(t, d, name), doc("b", "E Ann (waits)"))
	}
	// Dropped, it may be bound anew.
	if err := d.DropWorkspace(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if s, err := d.Stats(ctx); err != nil || s.Stored != nil || s.Documents != 0 {
		t.Errorf("the emptied default workspace: %+v, %v", s, err)
	}
	closeChecked(t, d)
	d = with(16)
	insert(t, d, doc("a", "E Zoe (runs)"))
}

func TestWorkspaceNames(t *testing.T) {
	d := openTest(t, testOptions(nil))
	for _, bad := range []string{"\xff", "a\xc3", strings.Repeat("x", db.MaxWorkspaceName+1)} {
		_, err := d.Workspace(bad)
		o := testOptions(nil)
		o.Workspace = bad
		_, oerr := db.Open("glim.db", db.WithOptions(o))
		for _, err := range []error{err, oerr, d.DropWorkspace(ctx, bad)} {
			var e *db.OptionError
			if !errors.As(err, &e) || !strings.Contains(strings.ToLower(e.Field), "name") && e.Field != "Workspace" || e.Want == "" {
				t.Errorf("%.20q: %v, want an *OptionError", bad, err)
			}
		}
	}
	if err := d.DropWorkspace(ctx, "never"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("drop of what is not there: %v", err)
	}
	w := workspace(t, d, "read")
	contexts(t, w, "Is anything here?")
	if _, err := w.Document(ctx, "x"); !errors.Is(err, db.ErrNotFound) {
		t.Error(err)
	}
	if got := workspaces(t, d); len(got) != 0 {
		t.Errorf("reading made the workspaces %q", got)
	}
}

// Many workspaces are listed, and opening a database reads none but its own.
func TestManyWorkspaces(t *testing.T) {
	const n = 1000
	o := testOptions(vfs.NewMem())
	d := openTest(t, o)
	var want []string
	for i := range n {
		name := fmt.Sprint("w", i)
		want = append(want, name)
		w, err := d.Workspace(name)
		if err != nil {
			t.Fatal(err)
		}
		update(t, w, func(tx *db.Tx) error { return writeAll(tx, byte(i)) })
	}
	slices.Sort(want)
	closeChecked(t, d)
	d = openTest(t, o)
	if got := workspaces(t, d); !slices.Equal(got, want) {
		t.Errorf("%d workspaces listed, want %d", len(got), n)
	}
	if live := db.LoadedWorkspaces(d); live != 1 {
		t.Errorf("%d workspaces are in memory after Open", live)
	}
	w := workspace(t, d, "w507")
	view(t, w, func(tx *db.Tx) { wantAll(t, tx, 507%256) })
	if live := db.LoadedWorkspaces(d); live != 2 {
		t.Errorf("%d workspaces are in memory after one more was used", live)
	}
	for i, err := 0, error(nil); ; i++ { // a loop that is left
		for _, err = range d.Workspaces(ctx) {
			break
		}
		if err != nil || i == 2 {
			break
		}
	}
}

// Change records tell in which workspace a commit was.
func TestChangesTellTheWorkspace(t *testing.T) {
	d := openTest(t, testOptions(nil))
	since := d.LSN()
	w := workspace(t, d, "w")
	put := func(tx *db.Tx) error { return tx.KV("k").Put([]byte("k"), nil) }
	update(t, d, put)
	update(t, w, put)
	insert(t, w, doc("a", "E Mira (mends)"))
	if err := d.DropWorkspace(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for c, err := range w.Changes(ctx, since) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind != vector.ChangeKind {
			got = append(got, c.Workspace+"/"+c.Kind)
		}
	}
	if want := []string{"/update", "w/update", "w/enqueue", "w/process", "w/index", "w/drop-workspace"}; !slices.Equal(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
}

// A transaction sees its own workspace alone, while it writes, too.
func TestTransactionsStayInTheirWorkspace(t *testing.T) {
	d := openTest(t, testOptions(nil))
	w := workspace(t, d, "w")
	update(t, d, func(tx *db.Tx) error { return writeAll(tx, 1) })
	update(t, w, func(tx *db.Tx) error {
		if _, err := tx.Vectors("points"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("collection of the other workspace: %v", err)
		}
		if _, err := tx.Graph("roads"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("graph of the other workspace: %v", err)
		}
		if _, err := tx.KV("state").Get([]byte("n")); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("key of the other workspace: %v", err)
		}
		if names, err := tx.VectorNames(); err != nil || len(names) != 0 {
			t.Errorf("collections %v, %v", names, err)
		}
		if err := writeAll(tx, 2); err != nil {
			return err
		}
		_, err := tx.CreateGraph("more", graph.Config{Directed: true})
		wantAll(t, tx, 2)
		return err
	})
	view(t, d, func(tx *db.Tx) { wantAll(t, tx, 1) })
	view(t, w, func(tx *db.Tx) { wantAll(t, tx, 2) })
}
