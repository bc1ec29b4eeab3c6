//go:build !purego

package field

import (
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

func TestSelfTest(t *testing.T) {
	if cpu.MULX && !selfTestMULX() {
		t.Error("the kernels fail")
	}
}

// A build without generic code refuses to compute where the kernels must not
// run, rather than to give wrong results.
func TestRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { mulxRefused = r }(mulxRefused)
	mulxRefused = true
	v := new(Element).One()
	mustPanic(t, "Multiply", func() { v.Multiply(v, v) })
	mustPanic(t, "Square", func() { v.Square(v) })
	mustPanic(t, "SquareN", func() { v.SquareN(v, 2) })
}
