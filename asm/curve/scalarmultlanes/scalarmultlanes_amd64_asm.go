// Command scalarmultlanes writes the multiplication of several points by several
// scalars side by side.
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
	c := newConstants()
	for _, lanes := range []Lanes{4, 8} {
		scalarMult(Field51{Lanes: lanes, C: c.field}, c)
	}
	Generate()
}

type constants struct {
	field    Constants51
	digits   DigitConstants
	one, two Mem
	twoP     [2]Mem // the limbs of 2p: the first, and the others
	d2       [5]Mem // twice the d of the curve, in limbs
}

func newConstants() (c constants) {
	c.field, c.digits = NewConstants51(), NewDigitConstants()
	c.one, c.two = Word("one", 1), Word("two", 2)
	c.twoP = [2]Mem{Word("twoP0", 1<<52-38), Word("twoP", 1<<52-2)}
	w := [4]uint64{0xebd69b9426b2f159, 0x00e0149a8283b156, 0x198e80f2eef3d130, 0x2406d9dc56dffce7}
	const mask = 1<<51 - 1
	for i, l := range [5]uint64{w[0] & mask, (w[0]>>51 | w[1]<<13) & mask, (w[1]>>38 | w[2]<<26) & mask, (w[2]>>25 | w[3]<<39) & mask, w[3] >> 12} {
		c.d2[i] = Word(fmt.Sprintf("d2limb%d", i), l)
	}
	return c
}

// frame is the stack of a kernel: numbers of five vectors.
type frame struct {
	x, y, z, t []Op // the sum, wide
	// The result of an addition or a doubling before the last multiplications,
	// carried: x = a/c, y = b/e.
	a, b, c, e []Op
	q          [4][]Op // the entry of the table: Y+X, Y-X, 2Z, 2dT, carried
	table      Mem     // of its multiples 1 to 8
}

const (
	numbers = 12 // of the frame, before the table
	entry   = 20 // vectors
)

func scalarMult(f Field51, c constants) {
	size := (5*numbers + 8*entry) * f.Size()
	Kernel{
		Name:      fmt.Sprintf("scalarMult%dIFMA", f.Lanes),
		Signature: fmt.Sprintf("func(out, p *[4][5][%[1]d]uint64, digits *[4][%[1]d]uint64)", f.Lanes),
		Formula:   "sets out, lane by lane, to the sum of digit i times 16^i times the point p",
		Bounds: []string{
			"digits holds 64 hexadecimal digits a lane; digit i is one of them less 8, the last, at most 8, as it stands.",
			"p and out have X, Y, Z and T = X·Y/Z; limbs of p < 2^51 + 2^18, and so those of out.",
			"out does not overlap the inputs.",
		},
		Timing: "Constant time.",
		Stack:  fmt.Sprintf("Stack: %d bytes.", size+56),
		Twin:   "Point.ScalarMult, for each lane",
		Split:  true,
	}.Begin()
	base := AlignedFrame(size)
	var s frame
	all := []*[]Op{&s.x, &s.y, &s.z, &s.t, &s.a, &s.b, &s.c, &s.e}
	for i := range s.q {
		all = append(all, &s.q[i])
	}
	for i, n := range all {
		*n = f.Vectors(base.Offset(5*i*f.Size()), 5)
	}
	s.table = base.Offset(5 * numbers * f.Size())

	Comment("The multiples 1 to 8 of the point, as entries.")
	p := Load(Param("p"), GP64())
	for i, n := range [][]Op{s.x, s.y, s.z, s.t} {
		f.Store(f.Load(f.Vectors(Mem{Base: p, Disp: 5 * i * f.Size()}, 5)), n)
	}
	s.cache(f, c, s.q, f.Load(s.t))
	at, count := GP64(), GP64()
	LEAQ(s.table, at)
	MOVL(U32(8), count.As32())
	multiples := fmt.Sprintf("multiples%d", f.Lanes)
	Label(multiples)
	var to [4][]Op
	for i := range to {
		to[i] = f.Vectors(Mem{Base: at, Disp: 5 * i * f.Size()}, 5)
	}
	s.cache(f, c, to, carry(f, f.Load(s.t)))
	s.add(f)
	s.project(f)
	s.setT(f)
	ADDQ(U32(entry*f.Size()), at)
	SUBQ(Imm(1), count)
	JNE(LabelRef(multiples))

	Comment("the identity")
	zero, unit := f.Zero(), f.New()
	VPBROADCASTQ(c.one, unit)
	for _, n := range [][]Op{s.x, s.y, s.z} {
		for i := range n {
			VMOVDQU64(zero, n[i])
		}
	}
	VMOVDQU64(unit, s.y[0])
	VMOVDQU64(unit, s.z[0])
	digits := Load(Param("digits"), GP64())
	index := GP64()
	MOVL(U32(63), index.As32())

	digit := fmt.Sprintf("digit%d", f.Lanes)
	Label(digit)
	doublings := GP64()
	MOVL(U32(4), doublings.As32())
	double := fmt.Sprintf("double%d", f.Lanes)
	Label(double)
	s.double(f)
	s.project(f)
	SUBQ(Imm(1), doublings)
	JNE(LabelRef(double))
	s.setT(f)
	s.choose(f, c, digits, index)
	s.add(f)
	s.project(f)
	SUBQ(Imm(1), index)
	JCC(LabelRef(digit))

	s.setT(f)
	out := Load(Param("out"), GP64())
	for i, n := range [][]Op{s.x, s.y, s.z, s.t} {
		f.Store(carry(f, f.Load(n)), f.Vectors(Mem{Base: out, Disp: 5 * i * f.Size()}, 5))
	}
	VZEROUPPER()
	RET()
}

func carry(f Field51, r []Register) []Register {
	f.Carry(r)
	return r
}

// cache stores the sum, whose T is given, carried, as an entry.
func (s frame) cache(f Field51, c constants, to [4][]Op, t []Register) {
	Comment("Y+X, Y-X, 2·Z, 2·d·T")
	d2 := make([]Op, 5)
	for i := range d2 {
		r := f.New()
		VPBROADCASTQ(c.d2[i], r)
		d2[i] = r
	}
	f.Store(carry(f, f.Mul(Ops(t), d2)), to[3])
	x, y := f.Load(s.x), f.Load(s.y)
	f.Store(carry(f, f.Add(y, Ops(x))), to[0])
	f.Store(carry(f, f.Sub(y, Ops(x))), to[1])
	z := f.Load(s.z)
	f.Store(carry(f, f.Add(z, Ops(z))), to[2])
}

// add adds the entry to the sum, up to the last multiplications.
func (s frame) add(f Field51) {
	Comment("A = (Y-X)·(Y'-X'), B = (Y+X)·(Y'+X'), C = T·2dT', D = Z·2Z'")
	x, y := f.Load(s.x), f.Load(s.y)
	difference, sum := carry(f, f.Sub(y, Ops(x))), carry(f, f.Add(y, Ops(x)))
	f.Store(sum, s.b)
	f.Store(f.Mul(Ops(difference), s.q[1]), s.a)
	f.Store(f.Mul(s.b, s.q[0]), s.b)
	f.Store(f.Mul(Ops(carry(f, f.Load(s.t))), s.q[3]), s.c)
	d := f.Mul(Ops(carry(f, f.Load(s.z))), s.q[2])

	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	c := f.Load(s.c)
	f.Store(carry(f, f.Add(d, Ops(c))), s.c)
	f.Store(carry(f, f.Sub(d, Ops(c))), s.e)
	a, b := f.Load(s.a), f.Load(s.b)
	f.Store(carry(f, f.Sub(b, Ops(a))), s.a)
	f.Store(carry(f, f.Add(b, Ops(a))), s.b)
}

// double doubles the sum, up to the last multiplications. It reads no T.
func (s frame) double(f Field51) {
	Comment("A = X², B = Y², C = Z², D = (X+Y)²")
	x, y := f.Load(s.x), f.Load(s.y)
	sum := f.Add(x, Ops(y))
	f.Store(f.Square(Ops(carry(f, sum))), s.e)
	f.Store(f.Square(Ops(carry(f, f.Load(s.x)))), s.a)
	f.Store(f.Square(Ops(carry(f, f.Load(s.z)))), s.c)
	b := f.Square(Ops(carry(f, f.Load(s.y))))

	Comment("Y = B + A, X = D - Y, Z = B - A, T = 2·C - Z")
	a := f.Load(s.a)
	y = f.Add(b, Ops(a))
	f.Store(carry(f, f.Sub(f.Load(s.e), Ops(y))), s.a)
	c := f.Load(s.c)
	c = f.Add(f.Add(c, Ops(c)), Ops(a))
	f.Store(carry(f, f.Sub(c, Ops(b))), s.e)
	f.Store(carry(f, f.Sub(b, Ops(a))), s.c)
	f.Store(carry(f, y), s.b)
}

// project sets the sum, but for T.
func (s frame) project(f Field51) {
	Comment("X = X·T, Y = Y·Z, Z = Z·T")
	f.Store(f.Mul(s.a, s.e), s.x)
	f.Store(f.Mul(s.b, s.c), s.y)
	f.Store(f.Mul(s.c, s.e), s.z)
}

// setT sets T of the sum.
func (s frame) setT(f Field51) {
	Comment("T = X·Y")
	f.Store(f.Mul(s.a, s.b), s.t)
}

// choose sets the entry to the digits at the index times the point.
func (s frame) choose(f Field51, c constants, digits, index Register) {
	digit, negative := f.Digit(c.digits, digits, index)
	Comment("Zero selects the identity, (1, 1, 2, 0).")
	q := make([][]Register, 4)
	for i := range q {
		for j := range 5 {
			switch {
			case j == 0 && i < 3:
				r := f.New()
				VPBROADCASTQ([]Mem{c.one, c.one, c.two}[i], r)
				q[i] = append(q[i], r)
			default:
				q[i] = append(q[i], f.Zero())
			}
		}
	}
	at, n := GP64(), GP64()
	LEAQ(s.table, at)
	MOVL(U32(1), n.As32())
	choose := fmt.Sprintf("choose%d", f.Lanes)
	Label(choose)
	multiple, here := f.New(), K()
	VPBROADCASTQ(n, multiple)
	VPCMPEQQ(multiple, digit, here)
	for i := range q {
		for j := range q[i] {
			VMOVDQU64(Mem{Base: at, Disp: (5*i + j) * f.Size()}, here, q[i][j])
		}
	}
	ADDQ(U32(entry*f.Size()), at)
	ADDQ(Imm(1), n)
	CMPQ(n, Imm(9))
	JNE(LabelRef(choose))

	Comment("The negative: the first two coordinates exchanged, the last one negated.")
	for j := range 5 {
		plus, p := f.New(), f.New()
		VMOVDQU64(q[0][j], plus)
		VMOVDQU64(q[1][j], negative, q[0][j])
		VMOVDQU64(plus, negative, q[1][j])
		VPBROADCASTQ(c.twoP[min(j, 1)], p)
		VPSUBQ(q[3][j], p, negative, q[3][j])
	}
	for i := range q {
		f.Store(q[i], s.q[i])
	}
}
