// Package edwards holds the addition laws of edwards25519 for the avo programs
// that use them: those of Hisil, Wong, Carter and Dawson (eprint 2008/522) for
// a = -1, which are complete, over numbers of four words in memory.
package edwards

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

// A Number is four words in memory.
type Number struct {
	m Mem
	// The memory is that of m behind the pointer or, if index is true, m moved
	// by the offset that is here, in memory itself.
	through *Mem
	index   bool
}

// At returns the number at m, which is on the stack or static.
func At(m Mem) Number { return Number{m: m} }

// Local returns a number on the stack.
func Local() Number { return At(AllocLocal(32)) }

// Behind returns the number at disp behind the pointer that is at m.
func Behind(m Mem, disp int) Number { return Number{Mem{Disp: disp}, &m, false} }

// Moved returns the number that is at m plus the offset that is at by.
func Moved(m, by Mem) Number { return Number{m, &by, true} }

// Words returns the words. It uses a register until the last of them is used,
// if they are not at a fixed place.
func (n Number) Words() []Op {
	m := n.m
	if n.through != nil {
		p := GP64()
		MOVQ(*n.through, p)
		if n.index {
			m.Index, m.Scale = p, 1
		} else {
			m.Base = p
		}
	}
	return Memory(m, 4)
}

// A Point is x = X/Z, y = Y/Z, xy = T/Z. Its coordinates are reduced.
type Point struct{ X, Y, Z, T Number }

// NewPoint returns a point on the stack.
func NewPoint() Point { return Point{Local(), Local(), Local(), Local()} }

// A Completed is x = X/Z, y = Y/T, the result of an addition or a doubling
// before the last multiplications. Its coordinates are any numbers below 2^256.
type Completed struct{ X, Y, Z, T Number }

// A Niels is the affine second operand of an addition: half of y+x, y-x, 2dxy,
// which gives half the sum and saves computing 2Z. Its coordinates are any
// numbers below 2^256.
type Niels struct{ YPlusX, YMinusX, T2d Number }

// A Cached is the second operand of an addition: Y+X, Y-X, 2Z, 2dT. Its
// coordinates are any numbers below 2^256.
type Cached struct{ YPlusX, YMinusX, Z2, T2d Number }

// A Law writes the formulas. The points and results that they are given are at
// fixed places, the second operands of additions anywhere, and so are Z and T of
// their results.
type Law struct {
	field      Field64
	a, b, c, d Number
	scratch    [2][]Op
}

// NewLaw returns a law with 192 bytes of the stack.
func NewLaw(f Field64) Law {
	return Law{f, Local(), Local(), Local(), Local(), [2][]Op{Local().Words(), Local().Words()}}
}

// A product is of two numbers, or the square of a if b is nil; a may be anywhere,
// out and b are at fixed places.
type product struct {
	out, a Number
	b      *Number
}

func square(out, a Number) product { return product{out, a, nil} }
func mul(out, a, b Number) product { return product{out, a, &b} }

// multiply computes one product, or two in turns.
func (l Law) multiply(products ...product) {
	steps := make([]Steps, len(products))
	for i, p := range products {
		out, scratch := p.out.Words(), l.scratch[i]
		switch {
		case p.b == nil:
			steps[i] = l.field.SquareSteps(out, p.a.Words(), scratch)
		case p.a.through == nil:
			steps[i] = l.field.MulSteps(out, p.a.Words(), p.b.Words(), scratch)
		default:
			// A pointer in a register would be one too many. The first four steps
			// begin with loading a word of a to RDX, once and for all.
			m := p.a.m
			m.Base = RDX
			steps[i] = l.field.MulSteps(out, Memory(m, 4), p.b.Words(), scratch)
			for j, step := range steps[i][:4] {
				steps[i][j] = func() {
					MOVQ(*p.a.through, RDX)
					step()
				}
			}
		}
	}
	Interleave(steps...)
}

// combine stores op(a, b).
func combine(op func(a []Register, b []Op), c, a, b Number) {
	r := LoadWords(a.Words())
	op(r, b.Words())
	StoreWords(r, c.Words())
}

// Copy stores n.
func Copy(to, n Number) { StoreWords(LoadWords(n.Words()), to.Words()) }

// Double sets r = 2p: 4 squarings. It reads no T.
func (l Law) Double(r Completed, p Point) {
	Comment("A = X², B = Y², C = Z², D = (X+Y)²")
	combine(AddReduced, l.d, p.X, p.Y)
	l.multiply(square(l.a, p.X), square(l.b, p.Y))
	l.multiply(square(l.c, p.Z), square(l.d, l.d))
	Comment("Y = B + A, X = D - Y, Z = B - A, T = 2·C - Z")
	combine(AddReduced, r.Y, l.b, l.a)
	combine(SubReduced, r.Z, l.b, l.a)
	combine(SubAny, r.X, l.d, r.Y)
	combine(AddReduced, l.c, l.c, l.c)
	combine(SubAny, r.T, l.c, r.Z)
}

// Project sets p, but for T, to r: 3 multiplications.
func (l Law) Project(p Point, r Completed) {
	Comment("X = X·T, Y = Y·Z, Z = Z·T")
	l.multiply(mul(p.X, r.X, r.T), mul(p.Y, r.Y, r.Z))
	l.multiply(mul(p.Z, r.Z, r.T))
}

// Extend sets p to r: 4 multiplications.
func (l Law) Extend(p Point, r Completed) {
	Comment("X = X·T, Y = Y·Z, Z = Z·T, T = X·Y")
	l.multiply(mul(p.X, r.X, r.T), mul(p.Y, r.Y, r.Z))
	l.multiply(mul(p.Z, r.Z, r.T), mul(p.T, r.X, r.Y))
}

// SetT sets T of p, to which r has been projected: 1 multiplication.
func (l Law) SetT(p Point, r Completed) { l.multiply(mul(p.T, r.X, r.Y)) }

// Add sets r = p + q: 4 multiplications. With late, p has been projected from r
// and has no T yet, which is set too. If the caller exchanges the first two
// coordinates of q, and the last two of r, it sets r = p - q.
func (l Law) Add(r Completed, p Point, q Cached, late bool) {
	l.products(r, p, Niels{q.YPlusX, q.YMinusX, q.T2d}, late, mul(l.d, q.Z2, p.Z))
	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	combine(SubReduced, r.X, l.b, l.a)
	combine(AddReduced, r.Y, l.b, l.a)
	combine(AddReduced, r.Z, l.d, l.c)
	combine(SubReduced, r.T, l.d, l.c)
}

// AddNiels is Add with one multiplication less.
func (l Law) AddNiels(r Completed, p Point, q Niels, late bool) {
	Comment("half of A, B, C; D = Z")
	l.products(r, p, q, late)
	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	combine(SubReduced, r.X, l.b, l.a)
	combine(AddReduced, r.Y, l.b, l.a)
	combine(AddReduced, r.Z, p.Z, l.c)
	combine(SubReduced, r.T, p.Z, l.c)
}

// products sets A, B and C, does what more is asked for, and if late sets T.
func (l Law) products(r Completed, p Point, q Niels, late bool, more ...product) {
	Comment("A = (Y-X)·(Y'-X'), B = (Y+X)·(Y'+X'), C = T·2dT', D = 2·Z·Z'")
	combine(SubReduced, l.a, p.Y, p.X)
	combine(AddReduced, l.b, p.Y, p.X)
	all := append([]product{mul(l.a, q.YMinusX, l.a), mul(l.b, q.YPlusX, l.b), mul(l.c, q.T2d, p.T)}, more...)
	if late {
		all = append([]product{mul(p.T, r.X, r.Y)}, all...)
	}
	for len(all) > 0 {
		n := min(2, len(all))
		l.multiply(all[:n]...)
		all = all[n:]
	}
}

// Cache sets q to p. d2 is twice the constant of the curve.
func (l Law) Cache(q Cached, p Point, d2 Number) {
	Comment("Y+X, Y-X, 2·Z, 2·d·T")
	combine(AddReduced, q.YPlusX, p.Y, p.X)
	combine(SubReduced, q.YMinusX, p.Y, p.X)
	combine(AddReduced, q.Z2, p.Z, p.Z)
	l.multiply(mul(l.a, p.T, d2))
	Copy(q.T2d, l.a)
}
