//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useFixedBase8IFMA turns on the multiplication of the base point by eight scalars,
// in 512-bit registers.
var useFixedBase8IFMA = cpu.IFMA && cpu.ZMM

func init() {
	toggles := []*bool{&useFixedBaseIFMA, &useFixedBaseMULX}
	// Where 512-bit registers are forbidden the tier is whole without them: four
	// scalars side by side take longer than one after the other over four lanes.
	if cpu.ZMM {
		toggles = append([]*bool{&useFixedBase8IFMA}, toggles...)
		impl.Register("ifma", &useFixedBase8IFMA, false)
		if useFixedBase8IFMA && !selfTestFixedBase8(fixedBase8IFMA) {
			impl.Demote(&useFixedBase8IFMA, selfTestFailed)
		}
	}
	fixedBaseManyOperations(toggles...)
}

// A call for eight costs less than four multiplications one after the other: so
// many items are worth a call with idle lanes.
const fixedBase8Pays = 4

// fixedBaseMany sets each of v to k[i] * B for the integer k[i] < 2^255.
func fixedBaseMany(v []Point, k [][32]byte) {
	for len(v) > 0 {
		n := 1
		if useFixedBase8IFMA && len(v) >= fixedBase8Pays {
			n = min(8, len(v))
			fixedBase8(v[:n], k)
		} else {
			fixedBase(&v[0], &k[0])
		}
		v, k = v[n:], k[n:]
	}
}

// fixedBase8 does up to eight multiplications.
func fixedBase8(v []Point, k [][32]byte) {
	var digits [4][8]uint64
	for i := range v {
		for j, w := range signedRadix16(&k[i]) {
			digits[j][i] = w
		}
	}
	var out [4][5][8]uint64
	fixedBase8IFMA(&out, &fixedBaseTable, &digits)
	for i := range v {
		p := &v[i]
		x, y, z, t := p.x.Limbs(), p.y.Limbs(), p.z.Limbs(), p.t.Limbs()
		for j := range 5 {
			x[j], y[j], z[j], t[j] = out[0][j][i], out[1][j][i], out[2][j][i], out[3][j][i]
		}
	}
}
