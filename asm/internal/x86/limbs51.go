package x86

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Limbs of 51 bits in words of 64, and columns of 128 bits that hold sums of
// their products.

// Mask51 sets r to 2^51 - 1.
func Mask51(r Register) { MOVQ(U64(1<<51-1), r) }

// Split51 sets w.Lo to the low 51 bits of w and w.Hi to w / 2^51, which must
// be below 2^64. mask holds 2^51 - 1.
func Split51(w Wide, mask Op) {
	// Two shifts and an OR: a double shift is slow on AMD processors.
	t := GP64()
	MOVQ(w.Lo, t)
	SHRQ(U8(51), t)
	SHLQ(U8(13), w.Hi)
	ORQ(t, w.Hi)
	ANDQ(mask, w.Lo)
}

// Times19 sets r = 19·r.
func Times19(r Register) {
	t := GP64()
	LEAQ(Mem{Base: r, Index: r, Scale: 8}, t)
	LEAQ(Mem{Base: r, Index: t, Scale: 2}, r)
}

// Carry51 moves what each limb has above 51 bits to the next limb, and 19
// times what the last has to the first, all at a time. mask holds 2^51 - 1.
func Carry51(l *[5]Register, mask Op) {
	t := GP64()
	MOVQ(l[4], t)
	SHRQ(U8(51), t)
	Times19(t)
	for i := range l {
		up := GP64()
		if i < 4 {
			MOVQ(l[i], up)
			SHRQ(U8(51), up)
		}
		ANDQ(mask, l[i])
		ADDQ(t, l[i])
		t = up
	}
}
