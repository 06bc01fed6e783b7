//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The first Ctrl-C ends the answer and keeps the session, one while nothing is answered ends it.
func TestInterruptEndsTheAnswerThenTheSession(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "insert", filepath.FromSlash("../../testdata/corpus/skarn-light.md"))
	reached := make(chan struct{})
	var once sync.Once
	m := newFakeModel(func(body string, r *http.Request) {
		if strings.Contains(body, "slowly") && strings.Contains(body, "Reference list") {
			once.Do(func() { close(reached) })
			<-r.Context().Done()
		}
	})
	defer m.Close()
	cmd := exec.Command("glim", "chat")
	cmd.Env = append(os.Environ(), "GLIM_DB="+dir, "GLIM_BASE_URL="+m.URL+"/v1", "GLIM_CHAT_MODEL=fake", "GLIM_API_KEY=secret", "NO_COLOR=1")
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	ask("Who designed it, slowly?")
	<-reached
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ask("Who designed it?")
	answered, ended := false, make(chan struct{})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if answered = answered || strings.HasPrefix(lines.Text(), "Edith Calloway designed it"); answered && strings.HasPrefix(lines.Text(), "mix |") {
			// An interrupt that comes before the prompt is not for it, and one that comes after the session has ended ends the
			// process where it stands: ever longer waits leave it the time to end.
			go func() {
				for wait := 10 * time.Millisecond; cmd.Process.Signal(os.Interrupt) == nil; wait *= 3 {
					select {
					case <-ended:
						return
					case <-time.After(wait):
					}
				}
			}()
		}
	}
	err = cmd.Wait()
	close(ended)
	if cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if want := "glim: interrupted\nglim: interrupted\n"; !answered || errs.String() != want {
		t.Errorf("answered %v, got %q, want %q", answered, &errs, want)
	}
	must(t, dir, "check")
}
