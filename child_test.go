package db_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// Tests that need a process of their own, to kill it or to deprive it of something, run the test program
// again with these variables set: what the child does, and in which directory.
const (
	childEnv    = "GLIM_TEST_CHILD"
	childDirEnv = "GLIM_TEST_CHILD_DIR"
)

// Modes of a child.
const (
	childInserts = "inserts" // inserts fifty documents, telling each and the size of the log, and waits
	childOffline = "offline" // works without a network
	childStorm   = "storm"   // changes all kinds of data at once, telling each change, until it is killed
)

func child(mode, dir string) error {
	switch mode {
	case childInserts:
		return insertAndWait(dir)
	case childStorm:
		return storm(dir)
	case childOffline:
		return workOffline(dir)
	}
	return fmt.Errorf("unknown mode %q", mode)
}

// process is a running child.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, mode, dir string, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+mode, childDirEnv+"="+dir), env...)
	return start(t, cmd)
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(p.kill)
	return p
}

// line returns the next line the child wrote.
func (p *process) line() string {
	p.t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the child ended after %q: %v", s, err)
	}
	return strings.TrimSpace(s)
}

// kill ends the child without a warning.
func (p *process) kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // says that it was killed
}

// insertAndWait inserts documents one by one until its input ends.
func insertAndWait(dir string) error {
	d, err := db.Open(dir, db.WithOptions(tailOptions()))
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	for i := 1; ; i++ {
		if _, err := d.Insert(ctx, tailDocument(i)); err != nil {
			return err
		}
		log, err := newestLog(dir)
		if err != nil {
			return err
		}
		fmt.Println(i, filepath.Base(log.path), log.written)
		if _, err := in.ReadString('\n'); err != nil {
			return d.Close()
		}
	}
}

func tailOptions() db.Options {
	return db.Options{Extractor: scripted{}, LexicalDim: 64, Now: clock}
}

func tailDocument(i int) index.Document {
	return index.Document{ID: fmt.Sprintf("doc-%02d", i), Text: fmt.Sprintf("E Tide Mill (fact %d)\nE Wheel %d (turns)\nR Tide Mill - Wheel %d (drives)\n", i, i, i)}
}

type logFile struct {
	path    string
	written int64 // bytes up to the last that is not zero: a log may be longer than what was written to it
}

func newestLog(dir string) (logFile, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		return logFile{}, fmt.Errorf("no log in %s: %w", dir, err)
	}
	newest := slices.Max(logs)
	b, err := os.ReadFile(newest)
	if err != nil {
		return logFile{}, err
	}
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return logFile{newest, int64(n)}, nil
}
