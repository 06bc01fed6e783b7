package prompt

import "strconv"

// DefaultSummaryTokens is the length asked of the model where none is given.
const DefaultSummaryTokens = 600

// SummaryParams configure the summary prompts.
type SummaryParams struct {
	// Language of the summary; empty means DefaultLanguage.
	Language string
	// MaxTokens is the length asked of the model; 0 means DefaultSummaryTokens.
	MaxTokens int
}

// SummarySystem is the system message for merging descriptions.
func SummarySystem(p SummaryParams) string {
	tokens := p.MaxTokens
	if tokens == 0 {
		tokens = DefaultSummaryTokens
	}
	return TemplateSummarySystem.fill(
		"language", orDefault(p.Language, DefaultLanguage),
		"max_tokens", strconv.Itoa(tokens),
	)
}

// SummaryUser is the user message: kind is "Entity" or "Relation", name the subject, items the
// descriptions as JSON objects, one a line.
func SummaryUser(kind, name, items string) string {
	return TemplateSummaryUser.fill("kind", kind, "name", name, "items", items, "fence", fence(items))
}
