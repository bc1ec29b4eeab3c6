package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sigcore/sigcore/internal/cpu"
)

var errUnlike = errors.New("a logical processor lacks what the chosen tiers need")

// checkProcessors moves to each logical processor that this process may use,
// and looks there.
func checkProcessors(w io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("reading the affinity: %w", err)
	}
	defer unix.SchedSetaffinity(0, &allowed) // the thread ends with the process if not
	need, checked := needed(), 0
	var failed error
	for i, left := 0, allowed.Count(); left > 0; i++ {
		if !allowed.IsSet(i) {
			continue
		}
		left--
		var one unix.CPUSet
		one.Set(i)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return fmt.Errorf("moving to processor %d: %w", i, err)
		}
		if lacks := need &^ cpu.Present(); lacks != 0 {
			fmt.Fprintf(w, "processor %d lacks %v\n", i, lacks)
			failed = errUnlike
		}
		checked++
	}
	if failed == nil {
		fmt.Fprintf(w, "%d logical processors have what the tiers need: %s\n", checked, orNothing(need))
	}
	return failed
}

func orNothing(f cpu.Features) string {
	if f == 0 {
		return "nothing"
	}
	return f.String()
}
