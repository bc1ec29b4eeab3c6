//go:build !unix

package testvec

import "testing"

// GuardTail returns n zero bytes. This system has no guard pages here.
func GuardTail(_ testing.TB, n int) []byte { return make([]byte, n) }

// GuardHead returns n zero bytes. This system has no guard pages here.
func GuardHead(_ testing.TB, n int) []byte { return make([]byte, n) }
