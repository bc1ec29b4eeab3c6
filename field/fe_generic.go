package field

import "math/bits"

// The functions of this file are compiled everywhere and are what every kernel
// is tested against. Limbs are as in the package documentation.

// wide is a number of 128 bits.
type wide struct{ lo, hi uint64 }

// mul returns a·b.
func mul(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{lo, hi}
}

// addMul returns w + a·b, which must be below 2^128.
func (w wide) addMul(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	lo, c := bits.Add64(lo, w.lo, 0)
	hi, _ = bits.Add64(hi, w.hi, c)
	return wide{lo, hi}
}

// shiftRight51 returns w / 2^51, which must be below 2^64.
func (w wide) shiftRight51() uint64 { return w.hi<<13 | w.lo>>51 }

// feMulGeneric sets out = a·b. Limbs of a and b below 2^52; limbs of out below
// 2^51 + 2^18. out may be a or b. Constant time.
func feMulGeneric(out, a, b *[5]uint64) {
	a0, a1, a2, a3, a4 := a[0], a[1], a[2], a[3], a[4]
	b0, b1, b2, b3, b4 := b[0], b[1], b[2], b[3], b[4]

	// With 2^255 = 19 the product is, by columns of weight 2^(51k):
	//
	//	        0         1         2         3         4
	//	      a0·b0     a0·b1     a0·b2     a0·b3     a0·b4
	//	   19·a1·b4     a1·b0     a1·b1     a1·b2     a1·b3
	//	   19·a2·b3  19·a2·b4     a2·b0     a2·b1     a2·b2
	//	   19·a3·b2  19·a3·b3  19·a3·b4     a3·b0     a3·b1
	//	   19·a4·b1  19·a4·b2  19·a4·b3  19·a4·b4     a4·b0
	//
	// 19·ak is below 19·2^52 < 2^57. Every product of two limbs is below 2^104,
	// column k has k+1 of them once and 4-k of them 19 times, so
	//
	//	r0 < 77·2^104   r1 < 59·2^104   r2 < 41·2^104
	//	r3 < 23·2^104   r4 <  5·2^104
	//
	// all below 2^111.
	a1x, a2x, a3x, a4x := 19*a1, 19*a2, 19*a3, 19*a4
	r0 := mul(a0, b0).addMul(a1x, b4).addMul(a2x, b3).addMul(a3x, b2).addMul(a4x, b1)
	r1 := mul(a0, b1).addMul(a1, b0).addMul(a2x, b4).addMul(a3x, b3).addMul(a4x, b2)
	r2 := mul(a0, b2).addMul(a1, b1).addMul(a2, b0).addMul(a3x, b4).addMul(a4x, b3)
	r3 := mul(a0, b3).addMul(a1, b2).addMul(a2, b1).addMul(a3, b0).addMul(a4x, b4)
	r4 := mul(a0, b4).addMul(a1, b3).addMul(a2, b2).addMul(a3, b1).addMul(a4, b0)

	// What is above 51 bits goes to the next column, from the last to the first
	// times 19:
	//
	//	c0 < 77·2^53   c1 < 59·2^53   c2 < 41·2^53   c3 < 23·2^53
	//	c4 <  5·2^53   19·c4 < 95·2^53
	//
	// and the limbs are then below 2^51 + 95·2^53 < 2^60.
	l0 := r0.lo&maskLow51Bits + 19*r4.shiftRight51()
	l1 := r1.lo&maskLow51Bits + r0.shiftRight51()
	l2 := r2.lo&maskLow51Bits + r1.shiftRight51()
	l3 := r3.lo&maskLow51Bits + r2.shiftRight51()
	l4 := r4.lo&maskLow51Bits + r3.shiftRight51()

	// Once more, all at a time: l0 < 2^51 + 95·2^53 and l1..l3 are below
	// 2^51 + 77·2^53, so their carries are below 2^9; l4 < 2^51 + 23·2^53, its
	// carry below 2^7 and 19 times that below 2^12.
	out[0] = l0&maskLow51Bits + 19*(l4>>51)
	out[1] = l1&maskLow51Bits + l0>>51
	out[2] = l2&maskLow51Bits + l1>>51
	out[3] = l3&maskLow51Bits + l2>>51
	out[4] = l4&maskLow51Bits + l3>>51
}

// feSquareGeneric sets out = a². Bounds, aliasing and time as feMulGeneric.
func feSquareGeneric(out, a *[5]uint64) {
	a0, a1, a2, a3, a4 := a[0], a[1], a[2], a[3], a[4]

	// The columns of feMulGeneric with equal products put together:
	//
	//	r0 = a0·a0 + 38·(a1·a4 + a2·a3)
	//	r1 = 2·a0·a1 + 38·a2·a4 + 19·a3·a3
	//	r2 = 2·a0·a2 + a1·a1 + 38·a3·a4
	//	r3 = 2·(a0·a3 + a1·a2) + 19·a4·a4
	//	r4 = 2·(a0·a4 + a1·a3) + a2·a2
	//
	// The bounds are the same; the factors are below 38·2^52 < 2^58.
	a0d, a1d := 2*a0, 2*a1
	a1y, a2y, a3y := 38*a1, 38*a2, 38*a3
	a3x, a4x := 19*a3, 19*a4
	r0 := mul(a0, a0).addMul(a1y, a4).addMul(a2y, a3)
	r1 := mul(a0d, a1).addMul(a2y, a4).addMul(a3x, a3)
	r2 := mul(a0d, a2).addMul(a1, a1).addMul(a3y, a4)
	r3 := mul(a0d, a3).addMul(a1d, a2).addMul(a4x, a4)
	r4 := mul(a0d, a4).addMul(a1d, a3).addMul(a2, a2)

	// As in feMulGeneric.
	l0 := r0.lo&maskLow51Bits + 19*r4.shiftRight51()
	l1 := r1.lo&maskLow51Bits + r0.shiftRight51()
	l2 := r2.lo&maskLow51Bits + r1.shiftRight51()
	l3 := r3.lo&maskLow51Bits + r2.shiftRight51()
	l4 := r4.lo&maskLow51Bits + r3.shiftRight51()

	out[0] = l0&maskLow51Bits + 19*(l4>>51)
	out[1] = l1&maskLow51Bits + l0>>51
	out[2] = l2&maskLow51Bits + l1>>51
	out[3] = l3&maskLow51Bits + l2>>51
	out[4] = l4&maskLow51Bits + l3>>51
}

// feSquareNGeneric sets out = a^(2^n) for n >= 1. Bounds and aliasing as
// feMulGeneric. The time depends on n only.
func feSquareNGeneric(out, a *[5]uint64, n int) {
	feSquareGeneric(out, a)
	for i := 1; i < n; i++ {
		feSquareGeneric(out, out)
	}
}

// feMul32 sets out = a·b. Limbs of a below 2^52; limbs of out below
// 2^51 + 2^38. out may be a. Constant time.
func feMul32(out, a *[5]uint64, b uint32) {
	y := uint64(b)
	r0, r1, r2, r3, r4 := mul(a[0], y), mul(a[1], y), mul(a[2], y), mul(a[3], y), mul(a[4], y)
	// The products are below 2^84, their carries below 2^33 and 19 times that
	// below 2^38.
	out[0] = r0.lo&maskLow51Bits + 19*r4.shiftRight51()
	out[1] = r1.lo&maskLow51Bits + r0.shiftRight51()
	out[2] = r2.lo&maskLow51Bits + r1.shiftRight51()
	out[3] = r3.lo&maskLow51Bits + r2.shiftRight51()
	out[4] = r4.lo&maskLow51Bits + r3.shiftRight51()
}

// feCarry moves what each limb of v has above 51 bits to the next limb, and 19
// times what the last has to the first. With carries of at most c the limbs
// become at most 2^51 - 1 + c, the first at most 2^51 - 1 + 19·c.
func feCarry(v *[5]uint64) {
	l0, l1, l2, l3, l4 := v[0], v[1], v[2], v[3], v[4]
	v[0] = l0&maskLow51Bits + 19*(l4>>51)
	v[1] = l1&maskLow51Bits + l0>>51
	v[2] = l2&maskLow51Bits + l1>>51
	v[3] = l3&maskLow51Bits + l2>>51
	v[4] = l4&maskLow51Bits + l3>>51
}
