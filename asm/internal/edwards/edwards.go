// Package edwards holds the addition laws of edwards25519 for the avo programs
// that use them: those of Hisil, Wong, Carter and Dawson (eprint 2008/522) for
// a = -1, which are complete, over coordinates of four words in memory.
package edwards

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

// A Coordinate gives the four words of a number in memory. It may write
// instructions that load a pointer to a register, which is then in use up to the
// end of the operation: a multiplication leaves two registers for that.
type Coordinate func() []Op

// Local returns a coordinate on the stack.
func Local() Coordinate { return At(AllocLocal(32)) }

// At returns the coordinate at m.
func At(m Mem) Coordinate {
	return func() []Op { return Memory(m, 4) }
}

// Behind returns the coordinate at disp behind the pointer at m.
func Behind(m Mem, disp int) Coordinate {
	return func() []Op {
		p := GP64()
		MOVQ(m, p)
		return Memory(Mem{Base: p, Disp: disp}, 4)
	}
}

// A Point is x = X/Z, y = Y/Z, xy = T/Z. Its coordinates are reduced.
type Point struct{ X, Y, Z, T Coordinate }

// A Completed is x = X/Z, y = Y/T, the result of an addition or a doubling
// before the last multiplications. Its coordinates are any numbers below 2^256.
type Completed struct{ X, Y, Z, T Coordinate }

// A Niels is the affine second operand of an addition: y+x, y-x, 2dxy. Its
// coordinates are any numbers below 2^256.
type Niels struct{ YPlusX, YMinusX, T2d Coordinate }

// A Cached is the second operand of an addition: Y+X, Y-X, 2Z, 2dT. Its
// coordinates are any numbers below 2^256.
type Cached struct{ YPlusX, YMinusX, Z2, T2d Coordinate }

// A Law writes the formulas.
type Law struct {
	Field      Field64
	a, b, c, d Coordinate
}

// NewLaw returns a law with 128 bytes of the stack.
func NewLaw(f Field64) Law {
	return Law{f, Local(), Local(), Local(), Local()}
}

// Mul stores a·b, reduced. c may be a or b.
func (l Law) Mul(c, a, b Coordinate) {
	x := a()
	p := l.Field.Mul(x, b())
	StoreWords(p, c())
}

// Square stores a², reduced. c may be a.
func (l Law) Square(c, a Coordinate) {
	p := l.Field.Square(a())
	StoreWords(p, c())
}

// combine stores op(a, b).
func combine(op func(a []Register, b []Op), c, a, b Coordinate) {
	r := LoadWords(a())
	op(r, b())
	StoreWords(r, c())
}

// Double sets r = 2p: 4 squarings. It reads no T.
func (l Law) Double(r Completed, p Point) {
	Comment("A = X², B = Y², C = Z², D = (X+Y)²")
	combine(AddReduced, l.d, p.X, p.Y)
	l.Square(l.a, p.X)
	l.Square(l.b, p.Y)
	l.Square(l.c, p.Z)
	l.Square(l.d, l.d)
	Comment("Y = B + A, X = D - Y, Z = B - A, T = 2·C - Z")
	combine(AddReduced, r.Y, l.b, l.a)
	combine(SubReduced, r.Z, l.b, l.a)
	combine(SubAny, r.X, l.d, r.Y)
	combine(AddReduced, l.c, l.c, l.c)
	combine(SubAny, r.T, l.c, r.Z)
}

// Add sets r = p + q: 4 multiplications. If the caller exchanges the first two
// coordinates of q, and the last two of r, it sets r = p - q.
func (l Law) Add(r Completed, p Point, q Cached) {
	l.products(p, q.YPlusX, q.YMinusX, q.T2d)
	l.Mul(l.d, p.Z, q.Z2)
	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	combine(SubReduced, r.X, l.b, l.a)
	combine(AddReduced, r.Y, l.b, l.a)
	combine(AddReduced, r.Z, l.d, l.c)
	combine(SubReduced, r.T, l.d, l.c)
}

// AddNiels is Add with 3 multiplications.
func (l Law) AddNiels(r Completed, p Point, q Niels) {
	l.products(p, q.YPlusX, q.YMinusX, q.T2d)
	combine(AddReduced, l.d, p.Z, p.Z)
	Comment("X = B - A, Y = B + A, Z = D + C, T = D - C")
	combine(SubReduced, r.X, l.b, l.a)
	combine(AddReduced, r.Y, l.b, l.a)
	combine(AddAny, r.Z, l.d, l.c)
	combine(SubAny, r.T, l.d, l.c)
}

func (l Law) products(p Point, yPlusX, yMinusX, t2d Coordinate) {
	Comment("A = (Y-X)·(Y'-X'), B = (Y+X)·(Y'+X'), C = T·2dT', D = 2·Z·Z'")
	combine(SubReduced, l.a, p.Y, p.X)
	combine(AddReduced, l.b, p.Y, p.X)
	l.Mul(l.a, l.a, yMinusX)
	l.Mul(l.b, l.b, yPlusX)
	l.Mul(l.c, p.T, t2d)
}

// Projective sets p, but for T, to r: 3 multiplications.
func (l Law) Projective(p Point, r Completed) {
	Comment("X = X·T, Y = Y·Z, Z = Z·T")
	l.Mul(p.X, r.X, r.T)
	l.Mul(p.Y, r.Y, r.Z)
	l.Mul(p.Z, r.Z, r.T)
}

// Extend sets p.T from r: 1 multiplication.
func (l Law) Extend(p Point, r Completed) {
	Comment("T = X·Y")
	l.Mul(p.T, r.X, r.Y)
}

// Cache sets q to p. d2 is twice the constant of the curve.
func (l Law) Cache(q Cached, p Point, d2 Coordinate) {
	Comment("Y+X, Y-X, 2·Z, 2·d·T")
	combine(AddReduced, q.YPlusX, p.Y, p.X)
	combine(SubReduced, q.YMinusX, p.Y, p.X)
	combine(AddReduced, q.Z2, p.Z, p.Z)
	l.Mul(q.T2d, p.T, d2)
}
