package prompt

// Hypothesis asks for a passage that would answer question, to look for texts like it.
func Hypothesis(question string) string {
	return TemplateHypothesis.fill("question", question, "fence", fence(question))
}
