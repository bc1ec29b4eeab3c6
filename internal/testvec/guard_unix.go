//go:build unix

package testvec

import (
	"os"
	"syscall"
	"testing"
)

// guarded maps whole pages for n bytes with an inaccessible page on each side
// and returns the accessible ones.
func guarded(tb testing.TB, n int) []byte {
	tb.Helper()
	page := os.Getpagesize()
	size := max(1, (n+page-1)/page) * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal("testvec: mmap: ", err)
	}
	tb.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			tb.Error("testvec: munmap: ", err)
		}
	})
	for _, guard := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			tb.Fatal("testvec: mprotect: ", err)
		}
	}
	return m[page : page+size : page+size]
}

// GuardTail returns n zero bytes, until the end of the test: an access to the
// byte after them faults.
func GuardTail(tb testing.TB, n int) []byte {
	tb.Helper()
	b := guarded(tb, n)
	return b[len(b)-n:]
}

// GuardHead returns n zero bytes, until the end of the test: an access to the
// byte before them faults.
func GuardHead(tb testing.TB, n int) []byte {
	tb.Helper()
	return guarded(tb, n)[:n:n]
}
