package main

import "github.com/spf13/cobra"

// Exit codes. exitTable documents them.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitPartial     = 4
	exitUnavailable = 5
	exitProblems    = 6
	exitInterrupted = 130 // 128 + SIGINT, as shells report it
	exitPipe        = 141 // 128 + SIGPIPE
)

type exitMeaning struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

func exitTable() []exitMeaning {
	return []exitMeaning{
		{exitOK, "done"},
		{exitFailure, "failed; the message says why"},
		{exitUsage, "wrong command line, environment or configuration"},
		{exitNotFound, "no such document, entity, file or database; a query or search that found nothing"},
		{exitPartial, "some inputs could not be indexed, the others are"},
		{exitUnavailable, "not available now: database locked, read-only or disk full, or a model that does not answer"},
		{exitProblems, "check found problems"},
		{exitInterrupted, "interrupted; what was finished is kept"},
		{exitPipe, "the reader of the output went away, as in `glim docs | head`"},
	}
}

func (a *app) exitCodesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Tell what exit codes mean",
		Long: `Exit-codes lists the codes that every command ends with, with --json and without. Messages go to standard error, results
to standard output. With --json the last line on standard error tells a failure:

  {"error":{"code":3,"message":"no document \"x\" in ./glim.db","hint":"` + "`glim docs`" + ` lists the ids"}}

A query that finds nothing ends with 3, and its result says why; a list of documents (glim docs) may be empty without that.`,
		Example: `  glim exit-codes
  glim exit-codes --json`,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.out.json(exitTable())
			}
			for _, e := range exitTable() {
				a.out.printf("%4d  %s\n", e.Code, e.Meaning)
			}
			return nil
		},
	}
}
