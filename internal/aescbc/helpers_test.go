package aescbc

import (
	"unsafe"

	"github.com/sigcore/sigcore/internal/impl"
)

// implementations are the kernel sets that run here, and generic.
func implementations() (names []string) {
	defer impl.Reset("aescbc")
	for _, name := range impl.List("aescbc") {
		if impl.Select("aescbc", name) {
			names = append(names, name)
		}
	}
	return append(names, "generic")
}

// selectImplementation selects one and returns a function that undoes it.
func selectImplementation(name string) (reset func()) {
	if name == "generic" {
		name = ""
	}
	impl.Select("aescbc", name)
	return func() { impl.Reset("aescbc") }
}

// allocationFree reports whether kernels run.
func allocationFree() bool {
	for _, o := range impl.Report() {
		if o.Package == "aescbc" && o.Tier == "generic" {
			return false
		}
	}
	return true
}

// testBytes are the n bytes at p.
func testBytes(p *byte, n int) []byte { return unsafe.Slice(p, n) }
