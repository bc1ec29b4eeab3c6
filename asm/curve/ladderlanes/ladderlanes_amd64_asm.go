// Command ladderlanes writes the ladder of X25519 for several agreements side by
// side.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	constants := NewConstants51()
	one, a24 := Word("one", 1), Word("a24", 121666)
	for _, lanes := range []Lanes{4, 8} {
		ladder(Field51{Lanes: lanes, C: constants}, one, a24)
	}
	Generate()
}

// frame is the stack of a kernel: numbers of five vectors. Those of points are
// wide, the others carried.
type frame struct {
	x2, z2, x3, z3 []Op
	x1, a, b, c, d []Op
	above          []Op // the bits above the one of the step, one vector
}

func ladder(f Field51, one, a24 Mem) {
	Kernel{
		Name:      fmt.Sprintf("ladder%dIFMA", f.Lanes),
		Signature: fmt.Sprintf("func(x, z *[5][%[1]d]uint64, k *[4][%[1]d]uint64, u *[5][%[1]d]uint64)", f.Lanes),
		Formula:   "sets x/z, lane by lane, to the u-coordinate of k times the point with u-coordinate u",
		Bounds: []string{
			"Limbs of u < 2^52; limbs of x and z < 2^51 + 2^18. k is a multiple of 8 below 2^255, in words.",
			"x and z do not overlap the inputs.",
		},
		Timing: "Constant time.",
		Stack:  fmt.Sprintf("Stack: %d bytes.", 46*f.Size()+56),
		Twin:   "ladderGeneric, for each lane",
		Split:  true,
	}.Begin()
	base := AlignedFrame(46 * f.Size())
	var s frame
	for i, n := range []*[]Op{&s.x2, &s.z2, &s.x3, &s.z3, &s.x1, &s.a, &s.b, &s.c, &s.d} {
		*n = f.Vectors(base.Offset(5*i*f.Size()), 5)
	}
	s.above = f.Vectors(base.Offset(45*f.Size()), 1)

	Comment("x2 = 1, z2 = 0, x3 = u, z3 = 1")
	u := Load(Param("u"), GP64())
	w := f.Load(f.Vectors(Mem{Base: u}, 5))
	f.Store(w, s.x1)
	f.Store(w, s.x3)
	zero, unit := f.Zero(), f.New()
	VPBROADCASTQ(one, unit)
	for i := range 5 {
		VMOVDQU64(zero, s.z2[i])
		if i == 0 {
			VMOVDQU64(unit, s.x2[i])
			VMOVDQU64(unit, s.z3[i])
		} else {
			VMOVDQU64(zero, s.x2[i])
			VMOVDQU64(zero, s.z3[i])
		}
	}
	VMOVDQU64(zero, s.above[0])
	k := Load(Param("k"), GP64())
	index := GP64()
	MOVQ(U32(254), index)

	Label(fmt.Sprintf("step%d", f.Lanes))
	s.step(f, k, index, one, a24)
	SUBQ(Imm(1), index)
	JCC(LabelRef(fmt.Sprintf("step%d", f.Lanes)))

	Comment("The last bits are zeros, so that the points need no exchange.")
	for i, n := range [][]Op{s.x2, s.z2} {
		r := f.Load(n)
		f.Carry(r)
		p := Load(ParamIndex(i), GP64())
		f.Store(r, f.Vectors(Mem{Base: p}, 5))
	}
	VZEROUPPER()
	RET()
}

// step goes from the pairs of points of the bits above the index to those of the
// bits from the index on. As in the ladder of one agreement the pairs are not
// exchanged: what is squared is chosen.
func (s frame) step(f Field51, k, index Register, one, a24 Mem) {
	carried := func(r []Register, to []Op) []Register {
		f.Carry(r)
		if to != nil {
			f.Store(r, to)
		}
		return r
	}
	Comment("A, B = x2 ± z2; C, D = x3 ± z3")
	x, z := f.Load(s.x2), f.Load(s.z2)
	a := carried(f.Add(x, Ops(z)), s.a)
	carried(f.Sub(x, Ops(z)), s.b)
	x, z = f.Load(s.x3), f.Load(s.z3)
	carried(f.Add(x, Ops(z)), s.c)
	d := carried(f.Sub(x, Ops(z)), s.d)

	Comment("DA; CB")
	f.Store(f.Mul(Ops(d), Ops(a)), s.x3)
	f.Store(f.Mul(s.c, s.b), s.z3)

	Comment("A and B are C and D where the bit differs from the one above.")
	word, count := GP64(), GP64()
	MOVQ(index, word)
	SHRQ(U8(6), word)
	SHLQ(U8(map[Lanes]int{4: 5, 8: 6}[f.Lanes]), word)
	MOVQ(index, count)
	ANDQ(U8(63), count)
	shift, bits, differ := XMM(), f.New(), f.New()
	VMOVQ(count, shift)
	VMOVDQU64(Mem{Base: k, Index: word, Scale: 1}, bits)
	VPSRLQ(shift, bits, bits)
	VPXORQ(s.above[0], bits, differ)
	VMOVDQU64(bits, s.above[0])
	other, mask := f.New(), K()
	VPBROADCASTQ(one, other)
	VPTESTMQ(other, differ, mask)
	choose := func(p, q []Op) []Register {
		r := f.Load(p)
		for i := range r {
			VPBLENDMQ(q[i], r[i], mask, r[i])
		}
		return r
	}

	Comment("AA; BB; E = AA - BB")
	a = choose(s.a, s.c)
	b := choose(s.b, s.d)
	aa := f.Square(Ops(a))
	f.Store(aa, s.a)
	bb := f.Square(Ops(b))
	aa = f.Load(s.a)
	e := carried(f.Sub(aa, Ops(bb)), s.c)
	carried(aa, s.a)
	carried(bb, s.b)

	Comment("F = BB + 121666·E; z2 = E·F; x2 = AA·BB")
	ff := carried(f.MulSmallAdd(a24, Ops(e), bb), nil)
	f.Store(f.Mul(s.c, Ops(ff)), s.z2)
	f.Store(f.Mul(s.a, s.b), s.x2)

	Comment("x3 = (DA + CB)²; z3 = x1·(DA - CB)²")
	x, z = f.Load(s.x3), f.Load(s.z3)
	sum := f.Add(x, Ops(z))
	difference := carried(f.Sub(x, Ops(z)), s.d)
	_ = difference
	f.Store(f.Square(Ops(carried(sum, nil))), s.x3)
	t := carried(f.Square(s.d), nil)
	f.Store(f.Mul(s.x1, Ops(t)), s.z3)
}
