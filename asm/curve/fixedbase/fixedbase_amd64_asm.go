// Command fixedbase writes the multiplication of the base point.
package main

import (
	"github.com/mmcloughlin/avo/attr"
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
	fixedBase(newConstants())
	Generate()
}

// constants are those of vectors.
type constants struct {
	nibbles   Mem    // the lower halves of all bytes
	less      Mem    // what digits are less than their nibbles: 8, but for the last
	multiples [9]Mem // bytes of 0, 1, …, 8
	identity  Mem    // the first two coordinates of the identity: 1/2
	p         Mem    // 2^255-19
}

func newConstants() (c constants) {
	c.nibbles = constant("nibbles", 0x0f0f0f0f0f0f0f0f)
	const eights = 0x0808080808080808
	c.less = constant("less", eights, eights, eights, eights, eights, eights, eights, eights>>8)
	for i := range c.multiples {
		c.multiples[i] = constant("multiple"+string(rune('0'+i)), uint64(i)*0x0101010101010101)
	}
	c.identity = constant("identity", 1<<64-9, 1<<64-1, 1<<64-1, 1<<62-1)
	c.p = constant("p", 1<<64-19, 1<<64-1, 1<<64-1, 1<<63-1)
	return c
}

// constant returns static memory that holds the words, or four times the only
// one.
func constant(name string, words ...uint64) Mem {
	m := GLOBL(name, attr.NOPTR|attr.RODATA)
	for i := range max(4, len(words)) {
		DATA(8*i, U64(words[i%len(words)]))
	}
	return m
}

// frame is the stack of the kernel.
type frame struct {
	p       Point
	r       Completed
	q       [3]Mem // the entry of the table: half of y+x, y-x, 2dxy
	digits  Mem    // a byte for the absolute value of each
	signs   Mem    // a byte of ones for each negative digit
	row, at Mem    // the pointer to the row, and its index
}

func fixedBase(c constants) {
	Kernel{
		Name:      "fixedBaseMULX",
		Signature: "func(out *[4][4]uint64, table *[64][8][12]uint64, digits *[4]uint64)",
		Formula:   "sets out to the sum of digit i times the point of which row i of table holds 1..8 times",
		Bounds: []string{
			"digits holds 64 hexadecimal digits; digit i is one of them less 8, the last, at most 8, as it stands.",
			"Coordinates of table < 2^255-19, and the lowest words of the third ones at most 2^64-19;",
			"out has X, Y, Z and T = X·Y/Z, below 2^255 + 2^199, and modulo 2^255-19 those of the twin.",
			"out does not overlap the inputs.",
		},
		Timing: "Constant time: it reads all of table, in order.",
		Stack:  "Stack: 688 bytes.",
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
	f.digits, f.signs = AllocLocal(rows), AllocLocal(rows)
	f.row, f.at = AllocLocal(8), AllocLocal(8)
	yPlusX, yMinusX, t2d := At(f.q[0]), At(f.q[1]), At(f.q[2])

	f.recode(c)
	row, at := Load(Param("table"), GP64()), GP64()
	XORL(at.As32(), at.As32())
	MOVQ(row, f.row)
	MOVQ(at, f.at)
	f.choose(c, row, at)

	Comment("the identity and the first entry: A = (y-x)/2, B = (y+x)/2, C = 0, D = 1")
	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	// Below 2^255 - 19, the coordinates are reduced.
	x, y := LoadWords(yPlusX.Words()), LoadWords(yPlusX.Words())
	SubReduced(x, yMinusX.Words())
	StoreWords(x, f.r.X.Words())
	AddReduced(y, yMinusX.Words())
	StoreWords(y, f.r.Y.Words())
	one, zero := GP64(), GP64()
	MOVL(U32(1), one.As32())
	XORL(zero.As32(), zero.As32())
	for _, n := range []Number{f.r.Z, f.r.T} {
		StoreWords([]Register{one, zero, zero, zero}, n.Words())
	}

	Label("digit")
	row, at = GP64(), GP64()
	MOVQ(f.row, row)
	MOVQ(f.at, at)
	ADDQ(U32(rowSize), row)
	INCQ(at)
	MOVQ(row, f.row)
	MOVQ(at, f.at)
	f.choose(c, row, at)
	law.Extend(f.p, f.r)
	law.AddNiels(f.r, f.p, Niels{YPlusX: yPlusX, YMinusX: yMinusX, T2d: t2d}, false)
	CMPQ(f.at, Imm(rows-1))
	JNE(LabelRef("digit"))

	law.Extend(f.p, f.r)
	out := Load(Param("out"), GP64())
	for i, n := range []Number{f.p.X, f.p.Y, f.p.Z, f.p.T} {
		StoreWords(LoadWords(n.Words()), Memory(Mem{Base: out, Disp: 32 * i}, 4))
	}
	VZEROUPPER()
	RET()
}

// recode gives each digit two bytes.
func (f *frame) recode(c constants) {
	Comment("digits and signs: a nibble to a byte; less 8, but for the last; absolute value and sign")
	digits := Load(Param("digits"), GP64())
	for i := range 2 {
		n, high, zero := YMM(), YMM(), YMM()
		VPMOVZXBW(Mem{Base: digits, Disp: 16 * i}, n)
		VPSLLW(U8(4), n, high)
		VPOR(high, n, n)
		VPAND(c.nibbles, n, n)
		VPSUBB(c.less.Offset(32*i), n, n)
		magnitude, sign := YMM(), YMM()
		VPABSB(n, magnitude)
		VPXOR(zero, zero, zero)
		VPCMPGTB(n, zero, sign)
		VMOVDQU(magnitude, f.digits.Offset(32*i))
		VMOVDQU(sign, f.signs.Offset(32*i))
	}
}

// choose sets q to the multiple in the row that the digit asks for. It reads the
// whole row.
func (f *frame) choose(c constants, row, at Register) {
	indexed := func(m Mem) Mem {
		m.Index, m.Scale = at, 1
		return m
	}
	digit, sign := YMM(), YMM()
	VPBROADCASTB(indexed(f.digits), digit)
	VPBROADCASTB(indexed(f.signs), sign)

	Comment("the identity, half of (1, 1, 0), if the digit is zero")
	q := [3]VecVirtual{YMM(), YMM(), YMM()}
	VPCMPEQB(c.multiples[0], digit, q[0])
	VPAND(c.identity, q[0], q[0])
	VMOVDQA(q[0], q[1])
	for j := range 8 {
		Commentf("%d times the point", j+1)
		here := YMM()
		VPCMPEQB(c.multiples[j+1], digit, here)
		for i := range q {
			m := Mem{Base: row, Disp: entrySize*j + 32*i}
			if j == 0 && i == 2 {
				VPAND(m, here, q[i])
				continue
			}
			t := YMM()
			VPAND(m, here, t)
			VPOR(t, q[i], q[i])
		}
	}

	Comment("-(x, y) is (-x, y): exchange the first two, negate the third")
	d := YMM()
	VPXOR(q[0], q[1], d)
	VPAND(sign, d, d)
	VPXOR(d, q[0], q[0])
	VPXOR(d, q[1], q[1])
	// p minus the third, word by word: none borrows, because the lowest is at
	// most that of p, and the others of p are full, but for the top bit.
	n := YMM()
	VMOVDQU(c.p, n)
	VPSUBQ(q[2], n, n)
	VPXOR(q[2], n, n)
	VPAND(sign, n, n)
	VPXOR(n, q[2], q[2])
	for i := range q {
		VMOVDQU(q[i], f.q[i])
	}
}
