//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useAVX2 turns on the selection from tables with AVX2: in the tier mulx.
	useAVX2 = cpu.MULX
	// avx2Refused is true if this build has no other code than that kernel
	// (cpu.V3) and this process must not run it.
	avx2Refused bool
)

func init() {
	impl.Register("mulx", &useAVX2, cpu.V3)
	if useAVX2 && !selfTestAVX2() {
		impl.Demote(&useAVX2, selfTestFailed)
	}
	avx2Refused = cpu.V3 && !useAVX2
}

func selectNiels(yPlusX, yMinusX, t2d *[5]uint64, row *[8][12]uint64, digit int64) {
	switch {
	case cpu.V3 && avx2Refused:
		panic(selfTestFailed)
	case cpu.V3 || useAVX2:
		selectAVX2(yPlusX, yMinusX, t2d, row, digit)
	default:
		selectGeneric(yPlusX, yMinusX, t2d, row, digit)
	}
}
