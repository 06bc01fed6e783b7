package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/glimdb/db/vector"
)

//go:embed hnswlib/driver.cc
var driverSource []byte

// vecFiles are the data set on disk, for a process that cannot see ours.
type vecFiles struct{ base, queries string }

// hnswlibProcess is our driver around hnswlib, talked to line by line.
type hnswlibProcess struct {
	e       *env
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  strings.Builder
	answers string
}

// openHnswlib compiles the driver and starts it.
func openHnswlib(e *env) (contender, error) {
	if err := e.compileDriver(); err != nil {
		return nil, err
	}
	if e.vecs == nil {
		v := &vecFiles{filepath.Join(e.temp, "base.fvecs"), filepath.Join(e.temp, "queries.fvecs")}
		if err := errors.Join(writeFvecs(v.base, e.data.base), writeFvecs(v.queries, e.data.queries)); err != nil {
			return nil, err
		}
		e.vecs = v
	}
	space := "ip"
	if e.data.metric == vector.L2 {
		space = "l2"
	}
	p := &hnswlibProcess{e: e, answers: filepath.Join(e.temp, "answers.ivecs")}
	p.cmd = exec.CommandContext(e.ctx, e.driver, e.vecs.base, e.vecs.queries, space, strconv.Itoa(e.m), strconv.Itoa(e.efConstruction))
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.cmd.Start()
}

// compileDriver leaves the compiled driver in e.driver.
func (e *env) compileDriver() error {
	if e.driver != "" {
		return nil
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return absent("hnswlib is left out: no g++ here (Debian: apt-get install g++ libhnswlib-dev)")
	}
	source, program := filepath.Join(e.temp, "driver.cc"), filepath.Join(e.temp, "driver")
	if err := os.WriteFile(source, driverSource, 0o644); err != nil {
		return err
	}
	args := []string{"-O3", "-march=native", "-std=c++17", "-o", program, source}
	if e.include != "" {
		args = append([]string{"-I", e.include}, args...)
	}
	if text, err := exec.CommandContext(e.ctx, compiler, args...).CombinedOutput(); err != nil {
		if strings.Contains(string(text), "hnswlib/hnswlib.h: No such file") {
			return absent("hnswlib is left out: its headers are not here (Debian: apt-get install libhnswlib-dev; or -hnswlib DIR)")
		}
		return fmt.Errorf("compile the driver of hnswlib: %w\n%s", err, text)
	}
	e.driver = program
	return nil
}

// ask sends a command and returns the fields of the answer, whose first repeats the command's.
func (p *hnswlibProcess) ask(command string, args ...any) ([]string, error) {
	line := command
	for _, a := range args {
		line += " " + fmt.Sprint(a)
	}
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return nil, fmt.Errorf("hnswlib: %s: %w: %s", line, err, p.stderr.String())
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("hnswlib: %s: no answer: %w", line, errors.Join(p.out.Err(), p.cmd.Wait(), errors.New(p.stderr.String())))
	}
	fields := strings.Split(p.out.Text(), ",")
	if fields[0] != command {
		return nil, fmt.Errorf("hnswlib: %s: answer %q", line, p.out.Text())
	}
	return fields, nil
}

// askTime sends a command whose answer ends in nanoseconds.
func (p *hnswlibProcess) askTime(command string, args ...any) (time.Duration, error) {
	fields, err := p.ask(command, args...)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
	return time.Duration(ns), err
}

func (p *hnswlibProcess) add(_ context.Context, from, to int) (time.Duration, error) {
	return p.askTime("add", from, to)
}

func (p *hnswlibProcess) search(_ context.Context, width, k int, out [][]uint32) (time.Duration, error) {
	took, err := p.askTime("search", width, k, p.answers)
	if err != nil {
		return 0, err
	}
	rows, err := readIvecs(p.answers)
	if err == nil && len(rows) != len(out) {
		err = fmt.Errorf("hnswlib: %d answers to %d queries", len(rows), len(out))
	}
	copy(out, rows)
	return took, err
}

func (p *hnswlibProcess) bytes() (float64, error) {
	fields, err := p.ask("bytes")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
	return n / float64(p.e.data.base.rows()), err
}

// close ends the process by ending its input.
func (p *hnswlibProcess) close() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
