//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// An interrupted insert keeps what it finished and says so; the same command goes on and pays for nothing
// twice.
func TestInterruptKeepsWhatIsPaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	m := newFakeModel(func(body string, r *http.Request) {
		if strings.Contains(body, "Tide Mill at Pell Creek") { // the last document
			once.Do(func() { close(reached) })
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}
	})
	defer m.Close()
	corpus := filepath.FromSlash("../../testdata/corpus")
	insert := func() (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command("glim", "insert", filepath.Join(corpus, "skarn-light.md"), filepath.Join(corpus, "tide-mill.md"), "--workers", "1")
		cmd.Env = append(os.Environ(), "GLIM_DB="+dir, "GLIM_BASE_URL="+m.URL+"/v1", "GLIM_CHAT_MODEL=fake", "GLIM_API_KEY=secret", "NO_COLOR=1")
		errs := &bytes.Buffer{}
		cmd.Stderr = errs
		return cmd, errs
	}

	cmd, errs := insert()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("ended before the second document: %v: %s", err, errs)
	}

	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if want := "glim: interrupted: 1 document done, the others wait\n      run the same command again to go on"; !strings.Contains(errs.String(), want) {
		t.Errorf("got %q, want %q", errs, want)
	}
	must(t, dir, "check")
	docs := parse[[]struct{ Status string }](t, must(t, dir, "docs", "--json"))
	if len(docs) != 2 || docs[0].Status != "processed" || docs[1].Status == "processed" {
		t.Errorf("after the interrupt: %+v", docs)
	}

	close(release)
	paid := m.calls.Load()
	cmd, errs = insert()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if again := m.calls.Load() - paid; again > paid {
		t.Errorf("%d calls to go on, %d had been made: the first document was paid twice", again, paid)
	}
	docs = parse[[]struct{ Status string }](t, must(t, dir, "docs", "--json"))
	if len(docs) != 2 || docs[0].Status != "processed" || docs[1].Status != "processed" {
		t.Errorf("at the end: %+v", docs)
	}
	must(t, dir, "check")
}

// A command that waits for input ends with the first signal and says so.
func TestInterruptEndsAWaitForInput(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "source.db")
	must(t, source, "insert", filepath.FromSlash("../../testdata/corpus"))
	dump := must(t, source, "dump")
	for name, c := range map[string]struct {
		args   []string
		input  string // more than a pipe holds, so that the command has begun to read once it is written
		signal os.Signal
		says   string
	}{
		"insert":       {[]string{"insert", "-"}, strings.Repeat("Maren Holt keeps Skarn Light.\n", 1<<13), os.Interrupt, "glim: interrupted: nothing was stored\n"},
		"insert pipe":  {[]string{"insert", "pipe"}, "Maren Holt", os.Interrupt, "glim: interrupted: nothing was stored\n"},
		"dry run pipe": {[]string{"insert", "pipe", "--dry-run"}, "Maren Holt", os.Interrupt, "glim: interrupted\n"},
		"terminate":    {[]string{"insert", "pipe"}, "Maren Holt", syscall.SIGTERM, "glim: interrupted: nothing was stored\n"},
		"query":        {[]string{"query", "-"}, strings.Repeat(" ", 1<<18), os.Interrupt, "glim: interrupted\n"},
		"load":         {[]string{"load"}, dump[:len(dump)-1], os.Interrupt, "glim: interrupted: nothing was loaded\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			pipe, db := filepath.Join(folder, "pipe"), filepath.Join(folder, "glim.db")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("glim", c.args...)
			cmd.Dir = folder
			cmd.Env = append(os.Environ(), "GLIM_DB="+db, "NO_COLOR=1")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			input, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(c.args, "pipe") {
				if input, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil { // returns once the command has opened it
					t.Fatal(err)
				}
			}
			defer input.Close()
			if _, err := io.WriteString(input, c.input); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
				t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
			}
			if errs.String() != c.says {
				t.Errorf("got %q, want %q", &errs, c.says)
			}
			if _, err := os.Stat(db); err == nil {
				t.Errorf("a database was left behind")
			}
		})
	}
}

// Nobody ever opens the other end of this pipe.
func TestInterruptEndsTheOpeningOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := openInput(ctx, pipe); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	other, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets the opening end
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
}
