// Package errorhelper collects errors.
package errorhelper

import "strings"

// A MultiError is a list of errors.
type MultiError struct{ errors []error }

// NewMultiError returns an empty list.
func NewMultiError() *MultiError { return new(MultiError) }

// Add appends an error.
func (m *MultiError) Add(err error) { m.errors = append(m.errors, err) }

// HasErrors reports whether the list has any.
func (m *MultiError) HasErrors() bool { return len(m.errors) > 0 }

// Error returns the texts of all, separated by commas.
func (m *MultiError) Error() string {
	texts := make([]string, len(m.errors))
	for i, err := range m.errors {
		texts[i] = err.Error()
	}
	return strings.Join(texts, ", ")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (m *MultiError) Unwrap() []error { return m.errors }
