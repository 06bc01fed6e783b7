package kv

import (
	"errors"
	"fmt"
	"io"
)

var (
	ErrOne            = errors.New("one")
	ErrTwo            = fmt.Errorf("two: %w", ErrOne)
	ErrThree    error = custom{}
	ErrFour           = io.ErrClosedPipe
	ErrorCount        = 0
	ErrNot            = 4
	Default, ok       = Options{}, true
	Table             = []string{"a"}
	_                 = ok
	unexported        = 1
)

type Options struct{}

type custom struct{}

func (custom) Error() string { return "custom" }

func f() int {
	var Local = unexported
	return Local
}
