//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

var (
	// useLadderMULX turns on the ladder of the tier mulx.
	useLadderMULX = cpu.MULX
	// ladderMULXRefused is true if this build has no other code than that kernel
	// (cpu.V3) and this process must not run it.
	ladderMULXRefused bool
)

func init() {
	impl.Register("mulx", &useLadderMULX, cpu.V3)
	if useLadderMULX && !selfTestLadder(ladderMULX) {
		impl.Demote(&useLadderMULX, selfTestFailed)
	}
	ladderMULXRefused = cpu.V3 && !useLadderMULX
	ladderOperations(&useLadderMULX)
}

func ladder(x, z *[4]uint64, k, u *[32]byte) {
	switch {
	case cpu.V3 && ladderMULXRefused:
		panic(selfTestFailed)
	case cpu.V3 || useLadderMULX:
		ladderMULX(x, z, k, u)
	default:
		checkGeneric()
		ladderGeneric(x, z, k, u)
	}
}
