package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/pflag"
)

// chunkFlags say how the documents of one command are cut.
type chunkFlags struct {
	method    string
	size      int
	overlap   int
	separator string
	only      bool

	flags *pflag.FlagSet
	spec  *chunk.Spec // nil: as the library does
}

func (c *chunkFlags) add(fl *pflag.FlagSet) {
	c.flags = fl
	fl.StringVar(&c.method, "chunker", string(chunk.Windows), "`method` that cuts texts into chunks: "+methodNames())
	fl.IntVar(&c.size, "chunk-size", chunk.DefaultSize, "largest chunk in tokens")
	fl.IntVar(&c.overlap, "chunk-overlap", chunk.DefaultOverlap, "tokens that a chunk shares with the next, at most a quarter of the size unless given")
	fl.StringVar(&c.separator, "chunk-separator", "", "cut at this `text` first (window); \\n, \\t, \\r and \\\\ are line end, tab, carriage return and backslash")
	fl.BoolVar(&c.only, "chunk-separator-only", false, "refuse documents with more than --chunk-size tokens between two separators")
}

func methodNames() string {
	var names []string
	for _, m := range chunk.Methods() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// validate makes the spec of the flags that were given.
func (c *chunkFlags) validate() error {
	given := func(name string) bool { return c.flags.Changed(name) }
	if !given("chunker") && !given("chunk-size") && !given("chunk-overlap") && !given("chunk-separator") && !given("chunk-separator-only") {
		return nil
	}
	method := chunk.Method(c.method)
	if (given("chunk-separator") || c.only) && method != chunk.Windows {
		return usage("--chunk-separator belongs to --chunker %s", chunk.Windows)
	}
	if c.only && c.separator == "" {
		return usage("--chunk-separator-only needs --chunk-separator")
	}
	separator, err := unescaped(c.separator)
	if err != nil {
		return err
	}
	if method == chunk.Semantic && given("chunk-overlap") {
		return usage("--chunk-overlap belongs to the other methods: chunks of --chunker %s do not overlap", chunk.Semantic)
	}
	s := chunk.Spec{Method: method, Size: c.size, Separator: separator, SeparatorOnly: c.only}
	switch {
	case c.size < 1: // the library would take 0 for its default
		return usage("--chunk-size is %d: want 1 to %d", c.size, chunk.MaxSize)
	case given("chunk-overlap") && c.overlap < 0:
		return usage("--chunk-overlap is %d: want 0 or more", c.overlap)
	case given("chunk-overlap") && c.overlap == 0:
		s.Overlap = -1
	case given("chunk-overlap"):
		s.Overlap = c.overlap
	}
	if !slices.Contains(chunk.Methods(), method) {
		return usage("--chunker is %s: want %s", brief.Quote(c.method), methodNames())
	}
	full, err := s.WithDefaults()
	if ce, ok := errors.AsType[*chunk.ConfigError](err); ok {
		flag := map[string]string{"size": "chunk-size", "overlap": "chunk-overlap", "separator": "chunk-separator"}[ce.Field]
		return usage("--%s: %s", flag, strings.TrimPrefix(ce.Error(), chunk.ErrConfig.Error()+": "))
	}
	if err != nil {
		return err
	}
	c.spec = &full
	return nil
}

// unescaped is a separator as it is typed in a shell, where a line end is written \n.
func unescaped(typed string) (string, error) {
	var b strings.Builder
	for rest := typed; rest != ""; {
		before, after, found := strings.Cut(rest, `\`)
		b.WriteString(before)
		if !found {
			break
		}
		i := -1
		if after != "" {
			i = strings.IndexByte(`ntr\`, after[0])
		}
		if i < 0 {
			return "", usage(`--chunk-separator %s: want \n, \t, \r or \\ where it has a backslash`, brief.Quote(typed))
		}
		b.WriteByte("\n\t\r\\"[i])
		rest = after[1:]
	}
	return b.String(), nil
}

// cutBy tells how a document is cut, as the flags name it.
func cutBy(s chunk.Spec) string {
	parts := []string{string(s.Method), fmt.Sprintf("up to %d tokens", s.Size)}
	if s.Overlap > 0 {
		parts = append(parts, fmt.Sprintf("overlap %d", s.Overlap))
	}
	if s.Separator != "" {
		parts = append(parts, fmt.Sprintf("at %q", s.Separator))
	}
	if s.SeparatorOnly {
		parts = append(parts, "nowhere else")
	}
	if s.Threshold != "" {
		parts = append(parts, fmt.Sprintf("%s %g", strings.ReplaceAll(string(s.Threshold), "_", " "), s.Amount))
	}
	switch s.Method {
	case "": // a graph given as what it says
		return ""
	case chunk.Given:
		parts[0] = "by whoever gave it"
	case chunk.Custom:
		parts[0] = "by " + s.ID
	}
	return strings.Join(parts, ", ")
}
