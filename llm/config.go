package llm

import "strings"

// ConfigError names the field of a provider's configuration that cannot be used.
type ConfigError struct {
	Provider       string // the package
	Field, Problem string
}

func (e *ConfigError) Error() string { return "llm: " + e.Provider + ": " + e.Field + ": " + e.Problem }

// knownDims are the vector lengths of models in wide use.
var knownDims = map[string]int{
	"text-embedding-3-small": 1536,
	"text-embedding-3-large": 3072,
	"text-embedding-ada-002": 1536,
	"nomic-embed-text":       768,
	"mxbai-embed-large":      1024,
	"all-minilm":             384,
	"bge-m3":                 1024,
	"snowflake-arctic-embed": 1024,
	"embeddinggemma":         768,
}

// KnownDim returns the length of the vectors of an embedding model, or 0 when it is not known here. A tag
// (":latest") and an owner ("BAAI/") are ignored.
func KnownDim(model string) int {
	name, _, _ := strings.Cut(strings.ToLower(model), ":")
	return knownDims[name[strings.LastIndexByte(name, '/')+1:]]
}
