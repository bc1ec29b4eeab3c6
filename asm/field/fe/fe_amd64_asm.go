// Command fe writes the kernels of field.Element.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	feMul()
	feSquare()
	feSquareN()
	Generate()
}

var bounds = []string{
	"Limbs of the inputs < 2^52; limbs of out < 2^51 + 2^18.",
	"out may be any of the inputs.",
}

// limb returns the memory of limb i behind p.
func limb(p Register, i int) Mem { return Mem{Base: p, Disp: 8 * i} }

// fold turns the columns into limbs below 2^51 + 2^18.
//
// Column 0 is below 77·2^104, column 1 below 59·2^104, and so on to 5·2^104, as
// feMulGeneric derives. The parts above 51 bits are below 77·2^53 .. 5·2^53,
// the last times 19 below 95·2^53, so that the limbs after the first step are
// below 2^51 + 95·2^53 < 2^60, and the carries of the second below 2^9, from
// the last limb, which is below 2^51 + 23·2^53, below 2^7.
func fold(r [5]Wide, mask Op) [5]Register {
	for _, w := range r {
		Split51(w, mask)
	}
	Times19(r[4].Hi)
	for i := range r {
		ADDQ(r[(i+4)%5].Hi, r[i].Lo)
	}
	l := [5]Register{r[0].Lo, r[1].Lo, r[2].Lo, r[3].Lo, r[4].Lo}
	Carry51(&l, mask)
	return l
}

func feMul() {
	Kernel{
		Name:      "feMulMULX",
		Signature: "func(out, a, b *[5]uint64)",
		Formula:   "sets out = a·b mod 2^255-19",
		Bounds:    bounds,
		Timing:    "Constant time.",
		Stack:     "No stack.",
		Twin:      "feMulGeneric",
	}.Begin()

	b := Load(Param("b"), GP64())
	var r [5]Wide
	// The pointer to a is loaded again for each row, and that to out at the
	// end: the columns take ten registers.
	row := func(i int) {
		a := Load(Param("a"), GP64())
		MOVQ(limb(a, i), RDX)
	}
	row19 := func(i int) {
		a := Load(Param("a"), GP64())
		IMUL3Q(U8(19), limb(a, i), RDX)
	}

	Comment("r0..r4 = a0·(b0, b1, b2, b3, b4)")
	row(0)
	for k := range r {
		r[k] = NewWide()
		r[k].Mul(limb(b, k))
	}
	for i := 1; i < 5; i++ {
		Commentf("a%d: rk += a%d·b(k-%d), and 19·a%d·b(k+%d) where that wraps", i, i, i, i, 5-i)
		row(i)
		for k := i; k < 5; k++ {
			r[k].AddMul(limb(b, k-i))
		}
		row19(i)
		for k := range i {
			r[k].AddMul(limb(b, k+5-i))
		}
	}

	Comment("Carry.")
	mask := GP64()
	Mask51(mask)
	l := fold(r, mask)
	out := Load(Param("out"), GP64())
	for i := range l {
		MOVQ(l[i], limb(out, i))
	}
	RET()
}

// times sets RDX = c·a.
func times(c uint64, a Register) {
	switch c {
	case 1:
		MOVQ(a, RDX)
	case 2:
		LEAQ(Mem{Base: a, Index: a, Scale: 1}, RDX)
	default:
		IMUL3Q(U8(c), a, RDX)
	}
}

// square replaces the limbs by those of their square. It has fifteen products,
// 7 live columns at most and 14 registers:
//
//	r0 = a0·a0 + 38·(a1·a4 + a2·a3)
//	r1 = 2·a0·a1 + 38·a2·a4 + 19·a3·a3
//	r2 = 2·a0·a2 + a1·a1 + 38·a3·a4
//	r3 = 2·(a0·a3 + a1·a2) + 19·a4·a4
//	r4 = 2·(a0·a4 + a1·a3) + a2·a2
func square(a *[5]Register, mask Op) {
	var r [5]Wide
	for k := range 3 {
		r[k] = NewWide()
	}
	times(1, a[0])
	r[0].Mul(a[0])
	times(2, a[0])
	r[1].Mul(a[1])
	r[2].Mul(a[2])
	times(1, a[1])
	r[2].AddMul(a[1])
	times(38, a[4])
	r[0].AddMul(a[1])
	r[1].AddMul(a[2])
	r[2].AddMul(a[3])
	times(38, a[3])
	r[0].AddMul(a[2])
	times(19, a[3])
	r[1].AddMul(a[3])

	for k := range 3 {
		Split51(r[k], mask)
	}
	ADDQ(r[0].Hi, r[1].Lo)
	ADDQ(r[1].Hi, r[2].Lo)

	r[3], r[4] = NewWide(), NewWide()
	times(2, a[0])
	r[3].Mul(a[3])
	r[4].Mul(a[4])
	times(19, a[4])
	r[3].AddMul(a[4])
	times(2, a[1])
	r[3].AddMul(a[2])
	r[4].AddMul(a[3])
	times(1, a[2])
	r[4].AddMul(a[2])

	Split51(r[3], mask)
	Split51(r[4], mask)
	Times19(r[4].Hi)
	ADDQ(r[2].Hi, r[3].Lo)
	ADDQ(r[3].Hi, r[4].Lo)
	ADDQ(r[4].Hi, r[0].Lo)
	l := [5]Register{r[0].Lo, r[1].Lo, r[2].Lo, r[3].Lo, r[4].Lo}
	Carry51(&l, mask)
	*a = l
}

func feSquare() {
	Kernel{
		Name:      "feSquareMULX",
		Signature: "func(out, a *[5]uint64)",
		Formula:   "sets out = a² mod 2^255-19",
		Bounds:    bounds,
		Timing:    "Constant time.",
		Stack:     "Stack: 8 bytes.",
		Twin:      "feSquareGeneric",
	}.Begin()
	mask := spillMask()
	a := loadLimbs("a")
	square(&a, mask)
	storeLimbs("out", a)
	RET()
}

func spillMask() Mem {
	m := AllocLocal(8)
	t := GP64()
	Mask51(t)
	MOVQ(t, m)
	return m
}

func loadLimbs(param string) (l [5]Register) {
	p := Load(Param(param), GP64())
	for i := range l {
		l[i] = GP64()
		MOVQ(limb(p, i), l[i])
	}
	return l
}

func storeLimbs(param string, l [5]Register) {
	p := Load(Param(param), GP64())
	for i := range l {
		MOVQ(l[i], limb(p, i))
	}
}

func feSquareN() {
	Kernel{
		Name:      "feSquareNMULX",
		Signature: "func(out, a *[5]uint64, n int)",
		Formula:   "sets out = a^(2^n) mod 2^255-19 for n >= 1",
		Bounds:    bounds,
		Timing:    "The time depends on n only.",
		Stack:     "Stack: 16 bytes.",
		Twin:      "feSquareNGeneric",
	}.Begin()
	mask := spillMask()
	count := AllocLocal(8)
	n := Load(Param("n"), GP64())
	MOVQ(n, count)
	a := loadLimbs("a")
	Label("loop")
	l := a
	square(&l, mask)
	for i := range l {
		MOVQ(l[i], a[i])
	}
	DECQ(count)
	JNZ(LabelRef("loop"))
	storeLimbs("out", a)
	RET()
}
