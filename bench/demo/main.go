// Command demo does the main job of sigcore from end to end: two accounts and
// the devices of a group on an embedded database, messages both ways through
// stanza, frame and back, a crash in the middle. It needs no network, leaves
// nothing behind, and ends with status 0 only if every message arrived equal to
// what was sent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	report := flag.Bool("report", false, "print the processor and the tiers, and end")
	check := flag.Bool("check", false, "with -report: fail if a logical processor lacks what the chosen tiers need")
	flag.Parse()
	if err := run(*report, *check); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(reportOnly, check bool) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if check && !reportOnly {
		return errors.New("-check belongs to -report")
	}
	report(os.Stdout)
	switch {
	case check:
		return checkProcessors(os.Stdout)
	case reportOnly:
		return nil
	}
	return converse(context.Background(), os.Stdout, fullScale)
}
