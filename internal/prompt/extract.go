package prompt

import (
	"strconv"
	"strings"
)

// The marks of the extraction format. The parser of package index reads what these templates ask for.
const (
	// FieldDelimiter separates the fields of a record.
	FieldDelimiter = "<|#|>"
	// EndMarker closes the reply.
	EndMarker = "<|COMPLETE|>"
	// OtherType is the entity type for what fits no other.
	OtherType = "other"
	// wrongDelimiter shows the model what a damaged delimiter looks like.
	wrongDelimiter = "<|Tokyo|>"
)

// Limits stated to the model where a parameter is 0. They bound the reply's length; the parser does not
// enforce them.
const (
	DefaultMaxRecords  = 100
	DefaultMaxEntities = 40
)

// ExtractParams configure the extraction prompts; they are the same for every chunk.
type ExtractParams struct {
	// Language of descriptions and keywords; empty means DefaultLanguage.
	Language string
	// Types is the guidance on entity types, one "name: explanation" a line; empty means the built-in
	// list of eleven types and other.
	Types string
	// MaxRecords and MaxEntities are the limits stated to the model; 0 means the defaults.
	MaxRecords, MaxEntities int
}

// ExtractSystem is the system message of extraction and gleaning. It holds no text of a chunk.
func ExtractSystem(p ExtractParams) string {
	return TemplateExtractSystem.fill(append(p.slots(),
		"types", orDefault(strings.TrimSpace(p.Types), TemplateTypes.text()),
		"other", OtherType,
		"wrong_delimiter", wrongDelimiter,
	)...)
}

// ExtractUser is the user message for one chunk. headings is the path of section headings above it, or
// empty; without one the message has no trace of the section block.
func ExtractUser(p ExtractParams, headings, text string) string {
	section := ""
	if headings != "" {
		section = TemplateExtractSection.fill("headings", headings)
	}
	return TemplateExtractUser.fill(append(p.slots(),
		"section", section,
		"fence", fence(text),
		"text", text,
	)...)
}

// Glean is the user message that asks for what the last answer missed; it follows the messages of the
// extraction call and its answer.
func Glean(p ExtractParams) string { return TemplateGlean.fill(p.slots()...) }

// ExtractHash identifies the wording of the extraction prompts; the types are part of it only while they
// are the built-in ones, since callers' own are part of their configuration.
func ExtractHash() string {
	return Hash(TemplateExtractSystem, TemplateExtractUser, TemplateExtractSection, TemplateTypes, TemplateGlean)
}

func (p ExtractParams) slots() []string {
	records, entities := p.MaxRecords, p.MaxEntities
	if records == 0 {
		records = DefaultMaxRecords
	}
	if entities == 0 {
		entities = DefaultMaxEntities
	}
	return []string{
		"language", orDefault(p.Language, DefaultLanguage),
		"max_records", strconv.Itoa(records),
		"max_entities", strconv.Itoa(entities),
		"delimiter", FieldDelimiter,
		"marker", EndMarker,
	}
}

// DefaultTypes is the built-in guidance on entity types, one "name: explanation" a line.
func DefaultTypes() string { return TemplateTypes.text() }
