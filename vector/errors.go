package vector

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// Errors that callers test with errors.Is. The typed errors below carry the details.
var (
	// ErrDimension: a vector's length is not the collection's dimension.
	ErrDimension = errors.New("vector: wrong dimension")
	// ErrVector: a vector holds NaN or Inf, is too large, or is zero where the metric is cosine.
	ErrVector = errors.New("vector: unusable vector")
	// ErrConfig: a configuration is out of range or differs from the stored one.
	ErrConfig = errors.New("vector: configuration")
	// ErrParameter: an argument of a search is out of range, or made for another collection.
	ErrParameter = errors.New("vector: parameter")
	// ErrClosed: the set was closed. It is kv.ErrClosed, too.
	ErrClosed = fmt.Errorf("vector: set: %w", kv.ErrClosed)
)

// DimensionError tells both lengths. It is ErrDimension.
type DimensionError struct {
	Collection string
	ID         string // of the vector; empty for a query
	Got, Want  int
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("%v: %s has %d values, collection %s wants %d", ErrDimension, subject(e.ID), e.Got, brief.Quote(e.Collection), e.Want)
}

// Is reports whether target is ErrDimension.
func (e *DimensionError) Is(target error) bool { return target == ErrDimension }

// ValueError tells what is wrong with a vector. It is ErrVector.
type ValueError struct {
	Collection string
	ID         string // of the vector; empty for a query
	Index      int    // the offending value, -1 when it is the vector as a whole
	Reason     string
}

func (e *ValueError) Error() string {
	at := ""
	if e.Index >= 0 {
		at = fmt.Sprintf(" at index %d", e.Index)
	}
	return fmt.Sprintf("%v: %s for collection %s: %s%s", ErrVector, subject(e.ID), brief.Quote(e.Collection), e.Reason, at)
}

// Is reports whether target is ErrVector.
func (e *ValueError) Is(target error) bool { return target == ErrVector }

func subject(id string) string {
	if id == "" {
		return "query"
	}
	return "vector " + brief.Quote(id)
}

// ConfigError names both sides of a mismatch. It is ErrConfig.
type ConfigError struct {
	Collection string
	Stored     Config
	Asked      Config
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%v: collection %s was created with %v, asked for %v", ErrConfig, brief.Quote(e.Collection), e.Stored, e.Asked)
}

// Is reports whether target is ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// ParameterError tells which argument of a call is out of range. It is its Err.
type ParameterError struct {
	Err        error  // ErrParameter, or ErrConfig for a field of Config
	Collection string // empty where the argument is of no collection
	Field      string // in the options of the call, for example "K"
	Value      any    // what was given
	Want       string // what is accepted
}

func (e *ParameterError) Error() string {
	of := ""
	if e.Collection != "" {
		of = "collection " + brief.Quote(e.Collection) + ": "
	}
	return fmt.Sprintf("%v: %s%s is %v, want %s", e.Err, of, e.Field, e.Value, e.Want)
}

// Unwrap returns Err.
func (e *ParameterError) Unwrap() error { return e.Err }
