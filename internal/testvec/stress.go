package testvec

import (
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

// Stress calls the checks again and again, for some time, while the runtime does
// what kernels have to bear: collections that scan and shrink the stacks, and
// stop goroutines by signals; profiling signals, ten times as often as usual; and
// stacks that end anywhere, since each call is on one that is new and used to
// another depth, so that some grow at the entry of a kernel. A check returns
// false if a result is wrong.
func Stress(t *testing.T, d time.Duration, checks map[string]func() bool) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	// The rate stays, and the runtime says so; if something else profiles, that
	// will do.
	runtime.SetCPUProfileRate(1000)
	if pprof.StartCPUProfile(io.Discard) == nil {
		defer pprof.StopCPUProfile()
	}

	end := time.Now().Add(d)
	var wg sync.WaitGroup
	wg.Go(func() {
		for time.Now().Before(end) {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	for name, check := range checks {
		wg.Go(func() {
			for depth := 0; depth < 64 || time.Now().Before(end); depth++ {
				var ok bool
				var call sync.WaitGroup
				call.Go(func() { below(depth%64, func() { ok = check() }) })
				call.Wait()
				if !ok {
					t.Errorf("%s: a wrong result, %d frames deep", name, depth%64)
					return
				}
			}
		})
	}
	wg.Wait()
}

// below calls f below n frames of some 100 bytes.
//
//go:noinline
func below(n int, f func()) int {
	if n == 0 {
		f()
		return 0
	}
	var pad [8]int
	pad[n%8] = n
	return below(n-1, f) + pad[(n+1)%8]
}
