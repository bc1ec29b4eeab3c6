package curve

import "github.com/sigcore/sigcore/field"

// ladderGeneric sets x/z to the u-coordinate of k times the point with
// u-coordinate u, by the ladder of RFC 7748, Section 5. x and z are canonical; z
// is zero for the point at infinity, and x too if u is zero. k is a multiple of
// 8 below 2^255; the top bit of u is ignored. The arguments may overlap. Constant
// time.
//
// The last three bits of k being zero, three doublings end it.
func ladderGeneric(x, z *[4]uint64, k, u *[32]byte) {
	var x1, x2, z2, x3, z3 field.Element
	if _, err := x1.SetBytes(u[:]); err != nil {
		panic("curve: internal error: " + err.Error())
	}
	x2.One()
	x3.Set(&x1)
	z3.One()

	var a, b, c, d, da, cb, aa, bb field.Element
	swap := byte(0)
	for i := 254; i >= 3; i-- {
		bit := k[i/8] >> (i % 8) & 1
		x2.Swap(&x3, int(swap^bit))
		z2.Swap(&z3, int(swap^bit))
		swap = bit

		a.Add(&x2, &z2)
		b.Subtract(&x2, &z2)
		c.Add(&x3, &z3)
		d.Subtract(&x3, &z3)
		da.Multiply(&d, &a)
		cb.Multiply(&c, &b)
		aa.Square(&a)
		bb.Square(&b)
		x3.Add(&da, &cb)
		x3.Square(&x3)
		z3.Subtract(&da, &cb)
		z3.Square(&z3)
		z3.Multiply(&z3, &x1)
		x2.Multiply(&aa, &bb)
		aa.Subtract(&aa, &bb) // E
		z2.Mult32(&aa, 121666)
		z2.Add(&z2, &bb)
		z2.Multiply(&z2, &aa)
	}
	x2.Swap(&x3, int(swap))
	z2.Swap(&z3, int(swap))
	for range 3 {
		montgomeryDouble(&x2, &z2, &x2, &z2)
	}
	*x, *z = x2.Words(), z2.Words()
}

// montgomeryDouble sets (X2:Z2) to twice (X:Z).
func montgomeryDouble(x2, z2, x, z *field.Element) {
	var aa, bb, e field.Element
	aa.Add(x, z)
	aa.Square(&aa)
	bb.Subtract(x, z)
	bb.Square(&bb)
	x2.Multiply(&aa, &bb)
	// E·(AA + 121665·E) of the RFC, with AA = BB + E.
	e.Subtract(&aa, &bb)
	aa.Mult32(&e, 121666)
	aa.Add(&aa, &bb)
	z2.Multiply(&e, &aa)
}
