package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

func (a *app) chatCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Ask question after question in one session",
		Long: `Chat opens the database once and takes every line as a question. With a chat model the answer appears as it is written,
then the documents it rests on, by the numbers it cites; without one, what was found, as ` + "`glim query`" + ` shows it.

The model is told the conversation so far, of which the oldest part goes when it takes more than ` + fmt.Sprint(historyTokens) + ` tokens; they count
in the prompt's budget. Passages are searched by the last question alone, so a question should name what it is about.

Lines that begin with / are commands (a question that does begins with a space instead):

` + commandHelp("  ") + `

Ctrl-C ends the answer that is being written and keeps the session. At the prompt it discards what is typed, and a second one in a row ends
the session; so does Ctrl-D. Where nobody types an interrupt between two answers ends it.

On a terminal lines can be edited, earlier ones are under the arrow keys, and the session ends with 0 whatever happened in it. Elsewhere
lines are read as they come, every one of them whatever became of those before, and the session ends with the exit code of the first
that failed: as for ` + "`glim query`" + `, and 2 for an unknown command. With --json each question prints its result, one JSON value after another.`,
		Example: `  glim chat
  glim chat --mode local --prefix dickens/
  printf 'Who is Scrooge?\n/sources\n' | glim chat`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(cmd)
			if err != nil {
				return err
			}
			if o.Mode == query.Bypass {
				o.Want = query.WantDefault // the mode may change
			}
			return a.asking(func(d *db.DB) error {
				c := &chat{app: a, d: d, options: o, full: f.full, explainAll: f.explain}
				if err := c.restrict(cmd.Context(), &f.filter); err != nil {
					return err
				}
				if err := a.unsearched(cmd.Context(), d); err != nil {
					return err
				}
				return c.session(cmd.Context())
			})
		},
	}
	f.addRetrieval(cmd)
	return cmd
}

// chat is one session.
type chat struct {
	*app
	d                *db.DB
	options          query.Options // of the next question, but for its history
	filter           string        // options.Filter in words
	full, explainAll bool

	lines   lines
	signals chan os.Signal
	history history
	last    *query.Result // nil: none yet

	asked, failed int
	code          int // of the first failure
}

// session reads lines until they end.
func (c *chat) session(ctx context.Context) error {
	// From here on an interrupt is for what the session is doing, not for the process.
	c.signals = make(chan os.Signal, 1)
	signal.Reset(os.Interrupt)
	signal.Notify(c.signals, os.Interrupt)
	defer signal.Stop(c.signals)

	c.lines = c.openLines()
	defer c.lines.close()
	if c.typed() {
		c.err.printf("%s, mode %s%s. /help lists commands, Ctrl-D ends.\n", c.set.DB, string(c.options.Mode), c.filter)
	}
	discarded := false
	for c.out.err == nil { // else nobody reads it
		line, err := c.next(ctx)
		if ctx.Err() == nil && errors.Is(err, errDiscarded) {
			if discarded {
				return c.interrupted()
			}
			discarded = true
			c.err.printf("Ctrl-C again ends the session.\n")
			continue
		}
		discarded = false
		if _, unusable := errors.AsType[*failure](err); !unusable {
			switch {
			case errors.Is(err, io.EOF):
				return c.end()
			case err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled):
				return c.interrupted()
			case err != nil:
				return err
			case strings.TrimSpace(line) == "":
				continue
			}
			c.asked++
			var quit bool
			if quit, err = c.line(ctx, line); quit {
				return c.end()
			}
		} else {
			c.asked++
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.fail(err)
		}
	}
	return nil
}

// next reads a line. An interrupt that was for the answer before does not end the session.
func (c *chat) next(ctx context.Context) (string, error) {
	select {
	case <-c.signals:
	default:
	}
	ctx, stop := c.interruptible(ctx)
	defer stop()
	return c.lines.next(ctx)
}

// interruptible returns a context that the next interrupt ends.
func (c *chat) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-c.signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// line does what one line asks for.
func (c *chat) line(ctx context.Context, line string) (quit bool, err error) {
	ctx, stop := c.interruptible(ctx)
	defer stop()
	if strings.HasPrefix(line, "/") {
		return c.command(ctx, line)
	}
	return false, c.ask(ctx, strings.TrimSpace(line))
}

// fail tells what went wrong with a line; the session goes on.
func (c *chat) fail(err error) {
	f := c.explain(err)
	f.print(c.err, c.json)
	if c.failed == 0 {
		c.code = f.code
	}
	c.failed++
}

// interrupted is the outcome of a session that Ctrl-C or an interrupt ended.
func (c *chat) interrupted() error {
	return &failure{code: exitInterrupted, what: "interrupted", told: c.typed()}
}

// end is the outcome of a session that was not interrupted: who typed has seen what failed.
func (c *chat) end() error {
	if c.failed == 0 || c.typed() {
		return nil
	}
	return &failure{code: c.code, what: fmt.Sprintf("%d of %s failed", c.failed, count(c.asked, "line"))}
}

// ask answers one question.
func (c *chat) ask(ctx context.Context, question string) error {
	o := c.options
	o.Reply.History, o.Stream = c.history.messages(), !c.json
	if o.Mode == query.Bypass {
		o.Want = query.WantAnswer // nothing else comes back
	}
	res, err := c.d.Query(ctx, question, o)
	if res != nil {
		c.last = res
	}
	if err != nil {
		return err
	}
	if c.json {
		c.remember(res)
		if err := c.out.json(res); err != nil {
			return err
		}
		return c.explainEmpty(res)
	}
	p := &page{output: c.out, full: c.full, more: "/sources shows whole passages, /explain every step"}
	answered := false
	if res.Outcome == query.OutcomeOK {
		if answered, err = c.answer(res); err != nil {
			if answered {
				c.out.printf("\n")
			}
			return err
		}
	}
	if answered {
		c.remember(res)
		p.answered(res)
	} else {
		p.result(res)
	}
	if c.explainAll {
		p.trace(res)
	}
	c.out.printf("\n")
	err = c.explainEmpty(res)
	if f, empty := errors.AsType[*failure](err); empty {
		f.told = true
	}
	return err
}

// remember keeps a whole answer for the questions to come.
func (c *chat) remember(res *query.Result) {
	if res.Outcome != query.OutcomeOK || res.Answer == "" {
		return
	}
	if n := c.history.add(res.Question, res.Answer); n > 0 {
		c.err.printf("note: the model is told no more of the %s before: they take too many tokens\n", count(n, "question"))
	}
}

// answered is what follows an answer: its documents, and how they were found.
func (p *page) answered(r *query.Result) {
	p.begun = true
	refs := slices.DeleteFunc(slices.Clone(r.Data.References), func(r query.Reference) bool { return r.InContext == 0 })
	if len(refs) > 0 {
		p.title("References", len(refs), len(refs))
		for _, ref := range refs {
			p.reference(&ref)
		}
	}
	p.printf("\n")
	p.footer(r)
}
