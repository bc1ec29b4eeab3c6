//go:build !purego

package curve

import (
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

func scalarAssembly() []scalarKernels {
	if !cpu.MULX {
		return nil
	}
	return []scalarKernels{{
		"mulx", scalarMulAddMULX, scalarReduceWideMULX,
		func(out, a, b, c *[4]uint64, n int) {
			for range n {
				scalarMulAddMULX(out, a, b, c)
			}
		},
		func(out *[4]uint64, x *[8]uint64, n int) {
			for range n {
				scalarReduceWideMULX(out, x)
			}
		},
	}}
}

func TestScalarSelfTest(t *testing.T) {
	if cpu.MULX && !selfTestScalarMULX() {
		t.Error("the kernels fail")
	}
}

// A build without generic code refuses to compute where the kernels must not
// run.
func TestScalarRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { scalarMULXRefused = r }(scalarMULXRefused)
	scalarMULXRefused = true
	for name, f := range map[string]func(){
		"Multiply":        func() { new(Scalar).Multiply(new(Scalar), new(Scalar)) },
		"SetUniformBytes": func() { new(Scalar).SetUniformBytes(make([]byte, 64)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
