//go:build valgrind && linux && amd64

// Command subject does every operation that handles secrets once, on secrets
// that are marked as undefined, for the command memcheck to run under valgrind.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sigcore/sigcore/internal/impl"
)

func main() {
	tier := flag.String("tier", "generic", "tier that every operation with a kernel for it runs")
	plant := flag.Bool("plant", false, "leak, instead of doing operations")
	flag.Parse()
	if err := run(*tier, *plant); err != nil {
		fmt.Fprintln(os.Stderr, "subject:", err)
		os.Exit(1)
	}
}

func run(tier string, plant bool) error {
	if !underValgrind() {
		return fmt.Errorf("this program says something only under valgrind")
	}
	if plant {
		leak(secret("leak", 32))
		return nil
	}
	for _, pkg := range []string{"field", "curve"} {
		name := tier
		if tier == "generic" {
			name = ""
		}
		if !impl.Select(pkg, name) {
			return fmt.Errorf("%s cannot run the tier %s here:\n%s", pkg, tier, impl.String())
		}
	}
	// Memcheck loses track of the stack when the runtime changes threads, as it
	// does in system calls: there is none until all is done.
	var done strings.Builder
	for _, o := range operations {
		for i, out := range o.run() {
			// If no secret had reached the result, the run would show nothing.
			if !hidden(out) {
				return fmt.Errorf("%s: result %d does not depend on a secret", o.name, i)
			}
			reveal(out)
		}
		done.WriteString(o.name + "\n")
	}
	_, err := os.Stdout.WriteString(done.String())
	return err
}
