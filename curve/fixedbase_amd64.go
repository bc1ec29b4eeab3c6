//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useFixedBaseMULX turns on the fixed-base multiplication of the tier mulx.
	useFixedBaseMULX = cpu.MULX
	// fixedBaseMULXRefused is true if this build has no other code than that
	// kernel (cpu.V3) and this process must not run it.
	fixedBaseMULXRefused bool
)

func init() {
	impl.Register("mulx", &useFixedBaseMULX, cpu.V3)
	if useFixedBaseMULX && !selfTestFixedBase(fixedBaseMULX) {
		impl.Demote(&useFixedBaseMULX, selfTestFailed)
	}
	fixedBaseMULXRefused = cpu.V3 && !useFixedBaseMULX
	fixedBaseOperations(&useFixedBaseIFMA, &useFixedBaseMULX)
}

// multiplyBase sets v to the sum of digit i times 16^i * B.
func multiplyBase(v *Point, digits *radix16) {
	switch {
	case useFixedBaseIFMA:
		multiplyBaseIFMA(v, digits)
	case cpu.V3 && fixedBaseMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useFixedBaseMULX:
		var out [4][4]uint64
		fixedBaseMULX(&out, &fixedBaseTable, (*[4]uint64)(digits))
		v.setWords(&out)
	default:
		checkGeneric()
		fixedBaseGeneric(v, &fixedBaseTable, digits)
	}
}
