package llmtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/glimdb/db/llm"
)

// ErrUnscripted says that a fake was asked something that no rule answers.
var ErrUnscripted = errors.New("llmtest: no rule answers this call")

// Rule says how Chat answers some calls. The zero value answers every call with an empty text.
type Rule struct {
	// Which calls: those that fit all of the fields that are set.
	Purpose  llm.Purpose
	Subject  string
	Contains string // in the content of any message
	Match    func(llm.Request) bool

	// Times is how many calls the rule answers before it is used up; 0 means any number.
	Times int

	// What they get. Func replaces Text and Err.
	Text string
	Err  error // after the pieces of Text, if there is a Text; else at once
	Func func(llm.Request) (string, error)
	// Finish is FinishStop when empty.
	Finish llm.Finish
	// Piece is how many bytes of the text one delta carries, never less than a character; 0 sends one delta.
	Piece int
	Usage llm.Usage

	// Entered, when not nil, is sent a value when a call arrives; the call waits until it is taken. Gate holds the
	// call until it can be received from (or is closed); Between holds it before each delta but the first.
	Entered chan<- struct{}
	Gate    <-chan struct{}
	Between <-chan struct{}
}

func (r *Rule) fits(req llm.Request) bool {
	if r.Purpose != "" && r.Purpose != req.Purpose || r.Subject != "" && r.Subject != req.Subject {
		return false
	}
	if r.Match != nil && !r.Match(req) {
		return false
	}
	if r.Contains == "" {
		return true
	}
	for _, m := range req.Messages {
		if strings.Contains(m.Content, r.Contains) {
			return true
		}
	}
	return false
}

// Chat is a scripted, recording llm.Chat.
type Chat struct {
	mu    sync.Mutex
	id    string
	rules []*Rule
	left  []int // of each rule; -1: any number
	calls []llm.Request
	now   int
	most  int
}

// NewChat returns a fake that answers by the first rule that fits and is not used up.
func NewChat(rules ...Rule) *Chat {
	c := &Chat{id: "fake/chat"}
	c.Add(rules...)
	return c
}

// Replies returns a fake that gives these texts in order, one a call, and then fails.
func Replies(texts ...string) *Chat {
	c := NewChat()
	for _, t := range texts {
		c.Add(Rule{Text: t, Times: 1})
	}
	return c
}

// Add appends rules behind those that are there.
func (c *Chat) Add(rules ...Rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rules {
		times := r.Times
		if times == 0 {
			times = -1
		}
		c.rules = append(c.rules, &r)
		c.left = append(c.left, times)
	}
}

// First puts rules before those that are there.
func (c *Chat) First(rules ...Rule) {
	c.mu.Lock()
	old, left := c.rules, c.left
	c.rules, c.left = nil, nil
	c.mu.Unlock()
	c.Add(rules...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules, c.left = append(c.rules, old...), append(c.left, left...)
}

// SetID changes the model's name; it is "fake/chat" before.
func (c *Chat) SetID(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
}

// ID implements llm.Chat.
func (c *Chat) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// Calls returns the requests so far, in order of arrival.
func (c *Chat) Calls() []llm.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]llm.Request(nil), c.calls...)
}

// Count returns the number of calls for a purpose; "" counts all.
func (c *Chat) Count(p llm.Purpose) int {
	n := 0
	for _, req := range c.Calls() {
		if p == "" || req.Purpose == p {
			n++
		}
	}
	return n
}

// Reset forgets the calls, not the rules.
func (c *Chat) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.most = nil, c.now
}

// MostAtOnce returns the largest number of calls that ran at the same time.
func (c *Chat) MostAtOnce() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

func (c *Chat) enter(req llm.Request) *Rule {
	c.mu.Lock()
	defer c.mu.Unlock()
	req.Messages = append([]llm.Message(nil), req.Messages...)
	c.calls = append(c.calls, req)
	c.now++
	c.most = max(c.most, c.now)
	for i, r := range c.rules {
		if c.left[i] == 0 || !r.fits(req) {
			continue
		}
		if c.left[i] > 0 {
			c.left[i]--
		}
		return r
	}
	return nil
}

func (c *Chat) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
}

// Generate implements llm.Chat.
func (c *Chat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		rule := c.enter(req)
		defer c.leave()
		if rule == nil {
			yield(llm.Delta{}, fmt.Errorf("%w: purpose %q, subject %q: %s", ErrUnscripted, req.Purpose, req.Subject, last(req)))
			return
		}
		if err := rule.wait(ctx); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		text, failure := rule.Text, rule.Err
		if rule.Func != nil {
			text, failure = rule.Func(req)
		}
		if text == "" && failure != nil {
			yield(llm.Delta{}, failure)
			return
		}
		pieces := split(text, rule.Piece)
		for i, piece := range pieces {
			if i > 0 {
				if err := pass(ctx, rule.Between); err != nil {
					yield(llm.Delta{}, err)
					return
				}
			}
			d := llm.Delta{Text: piece}
			if i == len(pieces)-1 && failure == nil {
				d.Finish, d.Usage = rule.Finish, rule.Usage
				if d.Finish == "" {
					d.Finish = llm.FinishStop
				}
				d.Usage.Calls++
			}
			if !yield(d, nil) {
				return
			}
			if err := ctx.Err(); err != nil && i < len(pieces)-1 {
				yield(llm.Delta{}, err)
				return
			}
		}
		if failure != nil {
			yield(llm.Delta{}, failure)
		}
	}
}

func (r *Rule) wait(ctx context.Context) error {
	return wait(ctx, r.Entered, r.Gate)
}

// wait tells entered that a call is here and holds it at the gate.
func wait(ctx context.Context, entered chan<- struct{}, gate <-chan struct{}) error {
	if entered != nil {
		select {
		case entered <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return pass(ctx, gate)
}

func pass(ctx context.Context, gate <-chan struct{}) error {
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// split cuts text into pieces of at least n bytes, at borders of characters.
func split(text string, n int) []string {
	if n <= 0 || len(text) <= n {
		return []string{text}
	}
	var pieces []string
	start := 0
	for i := range text {
		if i-start >= n {
			pieces = append(pieces, text[start:i])
			start = i
		}
	}
	return append(pieces, text[start:])
}

func last(req llm.Request) string {
	if len(req.Messages) == 0 {
		return "no messages"
	}
	const shown = 80
	text := req.Messages[len(req.Messages)-1].Content
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return fmt.Sprintf("last message %q", text)
}
