//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useScalarMULX turns on the scalar arithmetic of the tier mulx.
	useScalarMULX = cpu.MULX
	// scalarMULXRefused is true if this build has no other code than those
	// kernels (cpu.V3) and this process must not run them.
	scalarMULXRefused bool
)

func init() {
	impl.Register("mulx", &useScalarMULX, cpu.V3)
	if useScalarMULX && !selfTestScalar(scalarMulAddMULX, scalarReduceWideMULX) {
		impl.Demote(&useScalarMULX, selfTestFailed)
	}
	scalarMULXRefused = cpu.V3 && !useScalarMULX
	scalarOperations(&useScalarMULX)
}

func scalarMulAdd(out, a, b, c *[4]uint64) {
	switch {
	case cpu.V3 && scalarMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useScalarMULX:
		scalarMulAddMULX(out, a, b, c)
	default:
		scalarMulAddGeneric(out, a, b, c)
	}
}

func scalarReduceWide(out *[4]uint64, x *[8]uint64) {
	switch {
	case cpu.V3 && scalarMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useScalarMULX:
		scalarReduceWideMULX(out, x)
	default:
		scalarReduceWideGeneric(out, x)
	}
}
