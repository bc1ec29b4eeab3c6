//go:build !purego

package field

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useMULX turns on the kernels of the tier mulx.
	useMULX = cpu.MULX
	// mulxRefused is true if this build has no other code than those kernels
	// (cpu.V3) and this process must not run them.
	mulxRefused bool
)

func init() {
	impl.Register("mulx", &useMULX, cpu.V3)
	if useMULX && !selfTest(feMulMULX, feSquareMULX, feSquareNMULX) {
		impl.Demote(&useMULX, selfTestFailed)
	}
	mulxRefused = cpu.V3 && !useMULX
	operations(&useMULX)
}

func feMul(out, a, b *[5]uint64) {
	switch {
	case cpu.V3 && mulxRefused:
		panic(selfTestFailed)
	case cpu.V3 || useMULX:
		feMulMULX(out, a, b)
	default:
		feMulGeneric(out, a, b)
	}
}

func feSquare(out, a *[5]uint64) {
	switch {
	case cpu.V3 && mulxRefused:
		panic(selfTestFailed)
	case cpu.V3 || useMULX:
		feSquareMULX(out, a)
	default:
		feSquareGeneric(out, a)
	}
}

func feSquareN(out, a *[5]uint64, n int) {
	switch {
	case cpu.V3 && mulxRefused:
		panic(selfTestFailed)
	case cpu.V3 || useMULX:
		feSquareNMULX(out, a, n)
	default:
		feSquareNGeneric(out, a, n)
	}
}
