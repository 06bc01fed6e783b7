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

// Causes of an entry of a folder, or of an argument, that is left out.
var (
	errDatabase   = errors.New("the directory of a database")
	errRepository = errors.New("a version control repository")
	errLink       = errors.New("a link; name it to read what it leads to")
)

// expand turns arguments (files, folders, globs) into a sorted list of paths without repeats. Folders
// are walked; hidden entries in them are left out, databases, repositories and links with a word to skip.
// An argument that matches nothing is an error of its own in errs.
func expand(args []string, skip func(path string, why error)) (paths []input, errs []error) {
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
				errs = append(errs, walk(m, add, skip)...)
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

func walk(root string, add func(string, bool), skip func(string, error)) (errs []error) {
	refuse := func(p string, err error) { errs = append(errs, &inputError{p, cause(err)}) }
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			refuse(p, err)
		case d.IsDir():
			if p != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			why, err := foreign(p)
			switch {
			case err != nil:
				refuse(p, err)
			case why == nil:
				return nil
			case p == root: // it was asked for by name
				refuse(p, why)
			default:
				skip(p, why)
			}
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), "."):
		case d.Type().IsRegular():
			add(p, true)
		case d.Type()&fs.ModeSymlink != 0:
			// It may lead out of the folder, or to a file of it, which would be read twice.
			skip(p, errLink)
		}
		return nil
	})
	if err != nil {
		refuse(root, err)
	}
	return errs
}

// foreign says why the files of a folder are no documents: it is a database (ours, or any other of Pebble,
// RocksDB or LevelDB) or the inside of a Git repository. nil for any other folder.
func foreign(dir string) (why, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool)
	for _, e := range entries {
		name := e.Name()
		if prefix, number, ok := strings.Cut(name, "-"); ok && prefix == "MANIFEST" && strings.Trim(number, "0123456789") == "" {
			name = prefix
		} else if strings.HasPrefix(name, "marker.manifest.") {
			name = "CURRENT" // Pebble's
		}
		has[name] = true
	}
	switch {
	case has["MANIFEST"] && has["CURRENT"]:
		return errDatabase, nil
	case has["HEAD"] && has["objects"] && has["refs"]:
		return errRepository, nil
	}
	return nil, nil
}

// cause drops the path that os errors repeat.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// read yields the inputs one by one; an error belongs to one input only. It stops when ctx ends.
func read(ctx context.Context, inputs []input, stdin io.Reader, stdinID string) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		for _, in := range inputs {
			if ctx.Err() != nil {
				return
			}
			f, err := readOne(ctx, in, stdin, stdinID)
			if err != nil && ctx.Err() != nil {
				return // nothing is wrong with this input
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// pathID is the id of the document that a file becomes.
func pathID(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

func readOne(ctx context.Context, in input, stdin io.Reader, stdinID string) (file, error) {
	f := file{id: pathID(in.path), walked: in.walked}
	r := stdin
	if in.path == stdinArg {
		f.id = stdinID
	} else {
		h, st, err := openInput(ctx, in.path)
		if err != nil {
			return f, &inputError{in.path, cause(err)}
		}
		defer h.Close()
		f.time = st.ModTime()
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
