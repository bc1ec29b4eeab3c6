// Command compare runs sigcore and other libraries side by side: every
// (library, tier) pair of an operation in one process, in short interleaved
// rounds on one locked thread, so that the load of the machine meets all alike.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"text/tabwriter"
)

func main() {
	ops := flag.String("ops", "", "operations to run, a regular expression (default all)")
	libs := flag.String("libs", "", "libraries to run, a regular expression (default all)")
	rounds := flag.Int("rounds", defaultRounds, "rounds of each pair")
	asJSON := flag.Bool("json", false, "one JSON object a line instead of a table")
	flag.Parse()
	err := run(os.Stdout, *ops, *libs, *rounds, *asJSON)
	cleanUp()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, ops, libs string, rounds int, asJSON bool) error {
	opPattern, err := regexp.Compile(ops)
	if err != nil {
		return err
	}
	libPattern, err := regexp.Compile(libs)
	if err != nil {
		return err
	}
	if rounds < 1 {
		return fmt.Errorf("%d rounds", rounds)
	}
	out := json.NewEncoder(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !asJSON {
		fmt.Fprintln(table, "operation\tlibrary\ttier\tns min\tns median\tallocs\tbytes\t")
	}
	found := false
	for _, op := range operations() {
		if !opPattern.MatchString(op) {
			continue
		}
		rows, err := measure(op, libPattern, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		for _, r := range rows {
			found = true
			if asJSON {
				err = out.Encode(r)
			} else {
				_, err = fmt.Fprintf(table, "%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.0f\t\n",
					r.Op, r.Lib, r.Tier, r.NsMin, r.NsMedian, r.Allocs, r.Bytes)
			}
			if err != nil {
				return err
			}
		}
		if !asJSON {
			if err := table.Flush(); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no operation matches %q with libraries %q", ops, libs)
	}
	m := machine()
	if asJSON {
		return out.Encode(m)
	}
	_, err = fmt.Fprintf(w, "%s; %s; GOMAXPROCS %d; %s\n", m.CPU, m.Go, m.Gomaxprocs, m.Commit)
	return err
}
