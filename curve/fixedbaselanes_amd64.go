//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useFixedBase4IFMA and useFixedBase8IFMA turn on the multiplications of the base
// point by four scalars, in 256-bit registers, and by eight, in 512-bit ones.
var (
	useFixedBase4IFMA = cpu.IFMA
	useFixedBase8IFMA = cpu.IFMA && cpu.ZMM
)

func init() {
	toggles := []*bool{&useFixedBase4IFMA}
	impl.Register("ifma", &useFixedBase4IFMA, false)
	if useFixedBase4IFMA && !selfTestFixedBase4(fixedBase4IFMA) {
		impl.Demote(&useFixedBase4IFMA, selfTestFailed)
	}
	// Where 512-bit registers are forbidden the tier is whole without them.
	if cpu.ZMM {
		toggles = append(toggles, &useFixedBase8IFMA)
		impl.Register("ifma", &useFixedBase8IFMA, false)
		if useFixedBase8IFMA && !selfTestFixedBase8(fixedBase8IFMA) {
			impl.Demote(&useFixedBase8IFMA, selfTestFailed)
		}
	}
	fixedBaseManyOperations(append(toggles, &useFixedBaseMULX)...)
}

// A call for eight or for four costs less than four multiplications one after the
// other: so many items are worth a call with idle lanes.
const (
	fixedBase8Pays = 5
	fixedBase4Pays = 4
)

// fixedBaseMany sets each of v to k[i] * B for the integer k[i] < 2^255.
func fixedBaseMany(v []Point, k [][32]byte) {
	for len(v) > 0 {
		n := 1
		switch {
		case useFixedBase8IFMA && len(v) >= fixedBase8Pays:
			n = min(8, len(v))
			fixedBase8(v[:n], k)
		case useFixedBase4IFMA && len(v) >= fixedBase4Pays:
			n = min(4, len(v))
			fixedBase4(v[:n], k)
		default:
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

// fixedBase4 does up to four multiplications.
func fixedBase4(v []Point, k [][32]byte) {
	var digits [4][4]uint64
	for i := range v {
		for j, w := range signedRadix16(&k[i]) {
			digits[j][i] = w
		}
	}
	var out [4][5][4]uint64
	fixedBase4IFMA(&out, &fixedBaseTable, &digits)
	for i := range v {
		p := &v[i]
		x, y, z, t := p.x.Limbs(), p.y.Limbs(), p.z.Limbs(), p.t.Limbs()
		for j := range 5 {
			x[j], y[j], z[j], t[j] = out[0][j][i], out[1][j][i], out[2][j][i], out[3][j][i]
		}
	}
}
