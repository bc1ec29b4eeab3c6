// Command ladder writes the kernels of X25519.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	ladder("MULX", Field64{})
	Generate()
}

// frame is the stack of the ladder: numbers of four words.
type frame struct {
	x1, x2, z2, x3, z3 []Op
	a, b, c, d, e      []Op
	k, last            Mem // the pointer to the scalar; its bit of the step before
	i                  Mem // the position of the bit
}

func newFrame() (f frame) {
	for _, p := range []*[]Op{&f.x1, &f.x2, &f.z2, &f.x3, &f.z3, &f.a, &f.b, &f.c, &f.d, &f.e} {
		*p = Memory(AllocLocal(32), 4)
	}
	f.k, f.last, f.i = AllocLocal(8), AllocLocal(8), AllocLocal(8)
	return f
}

func ladder(tier string, g Field64) {
	Kernel{
		Name:      "ladder" + tier,
		Signature: "func(x, z *[4]uint64, k, u *[32]byte)",
		Formula:   "sets x/z to the u-coordinate of k times the point with u-coordinate u",
		Bounds: []string{
			"k is a multiple of 8 below 2^255; the top bit of u is ignored.",
			"x and z < 2^255 + 2^24, and modulo 2^255-19 those of the twin.",
			"The results may be any of the inputs.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 344 bytes.",
		Twin:   "ladderGeneric",
		Split:  true,
	}.Begin()
	f := newFrame()

	Comment("x1 = u without its top bit; (x2:z2) = (1:0), (x3:z3) = (x1:1)")
	u := Load(Param("u"), GP64())
	w := LoadWords(Memory(Mem{Base: u}, 4))
	t := GP64()
	MOVQ(U64(1<<63-1), t)
	ANDQ(t, w[3])
	StoreWords(w, f.x1)
	StoreWords(w, f.x3)
	zero, one := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(U32(1), one.As32())
	for i := range 4 {
		MOVQ(zero, f.z2[i])
		first := zero
		if i == 0 {
			first = one
		}
		MOVQ(first, f.x2[i])
		MOVQ(first, f.z3[i])
	}
	k := Load(Param("k"), GP64())
	MOVQ(k, f.k)
	MOVQ(zero, f.last)
	MOVQ(U32(254), f.i)

	Label("step")
	f.step(g)
	DECQ(f.i)
	CMPQ(f.i, Imm(3))
	JGE(LabelRef("step"))

	Comment("The last bit was that of 8, and the scalar ends in three zeros: swap and double.")
	f.swap()
	MOVQ(U32(3), f.i)
	Label("double")
	f.double(g)
	DECQ(f.i)
	JNZ(LabelRef("double"))

	store := func(param string, from []Op) {
		p := Load(Param(param), GP64())
		StoreWords(LoadWords(from), Memory(Mem{Base: p}, 4))
	}
	store("x", f.x2)
	store("z", f.z2)
	RET()
}

// sumAndDifference stores x + z and x - z, of reduced x and z.
func sumAndDifference(sum, difference, x, z []Op) {
	r := LoadWords(x)
	AddReduced(r, z)
	StoreWords(r, sum)
	r = LoadWords(x)
	SubReduced(r, z)
	StoreWords(r, difference)
}

// step goes from the pair of points of the bits above i to that of the bits from
// i. RFC 7748, Section 5, has the formulas and the names.
//
// The pairs are not exchanged: if they were, A and C would be, and B and D, and
// so DA and CB. These are used in symmetric ways, so that it suffices to choose
// what is squared.
func (f frame) step(g Field64) {
	Comment("A, B = x2 ± z2; C, D = x3 ± z3")
	sumAndDifference(f.a, f.b, f.x2, f.z2)
	sumAndDifference(f.c, f.d, f.x3, f.z3)

	Comment("DA; CB")
	StoreWords(g.Mul(f.d, f.a), f.x3)
	StoreWords(g.Mul(f.c, f.b), f.z3)

	Comment("A, B or C, D, by whether the bit differs from the last one")
	k, i := GP64(), GP64()
	MOVQ(f.i, i)
	MOVQ(f.k, k)
	at := GP64()
	MOVQ(i, at)
	SHRQ(U8(6), at)
	bits := GP64()
	MOVQ(Mem{Base: k, Index: at, Scale: 8}, bits)
	SHRXQ(i, bits, bits)
	last := GP64()
	MOVQ(f.last, last)
	MOVQ(bits, f.last)
	XORQ(bits, last)
	TESTQ(U32(1), last)
	a, b := LoadWords(f.a), LoadWords(f.b)
	SelectWords(a, f.c)
	SelectWords(b, f.d)
	StoreWords(a, f.a)
	StoreWords(b, f.b)

	f.doubleOf(g)

	Comment("x3 = (DA + CB)²; z3 = x1·(DA - CB)²")
	sumAndDifference(f.c, f.d, f.x3, f.z3)
	StoreWords(g.Square(f.c), f.x3)
	StoreWords(g.Square(f.d), f.d)
	StoreWords(g.Mul(f.x1, f.d), f.z3)
}

// doubleOf sets x2 and z2 to the double of the point whose A and B are given.
func (f frame) doubleOf(g Field64) {
	Comment("AA; BB; x2 = AA·BB; E = AA - BB; z2 = E·(BB + 121666·E)")
	StoreWords(g.Square(f.a), f.a)
	StoreWords(g.Square(f.b), f.b)
	e := LoadWords(f.a)
	SubReduced(e, f.b)
	StoreWords(e, f.e)
	StoreWords(g.Mul(f.a, f.b), f.x2)
	t := g.MulSmallAdd(121666, f.e, f.b)
	StoreWords(t, f.a)
	StoreWords(g.Mul(f.e, f.a), f.z2)
}

// double doubles (x2:z2).
func (f frame) double(g Field64) {
	sumAndDifference(f.a, f.b, f.x2, f.z2)
	f.doubleOf(g)
}

// swap exchanges the points if the last bit was one.
func (f frame) swap() {
	last := GP64()
	MOVQ(f.last, last)
	TESTQ(U32(1), last)
	for _, p := range []struct{ a, b []Op }{{f.x2, f.x3}, {f.z2, f.z3}} {
		a := LoadWords(p.a)
		SelectWords(a, p.b)
		StoreWords(a, p.a)
	}
}
