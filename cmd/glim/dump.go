package main

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) dumpCommand() *cobra.Command {
	var file string
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
				return toFile(a.out, file, func(w io.Writer) error { return d.Dump(cmd.Context(), w, db.DumpOptions{Logical: logical}) })
			})
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` instead of standard output")
	cmd.Flags().BoolVar(&logical, "logical", false, "leave out what may differ between equal databases (times)")
	return cmd
}

// toFile writes through a buffer to stdout, or to a file that takes its name only when it is whole and
// on disk.
func toFile(stdout io.Writer, name string, f func(io.Writer) error) error {
	if name == "" {
		return buffered(stdout, f)
	}
	partial := name + ".partial"
	h, err := os.Create(partial)
	if err != nil {
		return usage("--output: %s", plain(err))
	}
	err = buffered(h, f)
	if err == nil {
		err = h.Sync()
	}
	err = errors.Join(err, h.Close())
	if err == nil {
		err = os.Rename(partial, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return nil
}

func buffered(w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}
