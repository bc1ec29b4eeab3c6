//go:build valgrind && linux && amd64

package main

import (
	"runtime"
	"unsafe"
)

// request makes a request of valgrind, by its number and arguments, and returns
// the answer; outside of valgrind it returns 0.
//
//go:noescape
func request(args *[6]uint64) uint64

// Numbers of requests, from valgrind.h and memcheck.h.
const (
	runningOnValgrind = 0x1001
	makeMemUndefined  = 'M'<<24 | 'C'<<16 + 1
	makeMemDefined    = 'M'<<24 | 'C'<<16 + 2
	getVBits          = 'M'<<24 | 'C'<<16 + 8
)

// underValgrind reports whether this process runs under valgrind.
func underValgrind() bool { return request(&[6]uint64{runningOnValgrind}) != 0 }

// hide marks b as undefined: whatever is computed from it is, too, and memcheck
// reports each jump and each address that depends on it.
func hide(b []byte) {
	request(&[6]uint64{makeMemUndefined, address(b), uint64(len(b))})
	runtime.KeepAlive(b)
}

// reveal marks b as defined.
func reveal(b []byte) {
	request(&[6]uint64{makeMemDefined, address(b), uint64(len(b))})
	runtime.KeepAlive(b)
}

// hidden reports whether a bit of b is undefined.
func hidden(b []byte) bool {
	v := make([]byte, len(b))
	if request(&[6]uint64{getVBits, address(b), address(v), uint64(len(b))}) != 1 {
		panic("memcheck does not answer")
	}
	var or byte
	for _, x := range v {
		or |= x
	}
	return or != 0
}

// address is that of b, which stays where it is: it is on the heap.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
