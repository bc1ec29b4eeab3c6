// Command select writes the constant-time selection from the fixed-base table
// of package curve.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

const (
	mask51 = 1<<51 - 1
	twoP0  = 1<<52 - 38 // the limbs of 2p
	twoPi  = 1<<52 - 2
)

// Vectors of the block of constants.
const (
	cRight = iota
	cLeft
	cMask
	cTwoPi
	cTwoP0
)

func main() {
	ConstraintExpr("!purego")
	constants()
	selectNiels()
	Generate()
}

// block is a read-only block of vectors of four words.
var block Mem

func vector(i int) Mem { return block.Offset(32 * i) }

func constants() {
	block = GLOBL("selectConstants", attr.NOPTR|attr.RODATA)
	for i, quad := range [...][4]uint64{
		cRight: {51, 38, 25, 12},
		cLeft:  {13, 26, 39, 64}, // a shift by 64 gives zero
		cMask:  {mask51, mask51, mask51, mask51},
		cTwoPi: {twoPi, twoPi, twoPi, twoPi},
		cTwoP0: {twoP0, twoPi, twoPi, twoPi},
	} {
		for j, w := range quad {
			DATA(32*i+8*j, U64(w))
		}
	}
}

func selectNiels() {
	Kernel{
		Name:      "selectAVX2",
		Signature: "func(yPlusX, yMinusX, t2d *[5]uint64, row *[8][12]uint64, digit int64)",
		Formula:   "sets (yPlusX, yMinusX, t2d) to digit times the point of which row holds 1..8 times",
		Bounds: []string{
			"digit is in -8..8; coordinates of row < 2^255-19; limbs of the results < 2^52.",
			"The results do not overlap.",
		},
		Timing: "Constant time: it reads all of row, in order.",
		Stack:  "No stack.",
		Twin:   "selectGeneric",
	}.Begin()

	row := Load(Param("row"), GP64())
	digit := Load(Param("digit"), GP64())
	s := GP64()
	MOVQ(digit, s)
	SARQ(U8(63), s)
	XORQ(s, digit)
	SUBQ(s, digit)

	Comment("sign is all ones for a negative digit; left counts down from |digit|")
	sign, left := broadcast(s), broadcast(digit)
	zero, ones := YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPCMPEQQ(ones, ones, ones)

	Comment("the identity (1, 1, 0), if the digit is zero")
	var c [3]VecVirtual
	for i := range c {
		c[i] = YMM()
	}
	VPCMPEQQ(zero, left, c[0])
	VPSRLQ(U8(63), c[0], c[0])
	one := YMM()
	VPSRLDQ(U8(8), ones, one) // the low word of each half
	VPERMQ(U8(0b01_01_01_00), one, one)
	VPAND(one, c[0], c[0])
	VMOVDQA(c[0], c[1])
	VPXOR(c[2], c[2], c[2])

	for j := range 8 {
		Commentf("%d times the point", j+1)
		here := YMM()
		VPADDQ(ones, left, left)
		VPCMPEQQ(zero, left, here)
		for i := range c {
			t := YMM()
			VPAND(Mem{Base: row, Disp: 96*j + 32*i}, here, t)
			VPOR(t, c[i], c[i])
		}
	}

	Comment("-(x, y) is (-x, y): exchange the first two, negate the third")
	d := YMM()
	VPXOR(c[0], c[1], d)
	VPAND(sign, d, d)
	VPXOR(d, c[0], c[0])
	VPXOR(d, c[1], c[1])

	mask := YMM()
	VMOVDQU(vector(cMask), mask)
	for i, name := range []string{"yPlusX", "yMinusX", "t2d"} {
		Commentf("%s: words into limbs", name)
		low, high, t := YMM(), YMM(), YMM()
		VPERMQ(U8(0b11_11_10_01), c[i], high)
		VPSLLVQ(vector(cLeft), high, high)
		VPSRLVQ(vector(cRight), c[i], t)
		VPOR(t, high, high)
		VPAND(mask, high, high)
		VPAND(mask, c[i], low)
		if name == "t2d" {
			negate(low, vector(cTwoP0), sign)
			negate(high, vector(cTwoPi), sign)
		}
		out := Load(Param(name), GP64())
		VMOVQ(low.AsX(), Mem{Base: out})
		VMOVDQU(high, Mem{Base: out, Disp: 8})
	}
	VZEROUPPER()
	RET()
}

// broadcast returns four copies of r.
func broadcast(r Register) VecVirtual {
	x, y := XMM(), YMM()
	VMOVQ(r, x)
	VPBROADCASTQ(x, y)
	return y
}

// negate sets v to twoP - v where sign is all ones.
func negate(v VecVirtual, twoP Mem, sign Op) {
	n, m := YMM(), YMM()
	VMOVDQU(twoP, n)
	VPSUBQ(v, n, n)
	VPXOR(v, n, m)
	VPAND(sign, m, m)
	VPXOR(m, v, v)
}
