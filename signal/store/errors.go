package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrNoAccount is returned for an account that the backend does not hold.
	ErrNoAccount = errors.New("store: no such account")

	// ErrAccountExists is returned by CreateAccount for a name in use.
	ErrAccountExists = errors.New("store: account exists")

	// ErrClosed is returned by every method of a closed backend.
	ErrClosed = errors.New("store: backend is closed")

	// ErrConflict is in the chain of a [ConflictError].
	ErrConflict = errors.New("store: rows have changed")

	// ErrOwned is in the chain of an [OwnedError].
	ErrOwned = errors.New("store: account has another owner")
)

// A ConflictError is a batch that was not applied because rows are not of the
// versions that it expects: somebody else has written them since they were
// read. Reading again and deciding anew is the way out.
type ConflictError struct {
	// Tables are the kinds of the rows that have changed, each once, ascending.
	// The zero Table stands for the account row.
	Tables []Table
}

// NewConflict returns the error for rows that are not as expected, nil if there
// are none. The order of keys and repetitions do not matter.
func NewConflict(keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	tables := make([]Table, len(keys))
	for i, k := range keys {
		tables[i] = k.Table
	}
	slices.Sort(tables)
	return &ConflictError{Tables: slices.Compact(tables)}
}

// Error names the kinds of the rows, and no row.
func (e *ConflictError) Error() string {
	names := make([]string, len(e.Tables))
	for i, t := range e.Tables {
		if names[i] = t.String(); t == 0 {
			names[i] = "account row"
		}
	}
	return "store: rows have changed: " + strings.Join(names, ", ")
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// An OwnedError is an account that somebody else owns: see [Owner].
type OwnedError struct {
	Owner Owner
}

// Error has the number of the owner, and not the holder, which the owner chose.
func (e *OwnedError) Error() string {
	if !e.Owner.Held {
		return fmt.Sprintf("store: account is no longer owned, the last owner was number %d", e.Owner.Fence)
	}
	return fmt.Sprintf("store: account has another owner, number %d", e.Owner.Fence)
}

// Unwrap returns ErrOwned.
func (e *OwnedError) Unwrap() error { return ErrOwned }
