package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// await returns what f does, or the context's error as soon as the context ends. It is for calls that no
// signal ends: opening a pipe that nobody writes to, reading a terminal. A call that was given up goes on
// in its goroutine until the process ends, which is next; so f touches nothing that its caller uses then.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// waitBytes is what a reader that waits asks for at a time, as much as a pipe of Linux holds.
const waitBytes = 64 << 10

// waiter reads what may keep its reader waiting: it fails with the context's error once the context ends.
type waiter struct {
	ctx  context.Context
	src  io.Reader
	buf  []byte // src reads into it, also after it was given up
	rest []byte // of buf, not yet returned
	err  error  // of src or of the context; sticks
}

func newWaiter(ctx context.Context, src io.Reader) *waiter {
	return &waiter{ctx: ctx, src: src, buf: make([]byte, waitBytes)}
}

func (w *waiter) Read(p []byte) (int, error) {
	if len(w.rest) == 0 && w.err == nil {
		var n int
		n, w.err = await(w.ctx, func() (int, error) { return w.src.Read(w.buf) })
		w.rest = w.buf[:n]
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	if len(w.rest) > 0 {
		return n, nil
	}
	return n, w.err
}

// openInput opens a file to read. Where that may take for ever, as with a pipe, the end of the context ends
// the opening and every read.
func openInput(ctx context.Context, name string) (io.ReadCloser, os.FileInfo, error) {
	f, err := await(ctx, func() (*os.File, error) { return os.Open(name) })
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil || st.Mode().IsRegular() {
		return f, st, err
	}
	return struct {
		io.Reader
		io.Closer
	}{newWaiter(ctx, f), f}, st, nil
}

// given opens the one file that a command may be given, or standard input without one, and tells its name.
func (a *app) given(ctx context.Context, args []string) (io.ReadCloser, string, error) {
	if len(args) == 0 || args[0] == stdinArg {
		return io.NopCloser(a.in), "standard input", nil
	}
	f, _, err := openInput(ctx, args[0])
	if errors.Is(err, fs.ErrNotExist) {
		err = notFound("", "no file %s", args[0])
	}
	return f, args[0], err
}
