//go:build !purego

package curve

import (
	"encoding/binary"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useLadder4IFMA and useLadder8IFMA turn on the ladders of four agreements, in
// 256-bit registers, and of eight, in 512-bit ones.
var (
	useLadder4IFMA = cpu.IFMA
	useLadder8IFMA = cpu.IFMA && cpu.ZMM
)

func init() {
	toggles := []*bool{&useLadder4IFMA}
	impl.Register("ifma", &useLadder4IFMA, false)
	if useLadder4IFMA && !selfTestLadder4(ladder4IFMA) {
		impl.Demote(&useLadder4IFMA, selfTestFailed)
	}
	// Where 512-bit registers are forbidden the tier is whole without them.
	if cpu.ZMM {
		toggles = append(toggles, &useLadder8IFMA)
		impl.Register("ifma", &useLadder8IFMA, false)
		if useLadder8IFMA && !selfTestLadder8(ladder8IFMA) {
			impl.Demote(&useLadder8IFMA, selfTestFailed)
		}
	}
	ladderManyOperations(append(toggles, &useLadderMULX)...)
}

// A call for eight costs less than three single ladders, and one for four less
// than two: so many items are worth a call with idle lanes.
const (
	ladder8Pays = 5
	ladder4Pays = 2
)

// ladderMany sets x[i]/z[i] to the u-coordinate of k[i] times the point with the
// u-coordinate u[i], as ladder does.
func ladderMany(x, z []field.Element, k, u [][32]byte) {
	for len(x) > 0 {
		n := 1
		switch {
		case useLadder8IFMA && len(x) >= ladder8Pays:
			n = min(8, len(x))
			ladder8(x[:n], z[:n], k, u)
		case useLadder4IFMA && len(x) >= ladder4Pays:
			n = min(4, len(x))
			ladder4(x[:n], z[:n], k, u)
		default:
			ladderOne(&x[0], &z[0], &k[0], &u[0])
		}
		x, z, k, u = x[n:], z[n:], k[n:], u[n:]
	}
}

// ladder8 does up to eight agreements; idle lanes have the scalar and the point
// zero.
func ladder8(x, z []field.Element, k, u [][32]byte) {
	var kw [4][8]uint64
	var ul, xl, zl [5][8]uint64
	for i := range x {
		for j := range kw {
			kw[j][i] = binary.LittleEndian.Uint64(k[i][8*j:])
		}
		l := limbsOf(&u[i])
		for j := range ul {
			ul[j][i] = l[j]
		}
	}
	ladder8IFMA(&xl, &zl, &kw, &ul)
	for i := range x {
		for j := range xl {
			x[i].Limbs()[j] = xl[j][i]
			z[i].Limbs()[j] = zl[j][i]
		}
	}
}

// ladder4 does up to four agreements, as ladder8 does.
func ladder4(x, z []field.Element, k, u [][32]byte) {
	var kw [4][4]uint64
	var ul, xl, zl [5][4]uint64
	for i := range x {
		for j := range kw {
			kw[j][i] = binary.LittleEndian.Uint64(k[i][8*j:])
		}
		l := limbsOf(&u[i])
		for j := range ul {
			ul[j][i] = l[j]
		}
	}
	ladder4IFMA(&xl, &zl, &kw, &ul)
	for i := range x {
		for j := range xl {
			x[i].Limbs()[j] = xl[j][i]
			z[i].Limbs()[j] = zl[j][i]
		}
	}
}

// limbsOf returns the u-coordinate in limbs of 51 bits, without its top bit.
func limbsOf(u *[32]byte) (l [5]uint64) {
	var w [4]uint64
	for j := range w {
		w[j] = binary.LittleEndian.Uint64(u[8*j:])
	}
	w[3] &= 1<<63 - 1
	unpackLimbs(&l, &w)
	return l
}
