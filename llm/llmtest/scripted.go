package llmtest

import (
	"context"
	"errors"
	"iter"

	"github.com/glimdb/db/llm"
)

// ErrScripted is how a call fails under a Script with Fail.
var ErrScripted = errors.New("llmtest: the script fails here")

// Scripted returns a chat that follows a script: the model under the decorators that TestChat tests.
func Scripted(s Script) llm.Chat { return scripted{s} }

type scripted struct{ Script }

func (c scripted) ID() string { return "fake/script" }

func (c scripted) Generate(ctx context.Context, _ llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := wait(ctx, c.Entered, nil); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		pieces := c.Pieces
		if len(pieces) > 0 {
			if !yield(llm.Delta{Text: pieces[0]}, nil) {
				return
			}
			pieces = pieces[1:]
		}
		if err := pass(ctx, c.Hold); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for _, p := range pieces {
			if !yield(llm.Delta{Text: p}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if c.Fail {
			yield(llm.Delta{}, ErrScripted)
			return
		}
		u := c.Usage
		u.Calls++
		yield(llm.Delta{Finish: c.Finish, Usage: u}, nil)
	}
}
