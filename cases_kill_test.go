package db_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// The storm: stormWriters insert, replace and delete documents of their own, and one more writes transactions
// over keys, vectors and a graph, all at once, until the process is killed.
const (
	stormWriters = 2
	stormIDs     = 4 // of each writer
	stormTx      = "tx"
)

// storm tells each change before it is begun and after it is acknowledged. A line reaches the parent even if
// the process is killed right after.
//
//	try WRITER ID VERSION
//	ack WRITER
//
// Version 0 is a delete. The transactions are those of writer "tx", on the ID "tx".
func storm(dir string) error {
	d, err := db.Open(dir, db.WithOptions(tailOptions()))
	if err != nil {
		return err
	}
	var (
		say  sync.Mutex
		errs = make(chan error, stormWriters+1)
	)
	tell := func(args ...any) {
		say.Lock()
		defer say.Unlock()
		fmt.Println(args...)
	}
	for w := range stormWriters {
		go func() {
			for version := 1; ; version++ {
				id := fmt.Sprintf("doc-%d-%d", w, rand.IntN(stormIDs))
				_, err := d.Document(ctx, id)
				if there := err == nil; there && rand.IntN(3) == 0 {
					tell("try", w, id, 0)
					_, err = d.Delete(ctx, id)
				} else {
					version += rand.IntN(1 << 20) // unlike any of an earlier process
					tell("try", w, id, version)
					_, err = d.Put(ctx, stormDocument(id, version))
				}
				if err != nil {
					errs <- err
					return
				}
				tell("ack", w)
			}
		}()
	}
	go func() {
		for n := byte(1); ; n = n%250 + 1 {
			tell("try", stormTx, stormTx, n)
			if err := d.Update(ctx, func(tx *db.Tx) error { return writeAll(tx, n) }); err != nil {
				errs <- err
				return
			}
			tell("ack", stormTx)
		}
	}()
	return <-errs // ends the process, and the parent's test
}

// stormDocument says of which version it is in its text, its graph and its vectors; all share one entity.
func stormDocument(id string, version int) index.Document {
	return index.Document{ID: id, Text: fmt.Sprintf("E Tide Mill (fact %d of %s)\nE Wheel %s (turns %d)\nR Tide Mill - Wheel %s (drives %d)",
		version, id, id, version, id, version)}
}

// stormState is what the parent knows of the database: the acknowledged version of each ID, and the change of
// each writer that was told and not acknowledged.
type stormState struct {
	acked  map[string]int
	flying map[string]change // by writer
}

type change struct {
	id      string
	version int
}

// hear takes in one line of the child.
func (s *stormState) hear(line string) error {
	var verb, writer string
	var c change
	if n, _ := fmt.Sscan(line, &verb, &writer, &c.id, &c.version); n == 4 && verb == "try" {
		s.flying[writer] = c
		return nil
	} else if n == 2 && verb == "ack" {
		c = s.flying[writer]
		s.acked[c.id] = c.version
		delete(s.flying, writer)
		return nil
	}
	return fmt.Errorf("the child said %q", line)
}

// may lists the versions that an ID may have: the acknowledged one, and that of a change that was under way.
func (s *stormState) may(id string) []int {
	versions := []int{s.acked[id]}
	for _, c := range s.flying {
		if c.id == id {
			versions = append(versions, c.version)
		}
	}
	return versions
}

// A real process on a real disk is killed at random moments of a storm of changes, again and again on the same
// directory. After each kill the database opens and checks clean, what was acknowledged is there, what was under
// way is wholly there or wholly absent, and the whole equals an undisturbed run byte for byte. The moments are those of the machine, so a failure
// does not repeat at will.
func TestHC03_KilledProcess(t *testing.T) {
	kills := 25
	if testing.Short() {
		kills = 5
	}
	dir := filepath.Join(t.TempDir(), "glim.db")
	s := &stormState{acked: make(map[string]int), flying: make(map[string]change)}
	acks, interrupted := 0, 0
	for range kills {
		n := rand.IntN(120) // lines before the kill: some children have hardly begun
		p := startChild(t, childStorm, dir)
		for i := 0; ; i++ {
			if i == n {
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // between two file operations
				if err := p.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			line, err := p.out.ReadString('\n')
			if errors.Is(err, io.EOF) && i >= n {
				break
			}
			if err == nil {
				err = s.hear(strings.TrimSpace(line))
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, "ack") {
				acks++
			}
		}
		p.kill()
		interrupted += len(s.flying)
		s.verify(t, dir)
	}
	t.Logf("%d kills, %d acknowledged changes, %d under way when the process was killed", kills, acks, interrupted)
	if acks == 0 || interrupted == 0 {
		t.Error("no change was ever acknowledged, or none was ever interrupted")
	}
}

// verify opens what a killed process left, and makes it the new acknowledged state.
func (s *stormState) verify(t *testing.T, dir string) {
	t.Helper()
	d, err := db.Open(dir, db.WithOptions(tailOptions()))
	if err != nil {
		t.Fatalf("reopening: %v", err)
	}
	defer func() { closeChecked(t, d) }()
	checkDB(t, d)
	found := s.documents(t, d) // before anything is resumed
	// A replacement that waits is finished now, and nothing else changes.
	sum, err := d.Process(ctx, index.ProcessOptions{})
	if err != nil || sum.Failed != 0 {
		t.Fatalf("resume: %+v, %v", sum, err)
	}
	resumed := s.documents(t, d)
	for id := range s.acked {
		if found[id] != resumed[id] && len(s.may(id)) == 1 {
			t.Errorf("%s was of version %d and is of %d after resuming, though nothing was under way", id, found[id], resumed[id])
		}
	}
	n := s.transaction(t, d)
	s.acked, s.flying = resumed, make(map[string]change)
	s.acked[stormTx] = n
	equalDumps(t, logical(t, d), undisturbed(t, d, resumed, n))
}

// documents returns the visible version of each document, and wants each to be one that may be.
func (s *stormState) documents(t *testing.T, d *db.DB) map[string]int {
	t.Helper()
	versions := make(map[string]int)
	for info, err := range d.Documents(ctx, index.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !info.Visible {
			if !slices.Contains([]string{"pending", "processing"}, info.Status) || len(s.may(info.ID)) == 1 {
				t.Errorf("%s is %s and invisible", info.ID, info.Status)
			}
			continue
		}
		text, err := d.Text(ctx, info.ID)
		if err != nil {
			t.Fatal(err)
		}
		var v int
		if _, err := fmt.Sscanf(text, "E Tide Mill (fact %d", &v); err != nil || text != stormDocument(info.ID, v).Text {
			t.Fatalf("%s: text %q, %v", info.ID, text, err)
		}
		versions[info.ID] = v
	}
	ids := slices.Collect(maps.Keys(s.acked))
	for _, c := range s.flying {
		ids = append(ids, c.id)
	}
	for _, id := range append(ids, slices.Collect(maps.Keys(versions))...) {
		if id != stormTx && !slices.Contains(s.may(id), versions[id]) {
			t.Errorf("%s is of version %d, want one of %v (0: absent)", id, versions[id], s.may(id))
		}
	}
	return versions
}

// transaction returns the number of the last transaction, 0 for none, and wants all of it.
func (s *stormState) transaction(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	view(t, d, func(tx *db.Tx) {
		got, err := tx.KV("state").Get([]byte("n"))
		if err == nil {
			n = int(got[0])
			wantAll(t, tx, got[0])
		} else if !errors.Is(err, db.ErrNotFound) {
			t.Fatal(err)
		}
	})
	if !slices.Contains(s.may(stormTx), n) {
		t.Errorf("transaction %d, want one of %v", n, s.may(stormTx))
	}
	return n
}

// undisturbed is the dump of a database that got the documents of d, in their order, and transaction n.
func undisturbed(t *testing.T, d *db.DB, versions map[string]int, n int) string {
	t.Helper()
	o := tailOptions()
	o.FS = vfs.NewMem()
	fresh := openTest(t, o)
	if mill := entity(t, d, "Tide Mill"); mill != nil {
		for _, chunk := range mill.Sources { // in order of the documents
			id, _, _ := strings.Cut(chunk, "-chunk-")
			insert(t, fresh, stormDocument(id, versions[id]))
		}
	}
	if n > 0 {
		update(t, fresh, func(tx *db.Tx) error { return writeAll(tx, byte(n)) })
	}
	return logical(t, fresh)
}
