package query

import "context"

// Keywords are the two levels of dual-level retrieval.
type Keywords struct {
	// High are themes and intents; they search the relation index.
	High []string `json:"high_level"`
	// Low are names and concrete things; they search the entity index.
	Low []string `json:"low_level"`
}

// Keyworder finds keywords in a question.
type Keyworder interface {
	Keywords(ctx context.Context, question string) (Keywords, error)
	// ID names the method and everything that changes its output.
	ID() string
}
