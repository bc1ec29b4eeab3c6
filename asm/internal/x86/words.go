package x86

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Numbers in words of 64 bits, least significant first.

// NewWords returns n virtual registers.
func NewWords(n int) []Register {
	w := make([]Register, n)
	for i := range w {
		w[i] = GP64()
	}
	return w
}

// Row returns RDX·a, one word longer than a.
func Row(a []Op) []Register {
	r := NewWords(len(a) + 1)
	MULXQ(a[0], r[0], r[1])
	for i := 1; i < len(a); i++ {
		lo := GP64()
		MULXQ(a[i], lo, r[i+1])
		if i == 1 {
			ADDQ(lo, r[i])
		} else {
			ADCQ(lo, r[i])
		}
	}
	// The high word of a product is at most 2^64 - 2, so that this ends it.
	if len(a) > 1 {
		ADCQ(Imm(0), r[len(a)])
	}
	return r
}

// Add adds the words of b, registers or memory or constants below 2^31, to
// those of a, and leaves the carry in CF.
func Add(a []Register, b []Op) {
	ADDQ(b[0], a[0])
	for i := 1; i < len(b); i++ {
		ADCQ(b[i], a[i])
	}
}

// Sub subtracts the words of b from those of a, and leaves the borrow in CF.
func Sub(a []Register, b []Op) {
	SUBQ(b[0], a[0])
	for i := 1; i < len(b); i++ {
		SBBQ(b[i], a[i])
	}
}

// AddRow adds the row r, whose first word has the weight of a[at], to a, which
// it makes longer by what r is beyond it. The sum must fit into that.
func AddRow(a []Register, at int, r []Register) []Register {
	n := len(a) - at
	Add(a[at:], Ops(r[:n]))
	for _, top := range r[n:] {
		ADCQ(Imm(0), top)
		a = append(a, top)
	}
	return a
}

// Shift60 returns lo/2^60 + hi·2^4 mod 2^64 in a fresh register: a word of a
// number split at a multiple of 64, less 4, bits.
func Shift60(lo, hi Register) Register {
	t, u := GP64(), GP64()
	MOVQ(lo, t)
	SHRQ(U8(60), t)
	MOVQ(hi, u)
	SHLQ(U8(4), u)
	ORQ(u, t)
	return t
}

// Ops makes operands of registers.
func Ops(r []Register) []Op {
	ops := make([]Op, len(r))
	for i := range r {
		ops[i] = r[i]
	}
	return ops
}

// Memory returns n words behind m as operands.
func Memory(m Mem, n int) []Op {
	ops := make([]Op, n)
	for i := range ops {
		ops[i] = m.Offset(8 * i)
	}
	return ops
}
