package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

// app is one run of the command: its streams, its settings and the flags that all commands share.
type app struct {
	in       io.Reader
	out, err *output
	getenv   func(string) string

	flags  settings // as given by flags
	config string
	set    settings // resolved
	from   sources
	json   bool
}

func newApp(in io.Reader, out, errw io.Writer, getenv func(string) string) *app {
	return &app{in: in, out: newOutput(out, getenv), err: newOutput(errw, getenv), getenv: getenv, flags: defaultSettings()}
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "glim",
		Short: "Documents in, knowledge graph and answers out; one directory, no server",
		Long: `Glim turns documents into a knowledge graph and answers questions from it by dual-level retrieval:
entities and relations, with the passages behind them. Everything lives in one directory.

Without a model it works offline. With --base-url, --chat-model and --embed-model (or the environment, or a
configuration file) it uses any OpenAI-compatible endpoint.`,
		Example: `  glim insert testdata/corpus
  glim query "Who repairs the lighthouse lamp?"
  glim graph top`,
		Version:           version(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              subcommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.resolve(cmd) },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetVersionTemplate("glim {{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return misused(cmd, err.Error()) })
	addFlags(root.PersistentFlags(), &a.flags, &a.config)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON for programs; a failure is then one JSON object, the last line on standard error")
	root.AddCommand(a.insertCommand(), a.queryCommand(), a.searchCommand(), a.chatCommand(), a.docsCommand(), a.deleteCommand(), a.retryCommand(),
		a.graphCommand(), a.clusterCommand(), a.vectorsCommand(), a.workspaceCommand(), a.statsCommand(), a.cacheCommand(), a.reembedCommand(), a.checkCommand(), a.exportCommand(), a.analyzeCommand(), a.evalCommand(), a.dumpCommand(), a.loadCommand(), a.versionCommand(),
		a.settingsCommand(), a.exitCodesCommand())
	_ = root.RegisterFlagCompletionFunc("workspace", a.completeWorkspaces)
	return root
}

func (a *app) resolve(cmd *cobra.Command) (err error) {
	a.set, a.from, err = resolve(cmd.Flags(), a.flags, a.config, a.getenv)
	return err
}

// helpCommand is cobra's, but an unknown topic is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(_ *cobra.Command, topic []string) error {
			cmd, rest, err := root.Find(topic)
			if err != nil || len(rest) > 0 {
				return subcommand(root, topic)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// misused is a command line that cmd cannot take.
func misused(cmd *cobra.Command, what string) error {
	return &failure{code: exitUsage, what: what, hint: "see `" + cmd.CommandPath() + " --help`"}
}

// args wraps an argument check so that its failure is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return misused(cmd, err.Error())
		}
		return nil
	}
}

// subcommand is the argument check of a command that only groups others.
func subcommand(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	what := fmt.Sprintf("%s has no command %s", cmd.CommandPath(), brief.Quote(given[0]))
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(given[0]); len(near) > 0 {
		what += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return misused(cmd, what)
}

// open opens the database in the workspace of the settings. Only insert and load may create one of either: any other
// command on a missing directory is a mistake, most often a forgotten --db.
func (a *app) open(create, readOnly bool) (*db.DB, error) {
	switch st, err := os.Stat(a.set.DB); {
	case errors.Is(err, fs.ErrNotExist):
		if !create {
			return nil, notFound("`glim insert` something first, or name another with --db", "no database at %s", a.set.DB)
		}
	case err == nil && !st.IsDir():
		return nil, usage("%s is a file; a database is a directory: name one with --db", a.set.DB)
	}
	o, err := a.options(readOnly)
	if err != nil {
		return nil, err
	}
	o.ReadOnly, o.Workspace = readOnly, a.set.Workspace
	d, err := db.Open(a.set.DB, db.WithOptions(o))
	if err == nil && !create && o.Workspace != "" {
		if err = a.known(d, o.Workspace); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, err
}

// with opens the database, runs f and closes it.
func (a *app) with(create, readOnly bool, f func(*db.DB) error) error {
	d, err := a.open(create, readOnly)
	if err != nil {
		return err
	}
	return a.using(d, f)
}

// using runs f and closes the database.
func (a *app) using(d *db.DB, f func(*db.DB) error) error {
	err := f(d)
	cerr := d.Close()
	if err == nil {
		return cerr
	}
	if cerr != nil { // err is what the command ends with
		a.err.printf("glim: closing %s: %s\n", a.set.DB, plain(cerr))
	}
	return err
}

// asking is with for a command that writes nothing but caches: a database that cannot be written is read.
func (a *app) asking(f func(*db.DB) error) error {
	d, err := a.open(false, false)
	if errors.Is(err, db.ErrReadOnly) || errors.Is(err, db.ErrDiskFull) {
		return a.with(false, true, f)
	}
	if err != nil {
		return err
	}
	return a.using(d, f)
}

// creating is with for a command that may make the database. When it ends with nothing in it, so says
// unused, and the directory was not there before, none is left behind.
func (a *app) creating(unused func() bool, f func(*db.DB) error) error {
	_, err := os.Stat(a.set.DB)
	made, opened := errors.Is(err, fs.ErrNotExist), false
	err = a.with(true, false, func(d *db.DB) error {
		opened = true // by us, so nobody else has made it meanwhile
		return f(d)
	})
	if made && opened && unused() {
		err = errors.Join(err, os.RemoveAll(a.set.DB))
	}
	return err
}

// view runs f in one read transaction of an existing database.
func (a *app) view(ctx context.Context, f func(*db.Tx) error) error {
	return a.with(false, true, func(d *db.DB) error { return d.View(ctx, f) })
}

// bounded reads a flag that is a number: zero and below mean nothing, and silently using another value
// would be a lie.
func bounded(flag string, n, least, most int) error {
	switch {
	case n >= least && n <= most:
		return nil
	case most == math.MaxInt:
		return usage("--%s %d: want %d or more", flag, n, least)
	}
	return usage("--%s %d: want %d to %d", flag, n, least, most)
}
