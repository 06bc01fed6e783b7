package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
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

// readAhead takes standard input into memory when it is one of the inputs: whoever writes it may take their time, or ask
// the database itself, which an insert locks.
func (a *app) readAhead(ctx context.Context, inputs []input) error {
	if !slices.ContainsFunc(inputs, func(in input) bool { return in.path == stdinArg }) {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.in, maxFileBytes+1))
	if ctx.Err() != nil {
		return &failure{code: exitInterrupted, err: ctx.Err(), what: "interrupted: nothing was stored"}
	}
	a.in = io.MultiReader(bytes.NewReader(raw), ending{err})
	return nil
}

// ending is a reader that ends with an error, or without one.
type ending struct{ err error }

func (e ending) Read([]byte) (int, error) { return 0, cmp.Or(e.err, io.EOF) }

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
