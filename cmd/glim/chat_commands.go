package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

// slash is a command of a session.
type slash struct {
	name, args, does string
	run              func(*chat, context.Context, []string) error // nil: ends the session
}

// slashes are the commands, in the order of /help.
func slashes() []slash {
	return []slash{
		{"/mode", "[M]", "answer in mode M: " + strings.Join(modeNames(), ", "), (*chat).setMode},
		{"/filter", "[FLAGS|off]", "only some documents: the flags of `glim query`, such as --prefix notes/; off: all", (*chat).setFilter},
		{"/top-k", "[N]", "search for N entities and relations", (*chat).setTopK},
		{"/sources", "", "the passages of the last answer, whole", (*chat).showSources},
		{"/explain", "", "how they were found, step by step", (*chat).showTrace},
		{"/reset", "", "forget the conversation", (*chat).reset},
		{"/help", "", "this list", (*chat).help},
		{"/quit", "", "end the session", nil},
	}
}

// commandHelp explains the commands, one a line.
func commandHelp(indent string) string {
	var b strings.Builder
	for _, s := range slashes() {
		fmt.Fprintf(&b, "%s%-8s %-11s  %s\n", indent, s.name, s.args, s.does)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// command does what a line that begins with / says.
func (c *chat) command(ctx context.Context, line string) (quit bool, err error) {
	args, err := words(line)
	if err != nil {
		return false, err
	}
	for _, s := range slashes() {
		switch {
		case s.name != args[0]:
		case s.args == "" && len(args) > 1:
			return false, usage("%s takes nothing after it", s.name)
		case s.run == nil:
			return true, nil
		default:
			return false, s.run(c, ctx, args[1:])
		}
	}
	return false, &failure{code: exitUsage, what: "no command " + brief.Quote(args[0]), hint: "/help lists the commands; a question that begins with / needs a space before it"}
}

// told says what holds now, to a person.
func (c *chat) told(format string, args ...any) {
	if !c.json {
		c.out.printf(format+"\n", args...)
	}
}

func (c *chat) setMode(_ context.Context, args []string) error {
	switch {
	case len(args) > 1 || len(args) == 1 && !slices.Contains(modeNames(), args[0]):
		return usage("/mode %s: want one of %s", strings.Join(args, " "), strings.Join(modeNames(), ", "))
	case len(args) == 1:
		c.options.Mode = query.Mode(args[0])
	}
	c.told("mode %s", string(c.options.Mode))
	return nil
}

func (c *chat) setTopK(_ context.Context, args []string) error {
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || len(args) > 1 || n < 1 || n > query.MaxTopK {
			return usage("/top-k %s: want a number from 1 to %d", strings.Join(args, " "), query.MaxTopK)
		}
		c.options.TopK = n
	}
	if c.options.TopK == 0 {
		c.told("top-k by default")
	} else {
		c.told("top-k %d", c.options.TopK)
	}
	return nil
}

// setFilter leaves the filter as it was when the flags are wrong.
func (c *chat) setFilter(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "off":
		c.options.Filter, c.filter = query.Filter{}, ""
	case len(args) > 0:
		var f queryFilter
		cmd := &cobra.Command{Use: "/filter"}
		f.add(cmd)
		if err := cmd.ParseFlags(args); err != nil {
			return usage("/filter: %v", err)
		}
		if rest := cmd.Flags().Args(); len(rest) > 0 {
			return usage("/filter %s: want flags such as --prefix notes/, or off", strings.Join(rest, " "))
		}
		if err := c.restrict(ctx, &f); err != nil {
			return err
		}
	}
	if c.options.Filter.IsZero() {
		c.told("all documents")
		return nil
	}
	n := 0
	for _, err := range c.d.Documents(ctx, c.options.Filter) {
		if err != nil {
			return err
		}
		n++
	}
	c.told("%s%s", count(n, "document"), c.filter)
	return nil
}

// restrict makes f the filter of the questions to come.
func (c *chat) restrict(ctx context.Context, f *queryFilter) error {
	filter, err := f.of(ctx, c.app, c.d)
	if err == nil {
		o := c.options
		o.Filter = filter
		err = o.Validate()
	}
	if err != nil {
		return err
	}
	f.IDs = filter.IDs // which the words name, too
	c.options.Filter, c.filter = filter, ""
	if !filter.IsZero() {
		c.filter = " " + f.String()
	}
	return nil
}

// result is that of the last question.
func (c *chat) result() (*query.Result, error) {
	if c.last == nil {
		return nil, usage("nothing was asked yet")
	}
	return c.last, nil
}

// showSources shows the passages that the model was given, or without an answer all that were found.
func (c *chat) showSources(context.Context, []string) error {
	res, err := c.result()
	if err != nil {
		return err
	}
	chunks := res.Data.Chunks
	if res.Answer != "" {
		chunks = slices.DeleteFunc(slices.Clone(chunks), func(k query.Chunk) bool { return !k.InContext })
	}
	switch {
	case c.json:
		return c.out.json(chunks)
	case len(chunks) == 0:
		c.told("no passages")
		return nil
	}
	(&page{output: c.out}).sources(chunks)
	return nil
}

func (c *chat) showTrace(context.Context, []string) error {
	res, err := c.result()
	switch {
	case err != nil:
		return err
	case c.json:
		return c.out.json(res.Trace)
	}
	(&page{output: c.out}).trace(res)
	return nil
}

func (c *chat) reset(context.Context, []string) error {
	c.history, c.last = history{}, nil
	c.told("the conversation is forgotten")
	return nil
}

func (c *chat) help(context.Context, []string) error {
	if !c.json {
		fmt.Fprintln(c.out, commandHelp(""))
	}
	return nil
}

// words splits a command line at blanks outside of quotes.
func words(s string) (out []string, err error) {
	var quote rune
	word, begun := "", false
	for _, r := range s + " " {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if begun {
				out = append(out, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, usage("a quote %c is not closed", quote)
	}
	return out, nil
}
