// Command percpu makes the record of one processor: for each operation of
// command compare and each tier of sigcore, the time, and the number of
// instructions where valgrind can count them. With -check it compares the counts
// with a record instead: they hardly vary, so that they show on a busy machine
// what times cannot.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// The statuses of a check.
const (
	statusGrown = 1
	statusError = 2
	statusOther = 3 // the record is of a processor with other features
)

var (
	errGrown = errors.New("operations have grown by more than 2 %")
	errOther = errors.New("the record is of another feature set: nothing is compared")
)

func main() {
	out := flag.String("out", "", "directory for the record (default: print it)")
	check := flag.String("check", "", "compare the instruction counts with this record; status 1 if one has grown by more than 2 %, 3 if it is of another feature set")
	work := flag.Bool("work", false, "do the operations: for the counter, which runs this program under valgrind")
	flag.Parse()
	var err error
	switch {
	case *work:
		err = doWork(os.Stdout)
	case *check != "":
		err = checkRecord(os.Stdout, *check)
	default:
		err = makeRecord(os.Stdout, *out)
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "percpu:", err)
	switch {
	case errors.Is(err, errGrown):
		os.Exit(statusGrown)
	case errors.Is(err, errOther):
		os.Exit(statusOther)
	}
	os.Exit(statusError)
}
