package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// Reasons of an *EditError, beside kv.ErrNotFound.
var (
	// ErrEdit is in the chain of every *EditError.
	ErrEdit = errors.New("index: edit refused")
	// ErrNameTaken: an entity, an alias or a relation of that name exists, or was deleted by hand.
	ErrNameTaken = errors.New("name is taken")
	// ErrName: nothing is left of the name once it is normalised.
	ErrName = errors.New("not a name")
	// ErrAmbiguous: the name is, but for letter case and width, that of several entities; *AmbiguousError lists them.
	ErrAmbiguous = errors.New("ambiguous name")
	// ErrSelfRelation: both ends of a relation are one entity.
	ErrSelfRelation = errors.New("both ends are one entity")
	// ErrField: a value cannot be stored: a blank description, a weight out of range or below the evidence.
	ErrField = errors.New("bad value")
)

// EditError says why a change of the graph was refused. Nothing was written.
type EditError struct {
	Op    string   // "create entity", "rename entity", ...
	Names []string // the entity, or the ends of the relation, as given
	Field string   // which argument is wrong: "name", "description", "weight", ...; empty: the object itself
	Err   error
}

func (e *EditError) Error() string {
	names := make([]string, len(e.Names))
	for i, n := range e.Names {
		names[i] = brief.Quote(n)
	}
	s := fmt.Sprintf("index: %s %s: ", e.Op, strings.Join(names, " - "))
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Err.Error()
}

// Unwrap returns ErrEdit and the reason.
func (e *EditError) Unwrap() []error { return []error{ErrEdit, e.Err} }

// NoObjectError is the reason for an entity or a relation that does not exist.
type NoObjectError struct {
	Names []string // one of an entity, two of a relation
	// Deleted: it was deleted by hand, and documents still speak of it. A reset brings it back.
	Deleted bool
}

func (e *NoObjectError) Error() string {
	s := "no entity " + brief.Quote(e.Names[0])
	if len(e.Names) > 1 {
		s = fmt.Sprintf("no relation %s - %s", brief.Quote(e.Names[0]), brief.Quote(e.Names[1]))
	}
	if e.Deleted {
		s += ", it was deleted by hand"
	}
	return s
}

// Unwrap returns kv.ErrNotFound.
func (e *NoObjectError) Unwrap() error { return kv.ErrNotFound }

// AmbiguousError is the reason for a name that nothing has exactly, and several have but for letter case and width.
type AmbiguousError struct {
	Name       string   // as given
	Candidates []string // the names that it may mean, sorted
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is the name of %d entities, each in another spelling", brief.Quote(e.Name), len(e.Candidates))
}

// Unwrap returns ErrAmbiguous.
func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }

func taken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNameTaken, fmt.Sprintf(format, args...))
}

func badField(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrField, fmt.Sprintf(format, args...))
}
