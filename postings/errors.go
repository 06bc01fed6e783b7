package postings

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// Errors that callers test with errors.Is. What is absent is a kv.ErrNotFound, damage a kv.ErrCorrupt.
var (
	// ErrInvalid: a name, id, term or argument cannot be stored or used; see InvalidError.
	ErrInvalid = errors.New("postings: invalid")
	// ErrExists: an item of that id is stored.
	ErrExists = errors.New("postings: item exists")
	// ErrConfig: an index exists with another configuration; see ConfigError.
	ErrConfig = errors.New("postings: configuration differs")
	// ErrDiffers: an item is not what it was said to be by who removes it.
	ErrDiffers = errors.New("postings: the item holds other terms")
)

// InvalidError tells which argument was refused and why.
type InvalidError struct {
	Field  string // "name", "id", "term", "count", "k1", "b", "k"
	Reason string
}

func (e *InvalidError) Error() string { return "postings: invalid " + e.Field + ": " + e.Reason }

// Is makes every InvalidError an ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// ConfigError names both sides of a configuration conflict.
type ConfigError struct {
	Name       string
	Have, Want Config
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("postings: %s was made with analyser %s, asked for with %s", brief.Quote(e.Name), brief.Quote(e.Have.Analyser), brief.Quote(e.Want.Analyser))
}

// Is makes every ConfigError an ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: postings: %w", kv.ErrCorrupt, err)
}
