package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// Fifty acknowledged inserts, the process is killed, and the end of its log is torn off. What was
// acknowledged before the torn place is there, whole, and a second recovery finds what came after the first.
func TestHC04_TornLogTail(t *testing.T) {
	const inserts = 50
	for _, cut := range []int64{0, 1, 7, 64, 200, 5000} {
		t.Run(fmt.Sprint("cut ", cut), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "glim.db")
			p := startChild(t, childInserts, dir)
			written := make([]int64, inserts+1)
			var name string
			for i := 1; i <= inserts; i++ {
				var n int
				if _, err := fmt.Sscan(p.line(), &n, &name, &written[i]); err != nil || n != i {
					t.Fatal(n, err)
				}
				if i < inserts {
					if _, err := io.WriteString(p.in, "\n"); err != nil {
						t.Fatal(err)
					}
				}
			}
			p.kill()
			end := written[inserts] - cut
			if err := os.Truncate(filepath.Join(dir, name), end); err != nil {
				t.Fatal(err)
			}
			whole := 0 // inserts that lie before the cut
			for i := 1; i <= inserts; i++ {
				if written[i] <= end {
					whole = i
				}
			}
			if cut <= 200 && whole < inserts-2 {
				t.Fatalf("a cut of %d bytes leaves %d inserts", cut, whole)
			}
			d, err := db.Open(dir, db.WithOptions(tailOptions()))
			if err != nil {
				t.Fatalf("first reopening: %v", err)
			}
			checkDB(t, d)
			for i := 1; i <= whole; i++ {
				if info := get(t, d, tailDocument(i).ID); info.Status != "processed" || info.Entities != 2 {
					t.Errorf("insert %d of %d before the cut: %+v", i, whole, info)
				}
			}
			if _, err := d.Process(ctx, index.ProcessOptions{}); err != nil { // one may be left waiting by the cut
				t.Fatal(err)
			}
			for i := inserts + 1; i <= inserts+5; i++ {
				insert(t, d, tailDocument(i))
			}
			// The second kill: a copy of the directory as it stands, while the database is open.
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			want := logical(t, d)
			closeChecked(t, d)
			for _, dir := range []string{dir, copied} {
				d, err := db.Open(dir, db.WithOptions(tailOptions()))
				if err != nil {
					t.Fatalf("second reopening: %v", err)
				}
				equalDumps(t, logical(t, d), want)
				closeChecked(t, d)
			}
		})
	}
}

// sixChunks is a document of six chunks.
func sixChunks(id string) index.Document {
	var parts []string
	for i := 1; i <= 6; i++ {
		parts = append(parts, fmt.Sprintf("E Part %d (chunk %d of six)\nE Whole (has part %d)\nR Part %d - Whole (belongs)", i, i, i, i))
	}
	return doc(id, strings.Join(parts, "\n\n"))
}

// A document is interrupted while its fourth chunk is with the model: by a power loss, by its caller, by the
// end of the process's database. It can be resumed, pays for nothing twice, and ends as if nothing had been.
func TestHC05_Resume(t *testing.T) {
	undisturbed := openTest(t, modelled(extracting(), llmtest.NewEmbedder(8)))
	insert(t, undisturbed, doc("before", "E Whole (known before)"), sixChunks("six"))
	want := logical(t, undisturbed)

	for _, how := range []string{"kill", "cancel", "close"} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprint(how, workers), func(t *testing.T) {
				entered := make(chan struct{})
				held := llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "Part 4", Times: 1, Entered: entered, Gate: make(chan struct{})}
				chat := extracting(held)
				fs := testkit.NewCrashFS(1)
				o := modelled(chat, llmtest.NewEmbedder(8))
				o.FS, o.Index.ChunkWorkers = fs, workers
				d, err := db.Open("glim.db", db.WithOptions(o))
				if err != nil {
					t.Fatal(err)
				}
				insert(t, d, doc("before", "E Whole (known before)"))
				before := logical(t, d)
				cancelled, cancel := context.WithCancel(ctx)
				defer cancel()
				result := make(chan error, 1)
				if _, err := d.Enqueue(ctx, index.Insert, sixChunks("six")); err != nil {
					t.Fatal(err)
				}
				others := map[int]int{1: 3, 4: 5}[workers] // that are done while the fourth is with the model
				paid := make(chan struct{})
				go func() {
					_, err := d.Process(cancelled, index.ProcessOptions{Progress: func(p index.Progress) {
						if p.Stage == index.StageExtract && p.ChunksDone == others {
							close(paid)
						}
					}})
					result <- err
				}()
				<-entered
				<-paid
				switch how {
				case "kill":
					next := fs.Crash()
					_ = d.Close() // a database without a disk may say so
					if err := <-result; err == nil {
						t.Fatal("acknowledged without a disk")
					}
					o.FS = next
				case "cancel":
					cancel()
					if err := <-result; !errors.Is(err, context.Canceled) {
						t.Errorf("the call returned %v", err)
					}
					info := get(t, d, "six")
					if info.Status != "pending" || info.Visible || info.Chunks != 0 || entity(t, d, "Part 1") != nil {
						t.Errorf("half visible: %+v", info)
					}
					closeChecked(t, d)
				case "close":
					if err := d.Close(); err != nil {
						t.Error(err)
					}
					if err := <-result; !errors.Is(err, db.ErrClosed) {
						t.Errorf("the call returned %v", err)
					}
				}
				d = openTest(t, o)
				info := get(t, d, "six")
				if (info.Status != "pending" && info.Status != "processing") || info.Visible {
					t.Fatalf("not resumable: %+v", info)
				}
				var listed []string
				for i, err := range d.Documents(ctx, index.Filter{Status: info.Status}) {
					if err != nil {
						t.Fatal(err)
					}
					listed = append(listed, i.ID)
				}
				if !slices.Equal(listed, []string{"six"}) {
					t.Errorf("%q are listed as %s", listed, info.Status)
				}
				for _, part := range []string{"Part 1", "Part 3", "Part 4"} {
					if entity(t, d, part) != nil {
						t.Errorf("half visible: %s", part)
					}
				}
				chat.Reset()
				if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 || s.Failed != 0 {
					t.Fatalf("resume: %+v, %v", s, err)
				}
				if n := chat.Count(llm.PurposeExtract); n != 6-others {
					t.Errorf("%d extraction calls to resume, want the %d that were not paid for: %q", n, 6-others, asked(chat))
				}
				equalDumps(t, logical(t, d), want)
				if _, err := d.Delete(ctx, "six"); err != nil {
					t.Fatal(err)
				}
				equalDumps(t, logical(t, d), before)
				chat.Reset()
				insert(t, d, sixChunks("six"))
				if n := len(chat.Calls()); n != 0 {
					t.Errorf("%d calls for what was paid for", n)
				}
				equalDumps(t, logical(t, d), want)
			})
		}
	}
}

// A second process gets ErrLocked, for writing and for reading, and does not disturb the first; once that is
// killed the directory opens at once.
func TestHC18_SecondProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	p := startChild(t, childInserts, dir)
	p.line()
	acked := 1
	link := filepath.Join(t.TempDir(), "link")
	names := []string{dir, dir + string(filepath.Separator), link}
	if err := os.Symlink(dir, link); err != nil {
		t.Logf("no links here: %v", err)
		names = slices.DeleteFunc(names, func(s string) bool { return s == link })
	}
	for _, name := range names {
		for _, readOnly := range []bool{false, true} {
			o := tailOptions()
			o.ReadOnly = readOnly
			d, err := db.Open(name, db.WithOptions(o))
			if !errors.Is(err, db.ErrLocked) {
				t.Errorf("%s, read-only %v: %v, want ErrLocked", filepath.Base(name), readOnly, err)
			}
			if d != nil {
				t.Error("a database beside the error")
			}
			if _, err := io.WriteString(p.in, "\n"); err != nil {
				t.Fatal(err)
			}
			p.line() // the first goes on
			acked++
		}
	}
	p.kill()
	d, err := db.Open(dir, db.WithOptions(tailOptions()))
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	for i := 1; i <= acked; i++ {
		if info := get(t, d, tailDocument(i).ID); info.Status != "processed" {
			t.Errorf("acknowledged insert %d: %+v", i, info)
		}
	}
	if _, err := db.Open(dir, db.WithOptions(tailOptions())); !errors.Is(err, db.ErrLocked) {
		t.Errorf("a second database of one process: %v", err)
	}
	closeChecked(t, d)
	o := tailOptions()
	o.ReadOnly = true
	if d, err = db.Open(dir, db.WithOptions(o)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Insert(ctx, tailDocument(99)); !errors.Is(err, db.ErrReadOnly) {
		t.Errorf("insert into a read-only database: %v", err)
	}
	closeChecked(t, d)
}
