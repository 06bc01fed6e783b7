package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code. Results go to stdout, everything else to
// stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	a := newApp(stdin, stdout, stderr, getenv)
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil {
		err = &exitError{exitInterrupted, fmt.Errorf("interrupted: what was finished is kept, run the command again to go on")}
	}
	fmt.Fprintln(stderr, "glim:", err)
	if h := hint(err); h != "" {
		fmt.Fprintln(stderr, "      "+h)
	}
	return exitCode(err)
}
