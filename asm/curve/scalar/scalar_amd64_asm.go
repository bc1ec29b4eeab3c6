// Command scalar writes the kernels of curve.Scalar.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

// The group order is ℓ = 2^252 + c1·2^64 + c0.
const (
	c0 = 0x5812631a5cf5d3ed
	c1 = 0x14def9dea2f79cd6

	low60 = 1<<60 - 1
)

func main() {
	ConstraintExpr("!purego")
	mulAdd()
	reduceWide()
	Generate()
}

func mulAdd() {
	Kernel{
		Name:      "scalarMulAddMULX",
		Signature: "func(out, a, b, c *[4]uint64)",
		Formula:   "sets out = a·b + c mod ℓ",
		Bounds: []string{
			"The inputs may be any numbers below 2^256; out < ℓ.",
			"out may be any of the inputs.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 104 bytes.",
		Twin:   "scalarMulAddGeneric",
	}.Begin()
	s := newScratch()
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())

	Comment("x0..x7 = a·b + c, which is below 2^512, by rows")
	MOVQ(Mem{Base: a}, RDX)
	x := Row(Memory(Mem{Base: b}, 4))
	c := Load(Param("c"), GP64())
	Add(x, append(Memory(Mem{Base: c}, 4), Imm(0)))
	for i := 1; i < 4; i++ {
		// The word below is final.
		MOVQ(x[i-1], s.x.Offset(8*(i-1)))
		MOVQ(Mem{Base: a, Disp: 8 * i}, RDX)
		x = AddRow(x, i, Row(Memory(Mem{Base: b}, 4)))
	}
	reduce(s, x[3:])
	RET()
}

func reduceWide() {
	Kernel{
		Name:      "scalarReduceWideMULX",
		Signature: "func(out *[4]uint64, x *[8]uint64)",
		Formula:   "sets out = x mod ℓ",
		Bounds: []string{
			"x may be any number below 2^512; out < ℓ.",
			"out may lie in x.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 104 bytes.",
		Twin:   "scalarReduceWideGeneric",
	}.Begin()
	s := newScratch()
	p := Load(Param("x"), GP64())
	for i := range 3 {
		t := GP64()
		MOVQ(Mem{Base: p, Disp: 8 * i}, t)
		MOVQ(t, s.x.Offset(8*i))
	}
	high := NewWords(5)
	for i := range high {
		MOVQ(Mem{Base: p, Disp: 24 + 8*i}, high[i])
	}
	reduce(s, high)
	RET()
}

// scratch is the stack of a kernel.
type scratch struct {
	x  Mem // the low 252 bits of x
	h  Mem // x / 2^252, 5 words
	l1 Mem // the low 252 bits of c·h
}

func newScratch() scratch {
	return scratch{AllocLocal(32), AllocLocal(40), AllocLocal(32)}
}

// reduce stores x mod ℓ to out. The words 0 to 2 of x are in s.x, the words 3
// to 7 in high. The derivation is that of scalarReduceWideGeneric.
func reduce(s scratch, high []Register) {
	mask := GP64()

	Comment("x = x0 + 2^252·h; h < 2^260")
	for i := range 4 {
		MOVQ(Shift60(high[i], high[i+1]), s.h.Offset(8*i))
	}
	SHRQ(U8(60), high[4])
	MOVQ(high[4], s.h.Offset(32))
	MOVQ(U64(low60), mask)
	ANDQ(mask, high[0])
	MOVQ(high[0], s.x.Offset(24))

	Comment("t = c·h < 2^385; t = l1 + 2^252·h1; h1 < 2^133")
	MOVQ(U64(c0), RDX)
	t := Row(Memory(s.h, 5))
	MOVQ(U64(c1), RDX)
	t = AddRow(t, 1, Row(Memory(s.h, 5)))
	var h1 []Register
	for i := 3; i < 6; i++ {
		h1 = append(h1, Shift60(t[i], t[i+1]))
	}
	MOVQ(U64(low60), mask)
	ANDQ(mask, t[3])
	for i := range 4 {
		MOVQ(t[i], s.l1.Offset(8*i))
	}

	Comment("u = c·h1 < 2^257; u = l2 + 2^252·h2; h2 < 2^5")
	MOVQ(U64(c0), RDX)
	u := Row(Ops(h1))
	MOVQ(U64(c1), RDX)
	u = AddRow(u, 1, Row(Ops(h1)))
	h2 := Shift60(u[3], u[4])
	MOVQ(U64(low60), mask)
	ANDQ(mask, u[3])

	Comment("v = l2 + x0 + 2·ℓ - l1 - c·h2, above 0 and below 4·ℓ")
	k0, k1, k3 := GP64(), GP64(), GP64()
	MOVQ(h2, RDX)
	MOVQ(U64(c0), k0)
	MOVQ(U64(c1), k1)
	t3 := Row([]Op{k0, k1})
	v := u[:4]
	Add(v, Memory(s.x, 4))
	twice := []Op{k0, k1, Imm(0), k3}
	MOVQ(U64(2*c0&(1<<64-1)), k0)
	MOVQ(U64(2*c1+2*c0>>64), k1)
	MOVQ(U64(1<<61), k3)
	Add(v, twice)
	Sub(v, Memory(s.l1, 4))
	Sub(v, append(Ops(t3), Imm(0)))

	Comment("Subtract 2·ℓ, then ℓ, where that leaves no borrow.")
	subtractIfNotLess(v, twice)
	MOVQ(U64(c0), k0)
	MOVQ(U64(c1), k1)
	MOVQ(U64(1<<60), k3)
	subtractIfNotLess(v, twice)

	out := Load(Param("out"), GP64())
	for i := range v {
		MOVQ(v[i], Mem{Base: out, Disp: 8 * i})
	}
}

// subtractIfNotLess sets v -= k if v >= k.
func subtractIfNotLess(v []Register, k []Op) {
	d := NewWords(4)
	for i := range d {
		MOVQ(v[i], d[i])
	}
	Sub(d, k)
	for i := range d {
		CMOVQCC(d[i], v[i])
	}
}
