// Package random is the only place where sigcore draws randomness. The source
// is crypto/rand unless a test or a program under bench installs another one.
package random

import (
	"crypto/rand"
	"fmt"
	"io"
	"sync/atomic"
)

// source holds an installed replacement of crypto/rand.
var source atomic.Pointer[io.Reader]

// Read fills b with one draw. Each call is one draw: an installed source sees
// exactly the lengths that the callers ask for, in their order. An error means
// that b must not be used.
func Read(b []byte) error {
	p := source.Load()
	if p == nil {
		if _, err := rand.Read(b); err != nil {
			return fmt.Errorf("random: draw of %d bytes: %w", len(b), err)
		}
		return nil
	}
	// What goes to an interface would move the arrays of all callers to the
	// heap, so that an installed source fills a buffer of its own.
	buf := make([]byte, len(b))
	if _, err := io.ReadFull(*p, buf); err != nil {
		clear(b)
		return fmt.Errorf("random: draw of %d bytes: %w", len(b), err)
	}
	copy(b, buf)
	return nil
}

// Install makes r the source of all draws and returns a function that restores
// the one before it. It is for tests and for programs under bench; r must be
// safe for concurrent use if draws are concurrent.
func Install(r io.Reader) (restore func()) {
	old := source.Swap(&r)
	return func() { source.Store(old) }
}
