package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sigcore/sigcore/binary"
)

// ledger knows what every device must receive, and prints what each step cost.
type ledger struct {
	w io.Writer

	mu       sync.Mutex
	expected map[receipt]string // the text
	arrived  int
}

// receipt is one message at one device.
type receipt struct {
	id string
	to binary.JID
}

func newLedger(w io.Writer) *ledger {
	return &ledger{w: w, expected: make(map[receipt]string)}
}

// step runs one step of the demo and prints a line about it. f returns what it
// did, and how many times.
func (l *ledger) step(name string, f func() (n int, what string, err error)) error {
	start := time.Now()
	n, what, err := f()
	d := time.Since(start)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(l.w, "%-46s %9.1f ms", name, float64(d.Microseconds())/1000)
	if n > 0 {
		fmt.Fprintf(l.w, "  %5d × %8.1f µs %s", n, float64(d.Nanoseconds())/1000/float64(n), what)
	}
	fmt.Fprintln(l.w)
	return nil
}

// expect notes that a text must reach a device.
func (l *ledger) expect(id string, to binary.JID, content string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected[receipt{id, to}] = content
}

var (
	errNotSent = errors.New("a message arrived that nobody sent, or twice")
	errDiffers = errors.New("a message arrived other than it was sent")
)

// receive notes that a text has reached a device.
func (l *ledger) receive(id string, to binary.JID, content string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	want, ok := l.expected[receipt{id, to}]
	if !ok {
		return errNotSent
	}
	if content != want {
		return errDiffers
	}
	delete(l.expected, receipt{id, to})
	l.arrived++
	return nil
}

// close fails unless everything has arrived.
func (l *ledger) close() error {
	if len(l.expected) > 0 {
		return fmt.Errorf("%d messages never arrived, %d did", len(l.expected), l.arrived)
	}
	return nil
}
