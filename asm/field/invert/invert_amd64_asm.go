// Command invert writes the inversion of field.Element. The method and the
// bounds are those of field.invertGeneric.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	invert()
	Generate()
}

const rounds = 10

// scale is 2^-590 modulo p.
var scale = [4]uint64{0xa0f99e2375022099, 0xa8c68f3f1d132595, 0x6c6c893805ac5242, 0x276508b241770615}

// frame is the stack.
type frame struct {
	f, g, d, e []Op   // signed numbers of four words
	eta, count Mem    // -1/2 - δ; the rounds that are left
	lowF, lowG Mem    // the lowest words of f and g, as far as the steps have come
	product    []Op   // the matrix of the steps of the round: u, v, q, r; later scratch
	rows       [2]row // the same by absolute values and signs
}

// row is a row (u, v) of a matrix.
type row struct {
	abs, sign [2]Mem
	ones      Mem // the sum of those absolute values whose sign is negative
}

func newFrame() (s frame) {
	for _, n := range []*[]Op{&s.f, &s.g, &s.d, &s.e, &s.product} {
		*n = Memory(AllocLocal(32), 4)
	}
	words := []*Mem{&s.eta, &s.count, &s.lowF, &s.lowG}
	for i := range s.rows {
		r := &s.rows[i]
		words = append(words, &r.abs[0], &r.abs[1], &r.sign[0], &r.sign[1], &r.ones)
	}
	for _, w := range words {
		*w = AllocLocal(8)
	}
	return s
}

func invert() {
	Kernel{
		Name:      "invertMULX",
		Signature: "func(out, a *[4]uint64)",
		Formula:   "sets out to the inverse of a mod 2^255-19, or to 0 if a is 0",
		Bounds: []string{
			"a may be any number below 2^256; out < 2^255-19.",
			"out may be a.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 272 bytes.",
		Twin:   "invertGeneric",
		Split:  true,
	}.Begin()
	s := newFrame()

	Comment("f = p; g = a mod p; d = 0; e = 2^-590; δ = 1/2")
	a := Load(Param("a"), GP64())
	g := LoadWords(Memory(Mem{Base: a}, 4))
	Reduce(g)
	StoreWords(g, s.g)
	t := GP64()
	for i, w := range [4]uint64{1<<64 - 19, 1<<64 - 1, 1<<64 - 1, 1<<63 - 1} {
		MOVQ(U64(w), t)
		MOVQ(t, s.f[i])
		MOVQ(U64(scale[i]), t)
		MOVQ(t, s.e[i])
		MOVQ(U32(0), s.d[i])
	}
	MOVQ(I32(-1), s.eta)
	MOVQ(U32(rounds), s.count)

	Label("round")
	s.steps59()
	s.split()
	Comment("f, g = (u·f + v·g)/2^59, (q·f + r·g)/2^59")
	StoreWords(s.divided(s.rows[0]), s.product)
	StoreWords(s.divided(s.rows[1]), s.g)
	StoreWords(LoadWords(s.product), s.f)
	Comment("d, e = u·d + v·e, q·d + r·e modulo p")
	StoreWords(s.modulo(s.rows[0]), s.product)
	StoreWords(s.modulo(s.rows[1]), s.e)
	StoreWords(LoadWords(s.product), s.d)
	DECQ(s.count)
	JNZ(LabelRef("round"))

	Comment("±d, as f is 1 or -1, and p more if that is negative")
	sign := GP64()
	MOVQ(s.f[3], sign)
	SARQ(U8(63), sign)
	d := LoadWords(s.d)
	for i := range d {
		XORQ(sign, d[i])
	}
	Sub(d, []Op{sign, sign, sign, sign})
	p0, p3 := GP64(), GP64()
	MOVQ(d[3], sign)
	SARQ(U8(63), sign)
	MOVQ(sign, p0)
	ANDQ(I8(-19), p0)
	MOVQ(sign, p3)
	SHRQ(U8(1), p3)
	Add(d, []Op{p0, sign, sign, p3})
	out := Load(Param("out"), GP64())
	StoreWords(d, Memory(Mem{Base: out}, 4))
	RET()
}

// steps59 does 59 division steps and stores the negative of their matrix.
func (s frame) steps59() {
	eta := GP64()
	MOVQ(s.eta, eta)
	for i, n := range []int{20, 20, 19} {
		Commentf("%d steps", n)
		lowF, lowG := s.lowF, s.lowG
		if i == 0 {
			lowF, lowG = s.f[0].(Mem), s.g[0].(Mem)
		}
		m := steps(eta, lowF, lowG, n)
		if i < 2 {
			f, g := dot(m[0], m[1], lowF, lowG), dot(m[2], m[3], lowF, lowG)
			SHRQ(U8(20), f)
			SHRQ(U8(20), g)
			MOVQ(f, s.lowF)
			MOVQ(g, s.lowG)
		}
		if i > 0 {
			p := s.product
			m = []Register{
				dot(m[0], m[1], p[0], p[2]), dot(m[0], m[1], p[1], p[3]),
				dot(m[2], m[3], p[0], p[2]), dot(m[2], m[3], p[1], p[3]),
			}
		}
		StoreWords(m, s.product)
	}
	MOVQ(eta, s.eta)
}

// dot returns u·a + v·b modulo 2^64.
func dot(u, v Register, a, b Op) Register {
	x, y := GP64(), GP64()
	MOVQ(a, x)
	IMULQ(u, x)
	MOVQ(b, y)
	IMULQ(v, y)
	ADDQ(y, x)
	return x
}

// steps does n division steps on the words f and g, and returns the negative of
// their matrix. eta is -1/2 - δ, negative if δ is positive.
func steps(eta Register, f, g Op, n int) []Register {
	x, y, start := GP64(), GP64(), GP64()
	MOVQ(f, x)
	ANDL(U32(1<<20-1), x.As32())
	MOVQ(U64(-(1<<41)&(1<<64-1)), start)
	ADDQ(start, x)
	MOVQ(g, y)
	ANDL(U32(1<<20-1), y.As32())
	MOVQ(U64(3<<62), start)
	ADDQ(start, y)
	// What is added to an odd y: x, or -x if δ > 0.
	addend := GP64()
	MOVQ(x, addend)
	NEGQ(addend)
	TESTQ(eta, eta)
	CMOVQPL(x, addend)
	for range n {
		swap, next, other := GP64(), GP64(), GP64()
		MOVQ(y, swap)
		LEAQ(Mem{Base: y, Index: addend, Scale: 1}, next)
		SHLQ(U8(63), swap)
		CMOVQEQ(y, next)
		MOVQ(eta, other)
		NOTQ(other)
		ANDQ(eta, swap) // negative if y is odd and δ > 0
		CMOVQMI(y, x)
		CMOVQMI(other, eta)
		addend = GP64()
		MOVQ(x, addend)
		NEGQ(addend)
		DECQ(eta)
		CMOVQPL(x, addend)
		SARQ(U8(1), next)
		y = next
	}
	return append(unpack(x, n), unpack(y, n)...)
}

// unpack returns the two elements of the matrix that x holds.
func unpack(x GPVirtual, n int) []Register {
	u, v := GP64(), GP64()
	LEAQ(Mem{Base: x, Disp: 1 << (40 - n)}, v)
	SARQ(U8(41-n), v)
	MOVQ(v, u)
	SHLQ(U8(43), u)
	SARQ(U8(43), u)
	SUBQ(u, v)
	SARQ(U8(21), v)
	return []Register{u, v}
}

// split stores the matrix by absolute values and signs.
func (s frame) split() {
	for i, r := range s.rows {
		ones := GP64()
		for j := range 2 {
			sign, abs := GP64(), GP64()
			MOVQ(s.product[2*i+j], abs)
			MOVQ(abs, sign)
			SARQ(U8(63), sign)
			XORQ(sign, abs)
			SUBQ(sign, abs)
			MOVQ(abs, r.abs[j])
			MOVQ(sign, r.sign[j])
			ANDQ(abs, sign)
			if j == 0 {
				MOVQ(sign, ones)
			} else {
				ADDQ(sign, ones)
			}
		}
		MOVQ(ones, r.ones)
	}
}

// combine returns 2^shift·(u·a + v·b) in five words, a and b being signed.
func (r row) combine(a, b []Op, shift int) []Register {
	var x []Register
	for j, n := range [][]Op{a, b} {
		// |u| times a or -a = ^a + 1. The ones are added to the first product;
		// the sign of ^a takes |u| from the last word.
		w := LoadWords(n)
		for i := range w {
			XORQ(r.sign[j], w[i])
		}
		MOVQ(r.abs[j], RDX)
		if shift > 0 {
			SHLQ(U8(shift), RDX)
		}
		// No carry leaves: |u| < 2^64.
		y := Row(Ops(w))
		SARQ(U8(63), w[3])
		ANDQ(RDX, w[3])
		SUBQ(w[3], y[4])
		if j == 0 {
			x = y
		} else {
			Add(x, Ops(y)) // modulo 2^320, being signed
		}
	}
	ones := GP64()
	MOVQ(r.ones, ones)
	if shift > 0 {
		SHLQ(U8(shift), ones)
	}
	Add(x, []Op{ones, Imm(0), Imm(0), Imm(0), Imm(0)})
	return x
}

// divided returns (u·f + v·g)/2^59: twice 16 times the sum, without the lowest
// word, which is zero then. The absolute value of the double is below
// 2^64·2^255.
func (s frame) divided(r row) []Register {
	x := r.combine(s.f, s.g, 4)
	Add(x, Ops(x))
	return x[1:]
}

// modulo returns u·d + v·e modulo p, as field.foldSigned does.
func (s frame) modulo(r row) []Register {
	x := r.combine(s.d, s.e, 0)
	h, half, sign := x[4], GP64(), GP64()
	ADDQ(x[3], x[3])
	ADCQ(h, h)
	MOVQ(x[3], half)
	SHRQ(U8(63), half)
	ADDQ(half, h)
	SARQ(U8(1), x[3])
	IMUL3Q(U8(19), h, h)
	MOVQ(h, sign)
	SARQ(U8(63), sign)
	Add(x[:4], []Op{h, sign, sign, sign})
	return x[:4]
}
