package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/sigcore/sigcore/internal/impl"
)

// The tiers that valgrind can run; it knows neither ADX nor AVX-512.
var countedTiers = []string{"generic", "mulx"}

// An operation is counted twice, so that what surrounds it falls out of the
// difference.
const (
	fewTimes  = 2
	manyTimes = 12
	// firstTimes is how often it is done before, for what is done once, at the
	// first use or at one of the next.
	firstTimes = 16
)

// growStack makes room for whatever an operation needs. A stack that grew while
// callgrind counts would move, and callgrind would miss the end of work.
//
//go:noinline
func growStack() byte {
	var room [256 << 10]byte
	for i := range room {
		room[i] = byte(i)
	}
	return room[len(room)/3]
}

// A task is one operation on one tier.
type task struct {
	Op   string `json:"op"`
	Tier string `json:"tier"`
}

// work does f n times. Callgrind counts while it runs, and writes a file at its
// end.
//
//go:noinline
func work(f func(), n int) {
	for range n {
		f()
	}
}

// doWork does all that can be counted here, and writes what it has done.
func doWork(w io.Writer) error {
	// The counter is switched for a thread.
	runtime.LockOSThread()
	growStack()
	var done []task
	for _, tier := range countedTiers {
		if !selectTier(tier) {
			continue
		}
		for _, o := range operations {
			f, err := o.setup()
			if err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
			for range firstTimes {
				f()
			}
			work(f, fewTimes)
			work(f, manyTimes)
			done = append(done, task{o.name, tier})
		}
	}
	return json.NewEncoder(w).Encode(done)
}

// selectTier switches field and curve to a tier, and reports whether both run it.
func selectTier(tier string) bool {
	if tier == "generic" {
		tier = ""
	}
	return impl.Select("field", tier) && impl.Select("curve", tier)
}
