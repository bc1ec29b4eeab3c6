//go:build unix

package testvec

import (
	"os"
	"runtime/debug"
	"testing"
	"unsafe"
)

// faults reports whether reading the byte at p faults.
func faults(p unsafe.Pointer) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	sink = *(*byte)(p)
	return false
}

var sink byte

func TestGuardedBuffersFaultOutside(t *testing.T) {
	for _, n := range []int{1, 31, 32, os.Getpagesize(), os.Getpagesize() + 1} {
		tail, head := GuardTail(t, n), GuardHead(t, n)
		if len(tail) != n || len(head) != n {
			t.Fatalf("%d and %d bytes, want %d", len(tail), len(head), n)
		}
		for i := range n {
			tail[i], head[i] = 1, 1
		}
		if !faults(unsafe.Add(unsafe.Pointer(&tail[n-1]), 1)) {
			t.Errorf("%d bytes: the byte after the tail buffer can be read", n)
		}
		if !faults(unsafe.Add(unsafe.Pointer(&head[0]), -1)) {
			t.Errorf("%d bytes: the byte before the head buffer can be read", n)
		}
	}
}
