//go:build !purego

package field

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useInvertMULX turns on the inversion of the tier mulx.
	useInvertMULX = cpu.MULX
	// invertMULXRefused is true if this build has no other code than that kernel
	// (cpu.V3) and this process must not run it.
	invertMULXRefused bool
)

func init() {
	impl.Register("mulx", &useInvertMULX, cpu.V3)
	if useInvertMULX && !selfTestInvert(invertMULX) {
		impl.Demote(&useInvertMULX, selfTestFailed)
	}
	invertMULXRefused = cpu.V3 && !useInvertMULX
	invertOperations(&useInvertMULX)
}

func invert(out, a *[4]uint64) {
	switch {
	case cpu.V3 && invertMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useInvertMULX:
		invertMULX(out, a)
	default:
		invertGeneric(out, a)
	}
}
