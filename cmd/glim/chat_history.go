package main

import (
	"unicode/utf8"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/token"
)

const (
	// historyTokens is what the turns before may take of a prompt: a quarter of its default budget, so that most of
	// it is left for what the documents say.
	historyTokens = 7_500
	// historyTurns is half the messages that a query takes.
	historyTurns = 64
	// tokenRunes is at least how many characters a token counts for, whatever the tokenizer makes of blanks: it keeps
	// a message below the characters that a query takes.
	tokenRunes = 4
)

// history is the conversation so far.
type history struct {
	turns  []turn
	tokens int
}

type turn struct {
	question, answer string
	tokens           int
}

// add appends a turn and drops the oldest that there is no room for. It returns how many those are.
func (h *history) add(question, answer string) (dropped int) {
	t := turn{question: question, answer: llm.StripReasoning(answer)}
	for _, text := range []string{t.question, t.answer} {
		t.tokens += max(token.Default().Count(text), utf8.RuneCountInString(text)/tokenRunes)
	}
	h.turns = append(h.turns, t)
	h.tokens += t.tokens
	for h.tokens > historyTokens || len(h.turns) > historyTurns {
		h.tokens -= h.turns[0].tokens
		h.turns = h.turns[1:]
		dropped++
	}
	return dropped
}

// messages is the conversation as a model is told it.
func (h *history) messages() (out []llm.Message) {
	for _, t := range h.turns {
		out = append(out, llm.Message{Role: llm.User, Content: t.question}, llm.Message{Role: llm.Assistant, Content: t.answer})
	}
	return out
}
