// Command fixedbaselanes writes the multiplication of the base point by eight
// scalars side by side.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

const (
	rows      = 64
	entrySize = 96
	rowSize   = 8 * entrySize
)

func main() {
	ConstraintExpr("!purego")
	c := newConstants()
	fixedBase(Field51{Lanes: 8, C: c.field}, c)
	Generate()
}

type constants struct {
	field     Constants51
	digits    DigitConstants
	one       Mem
	multiples [9]Mem // 0, 1, …, 8
	half      [4]Mem // 1/2 modulo p
	twoP      [2]Mem // the limbs of 2p: the first, and the others
}

func newConstants() (c constants) {
	c.field = NewConstants51()
	c.digits, c.one = NewDigitConstants(), Word("one", 1)
	for i := 1; i < len(c.multiples); i++ {
		c.multiples[i] = Word(fmt.Sprintf("multiple%d", i), uint64(i))
	}
	for i, w := range [4]uint64{1<<64 - 9, 1<<64 - 1, 1<<64 - 1, 1<<62 - 1} {
		c.half[i] = Word(fmt.Sprintf("half%d", i), w)
	}
	c.twoP = [2]Mem{Word("twoP0", 1<<52-38), Word("twoP", 1<<52-2)}
	return c
}

// frame is the stack of a kernel: numbers of five vectors.
type frame struct {
	x, y, z, t           []Op // the sum, wide
	yPlusX, yMinusX, t2d []Op // the entry of the table, carried
	a, b, c, e           []Op // of the addition
}

func fixedBase(f Field51, c constants) {
	Kernel{
		Name:      fmt.Sprintf("fixedBase%dIFMA", f.Lanes),
		Signature: fmt.Sprintf("func(out *[4][5][%[1]d]uint64, table *[64][8][12]uint64, digits *[4][%[1]d]uint64)", f.Lanes),
		Formula:   "sets out, lane by lane, to the sum of digit i times the point of which row i of table holds 1..8 times",
		Bounds: []string{
			"digits holds 64 hexadecimal digits a lane; digit i is one of them less 8, the last, at most 8, as it stands.",
			"Coordinates of table < 2^255-19; out has X, Y, Z and T = X·Y/Z, their limbs < 2^51 + 2^18.",
			"out does not overlap the inputs.",
		},
		Timing: "Constant time: it reads all of table, in order.",
		Stack:  fmt.Sprintf("Stack: %d bytes.", 55*f.Size()+56),
		Twin:   "fixedBaseGeneric, for each lane",
		Split:  true,
	}.Begin()
	base := AlignedFrame(55 * f.Size())
	var s frame
	for i, n := range []*[]Op{&s.x, &s.y, &s.z, &s.t, &s.yPlusX, &s.yMinusX, &s.t2d, &s.a, &s.b, &s.c, &s.e} {
		*n = f.Vectors(base.Offset(5*i*f.Size()), 5)
	}

	Comment("the identity")
	zero, unit := f.Zero(), f.New()
	VPBROADCASTQ(c.one, unit)
	for _, n := range [][]Op{s.x, s.y, s.z, s.t} {
		for i := range n {
			VMOVDQU64(zero, n[i])
		}
	}
	VMOVDQU64(unit, s.y[0])
	VMOVDQU64(unit, s.z[0])
	table, digits := Load(Param("table"), GP64()), Load(Param("digits"), GP64())
	index := GP64()
	XORL(index.As32(), index.As32())

	loop := fmt.Sprintf("row%d", f.Lanes)
	Label(loop)
	s.choose(f, c, table, digits, index)
	s.add(f)
	ADDQ(U32(rowSize), table)
	ADDQ(Imm(1), index)
	CMPQ(index, Imm(rows))
	JNE(LabelRef(loop))

	p := Load(Param("out"), GP64())
	for i, n := range [][]Op{s.x, s.y, s.z, s.t} {
		r := f.Load(n)
		f.Carry(r)
		f.Store(r, f.Vectors(Mem{Base: p, Disp: 5 * i * f.Size()}, 5))
	}
	VZEROUPPER()
	RET()
}

// choose sets the entry to the digits at the index times the point of the row.
func (s frame) choose(f Field51, c constants, table, digits, index Register) {
	digit, negative := f.Digit(c.digits, digits, index)

	Comment("Zero selects the identity, half of (1, 1, 0).")
	w := make([]Register, 12)
	for i := range 4 {
		w[i], w[4+i], w[8+i] = f.New(), f.New(), f.Zero()
		VPBROADCASTQ(c.half[i], w[i])
		VPBROADCASTQ(c.half[i], w[4+i])
	}
	multiple := f.New()
	for n := 1; n <= 8; n++ {
		here := K()
		VPBROADCASTQ(c.multiples[n], multiple)
		VPCMPEQQ(multiple, digit, here)
		for i := range w {
			VPBROADCASTQ(Mem{Base: table, Disp: (n-1)*entrySize + 8*i}, here, w[i])
		}
	}

	Comment("The negative: the first two coordinates exchanged, the third one negated.")
	var yPlusX, yMinusX [4]Register
	for i := range 4 {
		yPlusX[i], yMinusX[i] = f.New(), f.New()
		VPBLENDMQ(w[4+i], w[i], negative, yPlusX[i])
		VPBLENDMQ(w[i], w[4+i], negative, yMinusX[i])
	}
	f.Store(limbs(f, yPlusX[:]), s.yPlusX)
	f.Store(limbs(f, yMinusX[:]), s.yMinusX)
	t := limbs(f, w[8:])
	VPANDQ_BCST(f.C.Mask, t[4], t[4]) // at most the limb of 2p
	for i := range t {
		p := f.New()
		VPBROADCASTQ(c.twoP[min(i, 1)], p)
		VPSUBQ(t[i], p, negative, t[i])
	}
	f.Store(t, s.t2d)
}

// limbs takes numbers of four words, below 2^255, apart.
func limbs(f Field51, w []Register) []Register {
	l := make([]Register, 5)
	for i := range l {
		l[i] = f.New()
		switch i {
		case 0:
			VPANDQ_BCST(f.C.Mask, w[0], l[0])
			continue
		case 4: // of 52 bits at most, as factors are
			VPSRLQ(U8(12), w[3], l[4])
			continue
		default:
			up := f.New()
			VPSRLQ(U8(64-13*i), w[i-1], l[i])
			VPSLLQ(U8(13*i), w[i], up)
			VPORQ(up, l[i], l[i])
		}
		VPANDQ_BCST(f.C.Mask, l[i], l[i])
	}
	return l
}

// add adds the entry, half of (y+x, y-x, 2dxy), to the sum.
func (s frame) add(f Field51) {
	carry := func(r []Register) []Register {
		f.Carry(r)
		return r
	}
	Comment("A = (Y-X)·(y-x), B = (Y+X)·(y+x), C = T·2dxy; D = Z")
	x, y := f.Load(s.x), f.Load(s.y)
	difference, sum := carry(f.Sub(y, Ops(x))), carry(f.Add(y, Ops(x)))
	f.Store(sum, s.b)
	f.Store(f.Mul(Ops(difference), s.yMinusX), s.a)
	f.Store(f.Mul(s.b, s.yPlusX), s.b)
	c := f.Mul(Ops(carry(f.Load(s.t))), s.t2d)

	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	d := f.Load(s.z)
	f.Store(carry(f.Add(d, Ops(c))), s.c)
	f.Store(carry(f.Sub(d, Ops(c))), s.e)
	a, b := f.Load(s.a), f.Load(s.b)
	f.Store(carry(f.Sub(b, Ops(a))), s.a)
	f.Store(carry(f.Add(b, Ops(a))), s.b)

	Comment("X = X·T, Y = Y·Z, Z = Z·T, T = X·Y")
	f.Store(f.Mul(s.a, s.e), s.x)
	f.Store(f.Mul(s.b, s.c), s.y)
	f.Store(f.Mul(s.c, s.e), s.z)
	f.Store(f.Mul(s.a, s.b), s.t)
}
