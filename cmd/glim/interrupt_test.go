//go:build unix

package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
