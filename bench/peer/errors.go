package main

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/curve"
)

var (
	errBadRequest = errors.New("bad request")
	errUnknownOp  = errors.New("unknown operation")
	errBadKey     = errors.New("bad key")
	errPanic      = errors.New("internal fault")
)

func badKeyf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errBadKey, fmt.Sprintf(format, args...))
}

// classes maps errors to the classes of the protocol, the most specific first.
var classes = []struct {
	err   error
	class string
}{
	{errUnknownOp, "unknown_op"},
	{errBadRequest, "bad_request"},
	{errBadKey, "bad_key"},
	{curve.ErrLowOrder, "low_order"},
	{curve.ErrKeyLength, "bad_key"},
}

// class names the kind of an error. What nothing here knows is a fault of this
// program or of its store.
func class(err error) string {
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	return "store"
}

func missing(field string) error { return fmt.Errorf("%w: no %s", errBadRequest, field) }
