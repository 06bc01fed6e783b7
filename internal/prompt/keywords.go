package prompt

// DefaultLanguage is used where a language is left empty.
const DefaultLanguage = "English"

// Keywords is the user message that asks for the high-level and low-level keywords of a question as one
// JSON object with the lists high_level_keywords and low_level_keywords. It needs no system message.
// The question comes last, fenced. language is that of the keywords; empty means DefaultLanguage.
func Keywords(language, question string) string {
	return TemplateKeywords.fill(
		"language", orDefault(language, DefaultLanguage),
		"question", question,
		"fence", fence(question),
	)
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
