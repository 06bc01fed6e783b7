package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxFileBytes bounds one file: a document is cleaned, cut and committed in memory, several copies of it
// at a time.
const maxFileBytes = 256 << 20

// stdinArg is the argument that means standard input.
const stdinArg = "-"

// file is one input document before decoding.
type file struct {
	id   string // path with forward slashes, as the user wrote it
	raw  []byte
	time time.Time
	// walked: found inside a folder, where what is no text is skipped instead of refused.
	walked bool
}

// inputError says what is wrong with one input; the others go on.
type inputError struct {
	path string
	err  error
}

func (e *inputError) Error() string { return fmt.Sprintf("%s: %v", e.path, e.err) }
func (e *inputError) Unwrap() error { return e.err }

// expand turns arguments (files, folders, globs) into a sorted list of paths without repeats. Folders
// are walked; hidden entries in them are left out. An argument that matches nothing is an error of its
// own in errs.
func expand(args []string) (paths []input, errs []error) {
	seen := make(map[string]bool)
	add := func(p string, walked bool) {
		p = filepath.Clean(p)
		if !seen[p] {
			seen[p] = true
			paths = append(paths, input{p, walked})
		}
	}
	for _, arg := range args {
		if arg == stdinArg {
			add(arg, false)
			continue
		}
		matches := []string{arg}
		if _, err := os.Lstat(arg); err != nil {
			globbed, gerr := filepath.Glob(arg)
			if gerr != nil || len(globbed) == 0 {
				errs = append(errs, &inputError{arg, cause(err)})
				continue
			}
			matches = globbed
		}
		for _, m := range matches {
			st, err := os.Stat(m)
			switch {
			case err != nil:
				errs = append(errs, &inputError{m, cause(err)})
			case st.IsDir():
				errs = append(errs, walk(m, add)...)
			default:
				add(m, false)
			}
		}
	}
	slices.SortFunc(paths, func(a, b input) int { return strings.Compare(a.path, b.path) })
	return paths, errs
}

type input struct {
	path   string
	walked bool
}

func walk(root string, add func(string, bool)) (errs []error) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			errs = append(errs, &inputError{p, cause(err)})
			return nil
		}
		if p != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			add(p, true)
		} else if d.Type()&fs.ModeSymlink != 0 {
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				add(p, true) // links to files are followed, links to folders are not: they may form a loop
			}
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return errs
}

// cause drops the path that os errors repeat.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// read yields the inputs one by one; an error belongs to one input only.
func read(ctx context.Context, inputs []input, stdin io.Reader, stdinID string) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		for _, in := range inputs {
			if ctx.Err() != nil {
				return
			}
			f, err := readOne(in, stdin, stdinID)
			if !yield(f, err) {
				return
			}
		}
	}
}

func readOne(in input, stdin io.Reader, stdinID string) (file, error) {
	f := file{id: filepath.ToSlash(in.path), walked: in.walked}
	r := stdin
	if in.path == stdinArg {
		f.id = stdinID
	} else {
		h, err := os.Open(in.path)
		if err != nil {
			return f, &inputError{in.path, cause(err)}
		}
		defer h.Close()
		if st, err := h.Stat(); err == nil {
			f.time = st.ModTime()
		}
		r = h
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return f, &inputError{in.path, cause(err)}
	}
	if len(raw) > maxFileBytes {
		return f, &inputError{in.path, fmt.Errorf("larger than %d MiB: split the file", maxFileBytes>>20)}
	}
	f.raw = raw
	return f, nil
}
