//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useDoubleBaseMULX turns on the kernels of verification of the tier mulx.
	useDoubleBaseMULX = cpu.MULX
	// doubleBaseMULXRefused is true if this build has no other code than those
	// kernels (cpu.V3) and this process must not run them.
	doubleBaseMULXRefused bool
)

func init() {
	impl.Register("mulx", &useDoubleBaseMULX, cpu.V3)
	if useDoubleBaseMULX && !selfTestDoubleBase(oddMultiplesMULX, varTimeDoubleBaseMULX, varTimeWideDoubleBaseMULX) {
		impl.Demote(&useDoubleBaseMULX, selfTestFailed)
	}
	doubleBaseMULXRefused = cpu.V3 && !useDoubleBaseMULX
	doubleBaseOperations(&useDoubleBaseMULX)
}

func oddMultiplesOf(table *[8][16]uint64, p *[4][4]uint64) {
	switch {
	case cpu.V3 && doubleBaseMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useDoubleBaseMULX:
		oddMultiplesMULX(table, p)
	default:
		checkGeneric()
		oddMultiplesGeneric(table, p)
	}
}

func varTimeDoubleBase(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64) {
	switch {
	case cpu.V3 && doubleBaseMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useDoubleBaseMULX:
		varTimeDoubleBaseMULX(out, steps, n, a, b)
	default:
		checkGeneric()
		varTimeDoubleBaseGeneric(out, steps, n, a, b)
	}
}

func varTimeWideDoubleBase(out *[4][4]uint64, steps *[96]uint32, n int, a *[64][12]uint64, b *[256][12]uint64) {
	switch {
	case cpu.V3 && doubleBaseMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useDoubleBaseMULX:
		varTimeWideDoubleBaseMULX(out, steps, n, a, b)
	default:
		checkGeneric()
		varTimeWideDoubleBaseGeneric(out, steps, n, a, b)
	}
}
