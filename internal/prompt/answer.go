package prompt

import (
	"errors"
	"strings"
)

// DefaultResponseType is the form of an answer where none is given.
const DefaultResponseType = "Multiple Paragraphs"

// noUserPrompt stands where the caller has no instructions of its own.
const noUserPrompt = "None."

// ErrNoContextSlot means a caller's own answer template has no place for the retrieved context.
var ErrNoContextSlot = errors.New("prompt: answer template has no {{context}} slot")

// AnswerParams fill an answer template.
type AnswerParams struct {
	// ResponseType describes the form of the answer; empty means DefaultResponseType.
	ResponseType string
	// UserPrompt holds further instructions of the caller; may be empty.
	UserPrompt string
	// Context is the rendered context; it stands last.
	Context string
	// KG chooses the template for context with entities and relations; without it there are only passages.
	KG bool
}

// Answer is the system message for answering a question, which is the user message.
func Answer(p AnswerParams) string {
	t := TemplateAnswerNaive
	if p.KG {
		t = TemplateAnswerKG
	}
	return t.fill(p.slots()...)
}

// AnswerWith is Answer with a caller's own template. Its slots are {{context}}, which is required, and
// {{response_type}} and {{user_prompt}}, which are not. Any other brace is literal text.
func AnswerWith(template string, p AnswerParams) (string, error) {
	if !strings.Contains(template, "{{context}}") {
		return "", ErrNoContextSlot
	}
	return fillSlots(template, p.slots()...), nil
}

func (p AnswerParams) slots() []string {
	return []string{
		"response_type", orDefault(p.ResponseType, DefaultResponseType),
		"user_prompt", orDefault(p.UserPrompt, noUserPrompt),
		"context", p.Context,
	}
}
