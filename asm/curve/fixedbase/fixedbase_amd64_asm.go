// Command fixedbase writes the multiplication of the base point.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/edwards"
	. "github.com/sigcore/sigcore/asm/internal/x86"
)

const (
	rows      = 64
	rowSize   = 8 * entrySize
	entrySize = 96
)

func main() {
	ConstraintExpr("!purego")
	fixedBase()
	Generate()
}

// frame is the stack of the kernel.
type frame struct {
	p     Point
	r     Completed
	q     [3]Mem // the entry of the table: y+x, y-x, 2dxy
	row   Mem    // the pointer to the row
	bits  Mem    // the pointer to the word of digits
	count Mem    // of digits that are left
}

func fixedBase() {
	Kernel{
		Name:      "fixedBaseMULX",
		Signature: "func(out *[4][4]uint64, table *[64][8][12]uint64, digits *[4]uint64)",
		Formula:   "sets out to the sum of digit i times the point of which row i of table holds 1..8 times",
		Bounds: []string{
			"digits holds 64 hexadecimal digits; digit i is one of them less 8, the last, at most 8, as it stands.",
			"Coordinates of table < 2^255-19; out has X, Y, Z and T = X·Y/Z, below 2^255 + 2^199,",
			"and modulo 2^255-19 those of the twin.",
			"out does not overlap the inputs.",
		},
		Timing: "Constant time: it reads all of table, in order.",
		Stack:  "Stack: 568 bytes.",
		Twin:   "fixedBaseGeneric",
		Split:  true,
	}.Begin()
	law := NewLaw(Field64{})
	var f frame
	f.p = NewPoint()
	f.r = Completed{X: Local(), Y: Local(), Z: Local(), T: Local()}
	for i := range f.q {
		f.q[i] = AllocLocal(32)
	}
	f.row, f.bits, f.count = AllocLocal(8), AllocLocal(8), AllocLocal(8)

	MOVQ(Load(Param("table"), GP64()), f.row)
	MOVQ(Load(Param("digits"), GP64()), f.bits)
	MOVQ(U32(rows), f.count)

	Comment("the identity")
	zero, one := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(U32(1), one.As32())
	for i := range 4 {
		MOVQ(zero, f.p.X.Words()[i])
		MOVQ(zero, f.p.T.Words()[i])
		first := zero
		if i == 0 {
			first = one
		}
		MOVQ(first, f.p.Y.Words()[i])
		MOVQ(first, f.p.Z.Words()[i])
	}

	Label("digit")
	f.choose()
	ADDQ(U32(rowSize), f.row)
	law.AddNiels(f.r, f.p, Niels{YPlusX: At(f.q[0]), YMinusX: At(f.q[1]), T2d: At(f.q[2])}, false)
	law.Extend(f.p, f.r)
	DECQ(f.count)
	JNZ(LabelRef("digit"))

	out := Load(Param("out"), GP64())
	for i, n := range []Number{f.p.X, f.p.Y, f.p.Z, f.p.T} {
		StoreWords(LoadWords(n.Words()), Memory(Mem{Base: out, Disp: 32 * i}, 4))
	}
	VZEROUPPER()
	RET()
}

// choose sets q to the multiple that the digit asks for.
func (f *frame) choose() {
	Comment("the digit, 64 - count of them before it, as it stands")
	count, at, bits, digit := GP64(), GP64(), GP64(), GP64()
	MOVQ(f.count, count)
	MOVL(U32(rows), at.As32())
	SUBQ(count, at)
	MOVQ(f.bits, bits)
	shift := GP64()
	MOVQ(at, shift)
	SHRQ(U8(4), at)
	MOVQ(Mem{Base: bits, Index: at, Scale: 8}, digit)
	SHLQ(U8(2), shift) // SHRX takes it modulo 64
	SHRXQ(shift, digit, digit)
	ANDL(U8(15), digit.As32())

	Comment("less 8, but for the last")
	eight, none := GP64(), GP64()
	MOVL(U32(8), eight.As32())
	XORL(none.As32(), none.As32())
	CMPQ(count, Imm(1))
	CMOVQEQ(none, eight)
	SUBQ(eight, digit)

	s := GP64()
	MOVQ(digit, s)
	SARQ(U8(63), s)
	XORQ(s, digit)
	SUBQ(s, digit)

	Comment("sign is all ones for a negative digit; left counts down from |digit|")
	sign, left := broadcast(s), broadcast(digit)
	vzero, ones := YMM(), YMM()
	VPXOR(vzero, vzero, vzero)
	VPCMPEQQ(ones, ones, ones)

	Comment("the identity (1, 1, 0), if the digit is zero")
	var c [3]VecVirtual
	for i := range c {
		c[i] = YMM()
	}
	VPCMPEQQ(vzero, left, c[0])
	VPSRLQ(U8(63), c[0], c[0])
	one := YMM()
	VPSRLDQ(U8(8), ones, one) // the low word of each half
	VPERMQ(U8(0b01_01_01_00), one, one)
	VPAND(one, c[0], c[0])
	VMOVDQA(c[0], c[1])
	VPXOR(c[2], c[2], c[2])

	row := GP64()
	MOVQ(f.row, row)
	for j := range 8 {
		Commentf("%d times the point", j+1)
		here := YMM()
		VPADDQ(ones, left, left)
		VPCMPEQQ(vzero, left, here)
		for i := range c {
			t := YMM()
			VPAND(Mem{Base: row, Disp: entrySize*j + 32*i}, here, t)
			VPOR(t, c[i], c[i])
		}
	}

	Comment("-(x, y) is (-x, y): exchange the first two, negate the third")
	d := YMM()
	VPXOR(c[0], c[1], d)
	VPAND(sign, d, d)
	VPXOR(d, c[0], c[0])
	VPXOR(d, c[1], c[1])
	for i := range c {
		VMOVDQU(c[i], f.q[i])
	}
	// p minus a coordinate below p: no borrow.
	t := LoadWords(Memory(f.q[2], 4))
	n := NewWords(4)
	MOVQ(I32(-19), n[0])
	MOVQ(I32(-1), n[1])
	MOVQ(n[1], n[2])
	MOVQ(U64(1<<63-1), n[3])
	Sub(n, Ops(t))
	TESTQ(s, s)
	SelectWords(t, Ops(n))
	StoreWords(t, Memory(f.q[2], 4))
}

// broadcast returns four copies of r.
func broadcast(r Register) VecVirtual {
	x, y := XMM(), YMM()
	VMOVQ(r, x)
	VPBROADCASTQ(x, y)
	return y
}
