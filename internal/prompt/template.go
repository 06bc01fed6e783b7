package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"strings"
)

//go:embed text/*.txt
var files embed.FS

// Template names one embedded text.
type Template string

// The templates.
const (
	TemplateExtractSystem  Template = "extract_system"
	TemplateExtractUser    Template = "extract_user"
	TemplateExtractSection Template = "extract_section"
	TemplateTypes          Template = "types"
	TemplateGlean          Template = "glean"
	TemplateSummarySystem  Template = "summary_system"
	TemplateSummaryUser    Template = "summary_user"
	TemplateKeywords       Template = "keywords"
	TemplateHypothesis     Template = "hypothesis"
	TemplateAnswerKG       Template = "answer_kg"
	TemplateAnswerNaive    Template = "answer_naive"
)

// hashLength is the number of hex digits of a Hash: 64 bits, far more than versions of a text.
const hashLength = 16

// Hash identifies the wording of the given templates, slots unfilled: 16 hex digits that change when any
// of the texts does. The order of ts counts.
func Hash(ts ...Template) string {
	h := sha256.New()
	for _, t := range ts {
		s := t.text()
		h.Write([]byte(t))
		h.Write([]byte{0})
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:hashLength]
}

// text returns the raw template without its final newline; an unknown template is empty.
func (t Template) text() string {
	b, err := files.ReadFile("text/" + string(t) + ".txt")
	if err != nil {
		return "" // the names above are held against the embedded files by a test
	}
	return strings.TrimSuffix(string(b), "\n")
}

// fill replaces the slots {{name}} given as name, value pairs, in one pass.
func (t Template) fill(pairs ...string) string {
	return fillSlots(t.text(), pairs...)
}

func fillSlots(text string, pairs ...string) string {
	slots := make([]string, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		slots[i], slots[i+1] = "{{"+pairs[i]+"}}", pairs[i+1]
	}
	return strings.NewReplacer(slots...).Replace(text)
}

// fence returns a run of backticks longer than any in text, at least three.
func fence(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
