package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// report prints the processor, what it has, and for each operation the tier
// that serves it and why no tier above it does.
func report(w io.Writer) {
	brand := cpu.Brand()
	if brand == "" {
		brand = "not looked at"
	}
	fmt.Fprintf(w, "processor %s, %d usable, %s/%s, %s\n", brand, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if f := cpu.Present(); f != 0 {
		fmt.Fprintf(w, "features %v\n", f)
	}
	fmt.Fprint(w, impl.String())
}

// needed returns what the tiers that run now rest on.
func needed() cpu.Features {
	var need cpu.Features
	for _, o := range impl.Report() {
		need |= cpu.Needs(o.Tier)
	}
	return need
}
