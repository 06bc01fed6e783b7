package llm

import (
	"context"
	"iter"
	"strings"
)

const (
	reasoningOpen  = "<think>"
	reasoningClose = "</think>"
)

// StripReasoning removes what a reasoning model thought aloud: every <think>…</think> block, and before them a
// beginning that only has its end (some chat templates put <think> into the prompt). A block that never ends
// is kept: it may be all there is. The rest is returned without white space around it.
func StripReasoning(reply string) string {
	end := strings.Index(reply, reasoningClose)
	if end < 0 {
		return strings.TrimSpace(reply)
	}
	if open := strings.Index(reply, reasoningOpen); open < 0 || open > end {
		reply = reply[end+len(reasoningClose):]
	}
	var sb strings.Builder
	for {
		open := strings.Index(reply, reasoningOpen)
		if open < 0 {
			break
		}
		length := strings.Index(reply[open:], reasoningClose)
		if length < 0 {
			break
		}
		sb.WriteString(reply[:open])
		reply = reply[open+length+len(reasoningClose):]
	}
	sb.WriteString(reply)
	return strings.TrimSpace(sb.String())
}

// DropReasoning takes what the model thinks aloud before it replies, a leading <think>…</think> block, out of the
// stream of c. Meanwhile it hands on empty deltas. A block that never ends is handed on as it is.
func DropReasoning(c Chat) Chat { return dropReasoning{c} }

type dropReasoning struct{ Chat }

func (c dropReasoning) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var held string
		passed := false
		for d, err := range c.Chat.Generate(ctx, req) {
			if !passed && err == nil {
				held += d.Text
				d.Text, passed = afterReasoning(held, d.Finish != "")
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// afterReasoning returns what follows the leading block of a reply's beginning, once it is known where that ends;
// whole says that nothing more comes.
func afterReasoning(head string, whole bool) (rest string, known bool) {
	const space = " \t\r\n"
	text := strings.TrimLeft(head, space)
	if _, rest, ended := strings.Cut(text, reasoningClose); ended && strings.HasPrefix(text, reasoningOpen) {
		rest = strings.TrimLeft(rest, space)
		return rest, whole || rest != "" // white space after the block may still come
	}
	if !whole && (strings.HasPrefix(text, reasoningOpen) || strings.HasPrefix(reasoningOpen, text)) {
		return "", false
	}
	return head, true
}
