//go:build !purego

package curve

import (
	"encoding/binary"

	"github.com/sigcore/sigcore/field"
)

// The self-tests give each lane one of the known answers of a single ladder, whose
// coordinates are at the limits of words and of the field.

// laneVector returns the scalar and the u-coordinate of a known answer.
func laneVector(i int) (k [4]uint64, u [5]uint64) {
	v := &ladderVectors[i]
	var kb, ub [32]byte
	for j := range kb {
		kb[j] = v.k
	}
	clamp(&kb)
	for j, w := range v.u {
		k[j] = binary.LittleEndian.Uint64(kb[8*j:])
		binary.LittleEndian.PutUint64(ub[8*j:], w)
	}
	return k, limbsOf(&ub)
}

// isLaneAnswer reports whether x/z, in limbs, is the known answer.
func isLaneAnswer(i int, x, z *[5]uint64) bool {
	for j := range x {
		if x[j]>>52|z[j]>>52 != 0 {
			return false
		}
	}
	var xe, ze, want field.Element
	*xe.Limbs(), *ze.Limbs() = *x, *z
	want.SetWords(&ladderVectors[i].v)
	return ze.Equal(new(field.Element)) == 0 && xe.Equal(want.Multiply(&want, &ze)) == 1
}

// selfTestLadder8 reports whether the kernel gives the known answers.
func selfTestLadder8(kernel func(x, z *[5][8]uint64, k *[4][8]uint64, u *[5][8]uint64)) bool {
	var k [4][8]uint64
	var u, x, z [5][8]uint64
	for lane := range 8 {
		kw, ul := laneVector(lane)
		for j := range k {
			k[j][lane] = kw[j]
		}
		for j := range u {
			u[j][lane] = ul[j]
		}
	}
	kernel(&x, &z, &k, &u)
	for lane := range 8 {
		var xl, zl [5]uint64
		for j := range x {
			xl[j], zl[j] = x[j][lane], z[j][lane]
		}
		if !isLaneAnswer(lane, &xl, &zl) {
			return false
		}
	}
	return true
}

// selfTestLadder4 is selfTestLadder8 for four lanes, in two calls.
func selfTestLadder4(kernel func(x, z *[5][4]uint64, k *[4][4]uint64, u *[5][4]uint64)) bool {
	for first := 0; first < 8; first += 4 {
		var k [4][4]uint64
		var u, x, z [5][4]uint64
		for lane := range 4 {
			kw, ul := laneVector(first + lane)
			for j := range k {
				k[j][lane] = kw[j]
			}
			for j := range u {
				u[j][lane] = ul[j]
			}
		}
		kernel(&x, &z, &k, &u)
		for lane := range 4 {
			var xl, zl [5]uint64
			for j := range x {
				xl[j], zl[j] = x[j][lane], z[j][lane]
			}
			if !isLaneAnswer(first+lane, &xl, &zl) {
				return false
			}
		}
	}
	return true
}
