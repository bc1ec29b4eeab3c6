//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useScalarMult4IFMA and useScalarMult8IFMA turn on the multiplications of four
// points, in 256-bit registers, and of eight, in 512-bit ones.
var (
	useScalarMult4IFMA = cpu.IFMA
	useScalarMult8IFMA = cpu.IFMA && cpu.ZMM
)

func init() {
	toggles := []*bool{&useScalarMult4IFMA}
	var products *laneProducts
	if useScalarMult4IFMA {
		products = selfTestProducts()
	}
	impl.Register("ifma", &useScalarMult4IFMA, false)
	if useScalarMult4IFMA && !selfTestScalarMult4(products, scalarMult4IFMA) {
		impl.Demote(&useScalarMult4IFMA, selfTestFailed)
	}
	// Where 512-bit registers are forbidden the tier is whole without them.
	if cpu.ZMM {
		toggles = append(toggles, &useScalarMult8IFMA)
		impl.Register("ifma", &useScalarMult8IFMA, false)
		if useScalarMult8IFMA && !selfTestScalarMult8(products, scalarMult8IFMA) {
			impl.Demote(&useScalarMult8IFMA, selfTestFailed)
		}
	}
	scalarMultManyOperations(append(toggles, &useDoubleBaseMULX)...)
}

// scalarMultLanes returns how many points are multiplied side by side, or zero if
// no kernel does that.
func scalarMultLanes() int {
	switch {
	case useScalarMult8IFMA:
		return 8
	case useScalarMult4IFMA:
		return 4
	}
	return 0
}

// scalarMultMany sets each of v to k[i] * p[i] for the integer k[i] < 2^255. There
// are at most as many as scalarMultLanes says. Constant time.
func scalarMultMany(v, p []Point, k [][32]byte) {
	if useScalarMult8IFMA {
		scalarMult8(v, p, k)
	} else {
		scalarMult4(v, p, k)
	}
}

// scalarMult8 does up to eight multiplications. Coordinates of points have limbs
// below 2^52, those of the kernel are carried.
func scalarMult8(v, p []Point, k [][32]byte) {
	var digits [4][8]uint64
	var in, out [4][5][8]uint64
	for i := range v {
		for j, w := range signedRadix16(&k[i]) {
			digits[j][i] = w
		}
		for c, l := range p[i].carriedLimbs() {
			for j := range l {
				in[c][j][i] = l[j]
			}
		}
	}
	scalarMult8IFMA(&out, &in, &digits)
	for i := range v {
		x, y, z, t := v[i].x.Limbs(), v[i].y.Limbs(), v[i].z.Limbs(), v[i].t.Limbs()
		for j := range 5 {
			x[j], y[j], z[j], t[j] = out[0][j][i], out[1][j][i], out[2][j][i], out[3][j][i]
		}
	}
}

// scalarMult4 does up to four multiplications, as scalarMult8 does.
func scalarMult4(v, p []Point, k [][32]byte) {
	var digits [4][4]uint64
	var in, out [4][5][4]uint64
	for i := range v {
		for j, w := range signedRadix16(&k[i]) {
			digits[j][i] = w
		}
		for c, l := range p[i].carriedLimbs() {
			for j := range l {
				in[c][j][i] = l[j]
			}
		}
	}
	scalarMult4IFMA(&out, &in, &digits)
	for i := range v {
		x, y, z, t := v[i].x.Limbs(), v[i].y.Limbs(), v[i].z.Limbs(), v[i].t.Limbs()
		for j := range 5 {
			x[j], y[j], z[j], t[j] = out[0][j][i], out[1][j][i], out[2][j][i], out[3][j][i]
		}
	}
}

// carriedLimbs returns the coordinates, canonical.
func (v *Point) carriedLimbs() (l [4][5]uint64) {
	var p packedPoint
	v.pack(&p)
	for i := range p {
		unpackLimbs(&l[i], &p[i])
	}
	return l
}
