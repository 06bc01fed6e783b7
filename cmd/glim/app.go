package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

// app is one run of the command: its streams, its settings and the flags that all commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string

	flags  settings // as given by flags
	config string
	set    settings // resolved
	json   bool
}

func newApp(in io.Reader, out, errw io.Writer, getenv func(string) string) *app {
	return &app{in: in, out: out, err: errw, getenv: getenv, flags: defaultSettings()}
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
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.set, err = resolve(cmd.Flags(), a.flags, a.config, a.getenv)
			return err
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath()))
	})
	addFlags(root.PersistentFlags(), &a.flags, &a.config)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON for programs")
	root.AddCommand(a.insertCommand(), a.queryCommand(), a.docsCommand(), a.deleteCommand(), a.retryCommand(),
		a.graphCommand(), a.statsCommand(), a.checkCommand(), a.dumpCommand(), a.loadCommand(), a.versionCommand(),
		settingsHelp(), exitHelp())
	return root
}

// args wraps an argument check so that its failure is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return usage(fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath()))
		}
		return nil
	}
}

// open opens the database. Only insert and load may create one: any other command on a missing directory
// is a mistake, most often a forgotten --db.
func (a *app) open(create, readOnly bool) (*db.DB, error) {
	if !create {
		if _, err := os.Stat(a.set.DB); errors.Is(err, fs.ErrNotExist) {
			return nil, &exitError{exitNotFound, fmt.Errorf("no database at %s: insert something first, or name another with --db", a.set.DB)}
		}
	}
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	o.ReadOnly = readOnly
	return db.Open(a.set.DB, db.WithOptions(o))
}

// with opens the database, runs f and closes it.
func (a *app) with(create, readOnly bool, f func(*db.DB) error) error {
	d, err := a.open(create, readOnly)
	if err != nil {
		return err
	}
	return errors.Join(f(d), d.Close())
}

// view runs f in one read transaction of an existing database.
func (a *app) view(ctx context.Context, f func(*db.DB, *db.Tx) error) error {
	return a.with(false, true, func(d *db.DB) error {
		return d.View(ctx, func(tx *db.Tx) error { return f(d, tx) })
	})
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func settingsHelp() *cobra.Command {
	return &cobra.Command{Use: "settings", Short: "Where settings come from, and in which order", Long: `A setting has one name in three spellings: a flag (--chat-model), an environment variable (GLIM_CHAT_MODEL)
and a key of the configuration file (chat_model).

  1. a flag
  2. the environment: GLIM_..., then OPENAI_BASE_URL and OPENAI_API_KEY where the GLIM_ variable is not set
  3. the configuration file: --config, $GLIM_CONFIG, ./glim.yaml, then glim/config.yaml in the user's
     configuration folder; the first that exists is read
  4. the default

The API key is never a flag, since it would show in the process list: use GLIM_API_KEY or api_key.

Example of a configuration file:

  db: ./notes.db
  base_url: http://localhost:11434/v1
  chat_model: qwen3
  embed_model: nomic-embed-text
  embed_dim: 768
  timeout: 2m
`}
}

func exitHelp() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What exit codes mean", Long: `  0    done
  1    failed; the message says why
  2    wrong command line, environment or configuration
  3    no such document, entity or database
  4    some inputs failed, all others are done
  5    database locked, read-only or disk full
  6    check found problems
  130  interrupted; what was finished is kept`}
}
