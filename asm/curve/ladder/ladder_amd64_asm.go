// Command ladder writes the kernel of X25519.
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

// frame is the stack of the ladder: numbers of four words by the names of
// RFC 7748, Section 5, scratch for two multiplications, and single words.
type frame struct {
	x1, x2, z2, x3, z3  []Op
	a, b, c, d, e, f    []Op
	scratch1, scratch2  []Op
	scalar, bits, index Mem
}

func newFrame() (f frame) {
	for _, n := range []*[]Op{
		&f.x1, &f.x2, &f.z2, &f.x3, &f.z3, &f.a, &f.b, &f.c, &f.d, &f.e, &f.f, &f.scratch1, &f.scratch2,
	} {
		*n = Memory(AllocLocal(32), 4)
	}
	f.scalar = AllocLocal(8) // the pointer to it
	f.bits = AllocLocal(8)   // the scalar from the bit of the step before on
	f.index = AllocLocal(8)  // of the bit of the step
	return f
}

func ladder(tier string, g Field64) {
	Kernel{
		Name:      "ladder" + tier,
		Signature: "func(x, z *[4]uint64, k, u *[32]byte)",
		Formula:   "sets x/z to the u-coordinate of k times the point with u-coordinate u",
		Bounds: []string{
			"k is a multiple of 8 below 2^255; the top bit of u is ignored.",
			"x and z < 2^255 + 2^199, and modulo 2^255-19 those of the twin.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 440 bytes.",
		Twin:   "ladderGeneric",
		Split:  true,
	}.Begin()
	f := newFrame()

	Comment("x1 = u without its top bit; (x2:z2) = (1:0); (x3:z3) = (x1:1)")
	u := Load(Param("u"), GP64())
	x1 := LoadWords(Memory(Mem{Base: u}, 4))
	low63 := GP64()
	MOVQ(U64(1<<63-1), low63)
	ANDQ(low63, x1[3])
	StoreWords(x1, f.x1)
	StoreWords(x1, f.x3)
	zero, one := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(U32(1), one.As32())
	for i := range 4 {
		first := zero
		if i == 0 {
			first = one
		}
		MOVQ(first, f.x2[i])
		MOVQ(zero, f.z2[i])
		MOVQ(first, f.z3[i])
	}
	k := Load(Param("k"), GP64())
	MOVQ(k, f.scalar)
	MOVQ(zero, f.bits)
	MOVQ(U32(254), f.index)

	Label("step")
	f.step(g)
	DECQ(f.index)
	CMPQ(f.index, Imm(3))
	JGE(LabelRef("step"))

	Comment("Take the point of the last bit. Three zeros end the scalar: double three times.")
	bit := GP64()
	MOVQ(f.bits, bit)
	TESTL(U32(1), bit.As32())
	for _, n := range []struct{ to, other []Op }{{f.x2, f.x3}, {f.z2, f.z3}} {
		w := LoadWords(n.to)
		SelectWords(w, n.other)
		StoreWords(w, n.to)
	}
	MOVQ(U32(3), f.index)
	Label("double")
	f.double(g)
	DECQ(f.index)
	JNZ(LabelRef("double"))

	for i, n := range [][]Op{f.x2, f.z2} {
		p := Load(ParamIndex(i), GP64())
		StoreWords(LoadWords(n), Memory(Mem{Base: p}, 4))
	}
	RET()
}

// step goes from the pair of points of the bits above the index to that of the
// bits from the index on.
//
// The pairs are not exchanged. If they were, A and C would be, and B and D, and
// so DA and CB, which x3 and z3 depend on in symmetric ways: it suffices to
// choose what is squared.
func (f frame) step(g Field64) {
	Comment("A, B = x2 ± z2; C, D = x3 ± z3")
	sumAndDifference(f.a, f.b, f.x2, f.z2)
	sumAndDifference(f.c, f.d, f.x3, f.z3)

	Comment("DA; CB")
	Interleave(g.MulSteps(f.x3, f.d, f.a, f.scratch1), g.MulSteps(f.z3, f.c, f.b, f.scratch2))

	Comment("A and B are C and D if the bit differs from the one above.")
	scalar, index, word := GP64(), GP64(), GP64()
	MOVQ(f.scalar, scalar)
	MOVQ(f.index, index)
	MOVQ(index, word)
	SHRQ(U8(6), word)
	bits, above := GP64(), GP64()
	MOVQ(Mem{Base: scalar, Index: word, Scale: 8}, bits)
	SHRXQ(index, bits, bits) // by the index mod 64
	MOVQ(f.bits, above)
	MOVQ(bits, f.bits)
	XORQ(bits, above)
	TESTL(U32(1), above.As32())
	a, b := LoadWords(f.a), LoadWords(f.b)
	SelectWords(a, f.c)
	SelectWords(b, f.d)
	StoreWords(a, f.a)
	StoreWords(b, f.b)

	Comment("AA; BB; C, D = DA ± CB; E = AA - BB")
	f.squares(g)
	sumAndDifference(f.c, f.d, f.x3, f.z3)
	f.setE()

	Comment("x3 = (DA + CB)²; D = (DA - CB)²; x2 = AA·BB; F = BB + 121666·E")
	Interleave(g.SquareSteps(f.x3, f.c, f.scratch1), g.SquareSteps(f.d, f.d, f.scratch2))
	f.setX2(g)

	Comment("z2 = E·F; z3 = x1·D")
	Interleave(g.MulSteps(f.z2, f.e, f.f, f.scratch1), g.MulSteps(f.z3, f.x1, f.d, f.scratch2))
}

// double doubles (x2:z2).
func (f frame) double(g Field64) {
	sumAndDifference(f.a, f.b, f.x2, f.z2)
	f.squares(g)
	f.setE()
	f.setX2(g)
	Interleave(g.MulSteps(f.z2, f.e, f.f, f.scratch1))
}

// squares sets A and B to AA and BB.
func (f frame) squares(g Field64) {
	Interleave(g.SquareSteps(f.a, f.a, f.scratch1), g.SquareSteps(f.b, f.b, f.scratch2))
}

// setE sets E = AA - BB.
func (f frame) setE() {
	e := LoadWords(f.a)
	SubReduced(e, f.b)
	StoreWords(e, f.e)
}

// setX2 sets x2 = AA·BB and F = BB + 121666·E, which is AA + 121665·E.
func (f frame) setX2(g Field64) {
	Interleave(g.MulSteps(f.x2, f.a, f.b, f.scratch1), Steps{func() {
		StoreWords(g.MulSmallAdd(121666, f.e, f.b), f.f)
	}})
}

// sumAndDifference stores x + z and x - z of reduced x and z.
func sumAndDifference(sum, difference, x, z []Op) {
	w := LoadWords(x)
	AddReduced(w, z)
	StoreWords(w, sum)
	w = LoadWords(x)
	SubReduced(w, z)
	StoreWords(w, difference)
}
