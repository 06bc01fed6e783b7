package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is seen by the write that fails
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code. Results go to stdout, everything else to
// stderr. The end of ctx ends a wait for stdin, too.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	a := newApp(newWaiter(ctx, stdin), stdout, stderr, getenv)
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(a.out.err, syscall.EPIPE):
		return exitPipe
	case a.out.err != nil:
		err = fmt.Errorf("the output could not be written: %w", cause(a.out.err))
	case err == nil:
		return exitOK
	}
	f := a.explain(err)
	f.print(a.err, a.json || slices.Contains(args, "--json")) // which the flags before a wrong one may not have told
	return f.code
}
