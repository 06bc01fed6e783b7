package graph

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// Errors that callers test with errors.Is. What is absent is also a kv.ErrNotFound.
var (
	// ErrInvalid: a name, type, weight, property or argument cannot be stored or used; see InvalidError.
	ErrInvalid = errors.New("graph: invalid")
	// ErrConfig: a graph exists with another configuration; see ConfigError.
	ErrConfig = errors.New("graph: configuration differs")
	// ErrExists: the new name of a node is taken.
	ErrExists = errors.New("graph: name is taken")
	// ErrNoPath: both ends exist, but no path within the bound joins them.
	ErrNoPath = errors.New("graph: no path")
	// ErrLimit: a bounded operation met more than its limit; see LimitError.
	ErrLimit = errors.New("graph: limit exceeded")
)

// InvalidError tells which part of an argument was refused and why.
type InvalidError struct {
	Field  string // "graph name", "node name", "node type", "edge type", "edge weight", "property", "argument"
	Key    string // the property's key or the argument's name, else empty
	Reason string
}

func (e *InvalidError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("graph: invalid %s %s: %s", e.Field, brief.Quote(e.Key), e.Reason)
	}
	return fmt.Sprintf("graph: invalid %s: %s", e.Field, e.Reason)
}

// Is makes every InvalidError an ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// MissingNodeError names a node that an operation needs and the view does not have.
type MissingNodeError struct{ Name string }

func (e *MissingNodeError) Error() string { return "graph: no node " + brief.Quote(e.Name) }

// Is makes every MissingNodeError a kv.ErrNotFound.
func (e *MissingNodeError) Is(target error) bool { return target == kv.ErrNotFound }

// ConfigError names both sides of a configuration conflict.
type ConfigError struct {
	Name       string
	Have, Want Config
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("graph: %s is %v, asked for as %v", brief.Quote(e.Name), e.Have, e.Want)
}

// Is makes every ConfigError an ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// LimitError tells which limit an operation met.
type LimitError struct {
	What  string // "nodes", "edges", "visited nodes", "node ids"
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("graph: more than %d %s", e.Limit, e.What)
}

// Is makes every LimitError an ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
