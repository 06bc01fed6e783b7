package main

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) dumpCommand() *cobra.Command {
	var to target
	var logical bool
	cmd := &cobra.Command{
		Use:   "dump",
		Short: "Write everything as JSON Lines",
		Long:  "Dump writes the whole logical state, sorted, one JSON object a line; `glim load` reads it back.",
		Example: `  glim dump --output backup.jsonl
  glim dump | zstd > backup.jsonl.zst`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				return a.write(to, func(w io.Writer) error { return d.Dump(cmd.Context(), w, db.DumpOptions{Logical: logical}) })
			})
		},
	}
	to.flags(cmd.Flags())
	cmd.Flags().BoolVar(&logical, "logical", false, "leave out what may differ between equal databases (times)")
	return cmd
}

// target is where a large result goes.
type target struct {
	file  string // empty or "-": standard output
	force bool
	flag  string // that names the file; empty: --output
}

func (t *target) flags(fl *pflag.FlagSet) {
	fl.StringVarP(&t.file, "output", "o", "", "write to this `file` instead of standard output")
	fl.BoolVar(&t.force, "force", false, "replace the file of --output if it exists")
}

// write writes through a buffer to standard output, or to a file that takes its name only when it is whole
// and on disk, and tells what was written. What is no regular file, such as a pipe, is written as it is.
func (a *app) write(to target, f func(io.Writer) error) error {
	if to.stdout() {
		return buffered(a.out, f)
	}
	n, regular, err := to.create(f)
	switch {
	case err != nil || !regular:
		return err
	case a.json:
		return a.out.json(map[string]any{"file": to.file, "bytes": n})
	}
	a.out.printf("%s: %s written\n", to.file, bytesOf(n))
	return nil
}

func (t *target) stdout() bool { return t.file == "" || t.file == stdinArg }

func (t *target) named() string { return cmp.Or(t.flag, "--output") }

// place is where the file is written until it is whole: the file itself when it is no regular one. What cannot be
// written is refused; a command whose result takes long asks before it begins.
func (t *target) place() (name string, err error) {
	if t.stdout() {
		return "", nil
	}
	switch st, err := os.Stat(t.file); {
	case err == nil && st.IsDir():
		return "", usage("%s: %s is a directory", t.named(), t.file)
	case err == nil && !st.Mode().IsRegular():
		return t.file, nil
	case err == nil && !t.force:
		return "", &failure{code: exitUsage, what: t.named() + ": " + t.file + " exists", hint: "--force replaces it"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", usage("%s: %s", t.named(), plain(err))
	}
	if st, err := os.Stat(filepath.Dir(t.file)); err != nil || !st.IsDir() {
		return "", usage("%s: there is no directory %s", t.named(), filepath.Dir(t.file))
	}
	return t.file + ".partial", nil
}

// create writes the file and tells its size; regular is false for what is no regular file.
func (t *target) create(f func(io.Writer) error) (size int64, regular bool, err error) {
	name, err := t.place()
	if err != nil {
		return 0, false, err
	}
	h, err := os.Create(name)
	if err != nil {
		return 0, false, usage("%s: %s", t.named(), plain(err))
	}
	n := counter{w: h}
	err = buffered(&n, f)
	if name == t.file {
		return n.n, false, errors.Join(err, h.Close())
	}
	if err == nil {
		err = h.Sync()
	}
	err = errors.Join(err, h.Close())
	if err == nil {
		err = os.Rename(name, t.file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(name))
	}
	return n.n, true, err
}

// counter counts what passes through.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func buffered(w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}
