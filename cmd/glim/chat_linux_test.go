package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new pseudo-terminal: what a person sees and types at, and what the command gets.
func openTerminal(t *testing.T) (person, command *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		command, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	return person, command
}

// On a terminal lines are edited and remembered, and failures end nothing; a terminal that can do nothing is sent
// nothing but text.
func TestChatOnATerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "insert", filepath.FromSlash("../../testdata/corpus"))
	for _, c := range []struct {
		term string
		talk []string // what is typed, and then waited for
		code int
	}{
		{"xterm", []string{"", "> ", "Who desighn\x7f\x7fned Skarn Lihgt\x1b[D\x7f\x1b[D\x7fgh\x1b[C?\r", "Edith Calloway", "", "every step",
			"/modes\r", "no command", "\x1b[A\x7f\r", "mode mix", "青石港灯塔\r", "周海生", "\x04", ""}, exitOK},
		{"xterm", []string{"", "> ", "half a question \x03", "again ends", "", "> ", "Who designed Skarn Light?\r", "Edith Calloway", "", "every step", "",
			"> ", "\x03", "again ends", "", "> ", "\x03", ""}, exitInterrupted},
		{"dumb", []string{"", "> ", "half a question \x03", "again ends", "", "> ", "Who designed Skarn Light?\r", "Edith Calloway", "", "every step", "",
			"> ", "\x03", "again ends", "", "> ", "\x03", ""}, exitInterrupted},
		{"dumb", []string{"", "> ", "Who designed Skarn Light?\r", "Edith Calloway", "", "every step", "/modes\r", "no command", "\x04", ""}, exitOK},
	} {
		person, command := openTerminal(t)
		cmd := exec.Command("glim", "chat")
		cmd.Env = append(os.Environ(), "GLIM_DB="+dir, "GLIM_OFFLINE=true", "NO_COLOR=1", "TERM="+c.term)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = command, command, command
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		command.Close()
		var seen strings.Builder
		part := make([]byte, 4096)
		all := "" // that was seen since something was waited for
		for i := 0; i < len(c.talk); i += 2 {
			if _, err := person.WriteString(c.talk[i]); err != nil {
				t.Fatal(err)
			}
			for !strings.Contains(all, c.talk[i+1]) || c.talk[i+1] == "" {
				n, err := person.Read(part)
				all += string(part[:n])
				seen.Write(part[:n])
				if err != nil { // the command has ended
					break
				}
			}
			if _, rest, ok := strings.Cut(all, c.talk[i+1]); ok && c.talk[i+1] != "" {
				all = rest
			} else if c.talk[i+1] != "" {
				t.Fatalf("%s: ended without %q after %q: %q", c.term, c.talk[i+1], c.talk[i], &seen)
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%s: ended with %v, want exit code %d: %q", c.term, err, c.code, &seen)
		}
		if c.term == "dumb" && strings.Contains(seen.String(), "\x1b") {
			t.Errorf("dumb: escape sequences in %q", &seen)
		}
		if strings.Contains(seen.String(), "lines failed") {
			t.Errorf("%s: who typed is told again: %q", c.term, &seen)
		}
	}
	must(t, dir, "check")
}
