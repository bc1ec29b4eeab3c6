// Package impltest runs tests under each kernel set of a package.
package impltest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

// All runs f once for each kernel set of pkg, as the sub-test impl=NAME, and
// once with none, as impl=generic. A set that may not run on this machine is
// skipped, unless SIGCORE_TEST_REQUIRE names it. A test that calls All must not
// be parallel, because toggles belong to the process; f may have parallel
// sub-tests.
func All(t *testing.T, pkg string, f func(t *testing.T)) {
	t.Helper()
	t.Setenv("SIGCORE_TEST_IMPL", pkg) // panics in a parallel test
	if !impl.Known(pkg) {
		t.Fatalf("the package %q has registered no kernel and declared no operation", pkg)
	}
	t.Cleanup(func() { impl.Reset(pkg) })
	for _, name := range impl.List(pkg) {
		t.Run("impl="+name, func(t *testing.T) {
			if !impl.Select(pkg, name) {
				if Required(name) {
					t.Fatalf("%s is required and may not run\n%s", name, impl.String())
				}
				t.Skip("may not run on this machine or in this build")
			}
			f(t)
		})
	}
	t.Run("impl=generic", func(t *testing.T) {
		if !impl.Select(pkg, "") {
			t.Skip("compiled out by GOAMD64")
		}
		f(t)
	})
}

// Required reports whether SIGCORE_TEST_REQUIRE, a comma list, has the entry
// name: a test must then fail where it would skip.
func Required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("SIGCORE_TEST_REQUIRE"), ","), name)
}
