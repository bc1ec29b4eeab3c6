package field

// Element is an element of GF(2^255-19).
//
// It works like math/big.Int: the receiver is the result and is returned, and
// receivers and arguments may be the same Element. The zero value is the
// element zero. Two equal elements may differ in their limbs: compare with
// Equal, not with ==.
type Element struct {
	_ incomparable

	// l holds the limbs, each lower than 2^52 between operations.
	l [5]uint64
}

type incomparable [0]func()

// maskLow51Bits selects the low 51 bits of a word.
const maskLow51Bits = 1<<51 - 1

// sqrtM1 is the square root of -1 with even canonical encoding:
// 2^((p-1)/4) mod p.
var sqrtM1 = &Element{l: [5]uint64{
	0x61b274a0ea0b0, 0xd5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e, 0x2b8324804fc1d,
}}

// Zero sets v = 0, and returns v.
func (v *Element) Zero() *Element {
	v.l = [5]uint64{}
	return v
}

// One sets v = 1, and returns v.
func (v *Element) One() *Element {
	v.l = [5]uint64{1}
	return v
}

// Set sets v = a, and returns v.
func (v *Element) Set(a *Element) *Element {
	v.l = a.l
	return v
}

// Add sets v = a + b, and returns v.
func (v *Element) Add(a, b *Element) *Element {
	// Each sum is below 2^53, so that each carry is at most 3.
	l0 := a.l[0] + b.l[0]
	l1 := a.l[1] + b.l[1]
	l2 := a.l[2] + b.l[2]
	l3 := a.l[3] + b.l[3]
	l4 := a.l[4] + b.l[4]
	v.l[0] = l0&maskLow51Bits + 19*(l4>>51)
	v.l[1] = l1&maskLow51Bits + l0>>51
	v.l[2] = l2&maskLow51Bits + l1>>51
	v.l[3] = l3&maskLow51Bits + l2>>51
	v.l[4] = l4&maskLow51Bits + l3>>51
	return v
}

// The limbs of 4p, each at least 2^53-76: larger than any limb below 2^52, so
// that no limb of 4p + a - b is negative.
const (
	fourP0    = 4 * (1<<51 - 19)
	fourP1234 = 4 * (1<<51 - 1)
)

// Subtract sets v = a - b, and returns v.
func (v *Element) Subtract(a, b *Element) *Element {
	// 4p + a - b: each limb is below 2^53 + 2^52, each carry at most 5.
	l0 := a.l[0] + fourP0 - b.l[0]
	l1 := a.l[1] + fourP1234 - b.l[1]
	l2 := a.l[2] + fourP1234 - b.l[2]
	l3 := a.l[3] + fourP1234 - b.l[3]
	l4 := a.l[4] + fourP1234 - b.l[4]
	v.l[0] = l0&maskLow51Bits + 19*(l4>>51)
	v.l[1] = l1&maskLow51Bits + l0>>51
	v.l[2] = l2&maskLow51Bits + l1>>51
	v.l[3] = l3&maskLow51Bits + l2>>51
	v.l[4] = l4&maskLow51Bits + l3>>51
	return v
}

// Negate sets v = -a, and returns v.
func (v *Element) Negate(a *Element) *Element {
	return v.Subtract(new(Element), a)
}

// Multiply sets v = x * y, and returns v.
func (v *Element) Multiply(x, y *Element) *Element {
	feMul(&v.l, &x.l, &y.l)
	return v
}

// Square sets v = x * x, and returns v.
func (v *Element) Square(x *Element) *Element {
	feSquare(&v.l, &x.l)
	return v
}

// SquareN sets v = x^(2^n), that is x squared n times, and returns v. With
// n = 0 it is Set. It panics if n is negative. The time depends on n only.
func (v *Element) SquareN(x *Element, n int) *Element {
	if n < 0 {
		panic("field: negative count of squarings")
	}
	if n == 0 {
		return v.Set(x)
	}
	feSquareN(&v.l, &x.l, n)
	return v
}

// Mult32 sets v = x * y, and returns v.
func (v *Element) Mult32(x *Element, y uint32) *Element {
	feMul32(&v.l, &x.l, y)
	return v
}

// Equal returns 1 if v and u are equal, and 0 otherwise.
func (v *Element) Equal(u *Element) int {
	a, b := v.Words(), u.Words()
	return equalWords(&a, &b)
}

// equalWords returns 1 if a and b are equal, and 0 otherwise, in constant time.
func equalWords(a, b *[4]uint64) int {
	x := (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])
	// x | -x has its top bit set exactly if x is not zero.
	return int(1 ^ (x|-x)>>63)
}

// IsNegative returns 1 if v is negative, and 0 otherwise. An element is
// negative if its canonical value is odd.
func (v *Element) IsNegative() int {
	w := v.Words()
	return int(w[0] & 1)
}

// Absolute sets v = |u|, the one of u and -u that is not negative, and
// returns v.
func (v *Element) Absolute(u *Element) *Element {
	return v.Select(new(Element).Negate(u), u, u.IsNegative())
}

// condMask returns all ones if cond is 1 and zero if it is 0.
func condMask(cond int) uint64 { return -uint64(cond & 1) }

// Select sets v = a if cond == 1 and v = b if cond == 0, and returns v. It is
// constant time in cond, of which only the lowest bit counts.
func (v *Element) Select(a, b *Element, cond int) *Element {
	m := condMask(cond)
	v.l[0] = b.l[0] ^ m&(a.l[0]^b.l[0])
	v.l[1] = b.l[1] ^ m&(a.l[1]^b.l[1])
	v.l[2] = b.l[2] ^ m&(a.l[2]^b.l[2])
	v.l[3] = b.l[3] ^ m&(a.l[3]^b.l[3])
	v.l[4] = b.l[4] ^ m&(a.l[4]^b.l[4])
	return v
}

// Swap exchanges v and u if cond == 1 and leaves both as they are if
// cond == 0. It is constant time in cond, of which only the lowest bit counts.
func (v *Element) Swap(u *Element, cond int) {
	m := condMask(cond)
	for i := range v.l {
		t := m & (v.l[i] ^ u.l[i])
		v.l[i] ^= t
		u.l[i] ^= t
	}
}

// Invert sets v = 1/z, and returns v. If z is zero, so is v.
func (v *Element) Invert(z *Element) *Element {
	w := z.Words()
	invert(&w, &w)
	return v.SetWords(&w)
}

// Pow22523 sets v = x^((p-5)/8), and returns v.
func (v *Element) Pow22523(x *Element) *Element {
	// (p-5)/8 = 2^252 - 3 = (2^250 - 1)·2^2 + 1.
	var t Element
	pow250(&t, x)
	t.SquareN(&t, 2)
	return v.Multiply(&t, x)
}

// pow250 sets r = z^(2^250-1); r may not be z. The names of its variables are
// exponents of z; eN is 2^N - 1.
func pow250(r, z *Element) {
	var z2, z9, z11, e5, e10, e50, t Element

	z2.Square(z)
	t.SquareN(&z2, 2)
	z9.Multiply(&t, z)
	z11.Multiply(&z9, &z2)
	t.Square(&z11)
	e5.Multiply(&t, &z9) // 22 + 9 = 31

	t.SquareN(&e5, 5)
	e10.Multiply(&t, &e5)
	t.SquareN(&e10, 10)
	r.Multiply(&t, &e10) // e20
	t.SquareN(r, 20)
	t.Multiply(&t, r) // e40
	t.SquareN(&t, 10)
	e50.Multiply(&t, &e10)
	t.SquareN(&e50, 50)
	r.Multiply(&t, &e50) // e100
	t.SquareN(r, 100)
	t.Multiply(&t, r) // e200
	t.SquareN(&t, 50)
	r.Multiply(&t, &e50) // e250
}

// SqrtRatio sets r to the non-negative square root of u/v, and returns r and
// 1, if that is a square. If u/v is not a square, it sets r to the non-negative
// square root of sqrt(-1)·u/v, and returns r and 0. The quotient by v = 0
// counts as a square only if u is zero too, and r is then zero.
//
// This is SQRT_RATIO_M1 of RFC 9496, Section 4.2.
func (r *Element) SqrtRatio(u, v *Element) (R *Element, wasSquare int) {
	var v3, v7, x, check, negU, negUi, t Element

	// x = u·v^3·(u·v^7)^((p-5)/8)
	t.Square(v)
	v3.Multiply(&t, v)
	t.Square(&v3)
	v7.Multiply(&t, v)
	t.Multiply(u, &v7)
	t.Pow22523(&t)
	x.Multiply(u, &v3)
	x.Multiply(&x, &t)

	// v·x^2 is one of u, -u, u·sqrt(-1) and -u·sqrt(-1).
	t.Square(&x)
	check.Multiply(v, &t)
	negU.Negate(u)
	negUi.Multiply(&negU, sqrtM1)
	isU := check.Equal(u)
	isNegU := check.Equal(&negU)
	isNegUi := check.Equal(&negUi)

	t.Multiply(&x, sqrtM1)
	x.Select(&t, &x, isNegU|isNegUi)
	return r.Absolute(&x), isU | isNegU
}
