package signal

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// MaxWorkers bounds the goroutines that one operation uses.
const MaxWorkers = 16

// workerCount returns how many workers a caller who asks for n gets: for 0, one
// for each processor.
func workerCount(n int) int {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return min(n, MaxWorkers)
}

// chunks returns the next chunk to work on, and false after the last.
type chunks func() (from, to int, ok bool)

// inChunks cuts n items into chunks and has them worked on by at most so many
// goroutines, of which the caller is one. Each goroutine calls work once. Which
// one gets which chunk is left open: results must not depend on it.
func inChunks(n, size, workers int, work func(next chunks)) {
	var cursor atomic.Int64
	next := func() (from, to int, ok bool) {
		to = int(cursor.Add(int64(size)))
		from = to - size
		return from, min(to, n), from < n
	}
	var wg sync.WaitGroup
	for range min(workers, (n+size-1)/size) - 1 {
		wg.Go(func() { work(next) })
	}
	if n > 0 {
		work(next)
	}
	wg.Wait()
}
