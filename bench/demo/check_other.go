//go:build !linux

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/sigcore/sigcore/internal/cpu"
)

// checkProcessors looks at the processor under this thread: other systems than
// Linux give a portable program no way to the others.
func checkProcessors(w io.Writer) error {
	if lacks := needed() &^ cpu.Present(); lacks != 0 {
		fmt.Fprintf(w, "this processor lacks %v\n", lacks)
		return errors.New("a logical processor lacks what the chosen tiers need")
	}
	fmt.Fprintln(w, "this processor has what the tiers need; others were not looked at")
	return nil
}
