package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// childEnv holds the task of a process that a measure starts: to be killed, or to have memory of its own.
const childEnv = "GLIM_ANN_CHILD"

// task is what a child does. Each answer is one line on its output.
type task struct {
	// Do is "storm": insert the rows of a file and tell of every commit; or "memory": open a database,
	// search, and tell what memory that takes.
	Do     string
	Dir    string // of the database
	Rows   string // file of the rows, or of queries
	Config vector.Config
	Limit  int64 // of the rows in memory
}

// child does a task that was given as JSON.
func child(ctx context.Context, text string, out io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	switch t.Do {
	case "storm":
		return storm(ctx, t, out)
	case "memory":
		return weigh(ctx, t, out)
	}
	return fmt.Errorf("no task is called %q", t.Do)
}

// process is a child at work.
type process struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	stderr strings.Builder
}

func startChild(ctx context.Context, t task) (*process, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.cmd.Start()
}

// ended returns why a child that has nothing more to say is gone.
func (p *process) ended() error {
	return errors.Join(p.out.Err(), p.cmd.Wait(), errors.New(p.stderr.String()))
}

// storm inserts rows until it is killed. A line tells the number of rows that are committed.
func storm(ctx context.Context, t task, out io.Writer) error {
	rows, err := readFvecs(t.Rows)
	if err != nil {
		return err
	}
	d, err := db.Open(t.Dir, alwaysIndexed())
	if err != nil {
		return err
	}
	for at := 0; at < rows.rows(); at += writeBatch {
		to := min(at+writeBatch, rows.rows())
		if err := put(ctx, d, collectionName, t.Config, rows.slice(at, to), at, writeBatch); err != nil {
			return err
		}
		fmt.Fprintln(out, to)
	}
	<-ctx.Done() // the kill is under way
	return ctx.Err()
}

// weight is the memory of a process with a database open.
type weight struct {
	Heap  int64 // bytes of the heap in use that opening and searching have added
	Set   int64 // bytes that they have added to the resident set; 0 where that is not known
	Cache int64 // of these, blocks and memtables of the storage engine

	// What the collection tells of itself: vectors, and bytes in memory, all and by kind.
	Live               int
	Bytes              int64
	Rows, Codes, Links int64
}

// weigh opens a database, searches, and tells what is in memory then.
func weigh(ctx context.Context, t task, out io.Writer) error {
	queries, err := readFvecs(t.Rows)
	if err != nil {
		return err
	}
	heap, set := inUse()
	d, err := db.Open(t.Dir, db.WithOptions(db.Options{CacheBytes: weighCache,
		Vectors: db.VectorOptions{ExactBytes: -1, MemoryBytes: t.Limit}}))
	if err != nil {
		return err
	}
	if err := d.Settle(ctx); err != nil {
		return err
	}
	for i := range queries.rows() {
		if _, err := find(ctx, d, collectionName, queries.row(i), vector.SearchOptions{K: figureK}); err != nil {
			return err
		}
	}
	var w weight
	w.Heap, w.Set = inUse()
	runtime.KeepAlive(queries) // counted before, too
	w.Heap, w.Set = w.Heap-heap, w.Set-set
	m, err := d.Metrics()
	if err != nil {
		return err
	}
	w.Cache = m.CacheBytes
	st, err := statsOf(ctx, d, collectionName)
	if err != nil {
		return err
	}
	w.Live, w.Bytes, w.Rows, w.Codes, w.Links = st.Live, st.Bytes, st.Memory.Rows, st.Memory.Codes, st.Memory.Links
	return errors.Join(json.NewEncoder(out).Encode(w), d.Close())
}

// inUse returns the heap in use and the resident set after everything unreachable was given back.
func inUse() (heap, set int64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse), residentSet()
}
