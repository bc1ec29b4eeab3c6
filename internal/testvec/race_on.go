//go:build race

package testvec

// Race is true under the race detector, where allocations do not count: it adds
// some, and lets sync.Pool forget.
const Race = true
