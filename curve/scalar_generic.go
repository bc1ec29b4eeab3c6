package curve

import "math/bits"

// Scalars are words of 64 bits, least significant first. The functions of this
// file are compiled everywhere and are what the kernels are tested against.

// The group order ℓ = 2^252 + c with c = order1·2^64 + order0 < 2^125.
const (
	order0 = 0x5812631a5cf5d3ed
	order1 = 0x14def9dea2f79cd6
	order3 = 1 << 60

	low60 = 1<<60 - 1
)

// mulAddWord returns acc + x·y + carry, which is always below 2^128.
func mulAddWord(acc, x, y, carry uint64) (lo, hi uint64) {
	hi, lo = bits.Mul64(x, y)
	lo, c := bits.Add64(lo, acc, 0)
	hi, _ = bits.Add64(hi, 0, c)
	lo, c = bits.Add64(lo, carry, 0)
	hi, _ = bits.Add64(hi, 0, c)
	return lo, hi
}

// scalarMulAddGeneric sets out = a·b + c mod ℓ. The inputs may be any numbers
// below 2^256; out < ℓ. out may be any of the inputs. Constant time.
func scalarMulAddGeneric(out, a, b, c *[4]uint64) {
	b0, b1, b2, b3 := b[0], b[1], b[2], b[3]

	// a·b + c < 2^512, by rows.
	y := a[0]
	x0, k := mulAddWord(c[0], y, b0, 0)
	x1, k := mulAddWord(c[1], y, b1, k)
	x2, k := mulAddWord(c[2], y, b2, k)
	x3, x4 := mulAddWord(c[3], y, b3, k)
	y = a[1]
	x1, k = mulAddWord(x1, y, b0, 0)
	x2, k = mulAddWord(x2, y, b1, k)
	x3, k = mulAddWord(x3, y, b2, k)
	x4, x5 := mulAddWord(x4, y, b3, k)
	y = a[2]
	x2, k = mulAddWord(x2, y, b0, 0)
	x3, k = mulAddWord(x3, y, b1, k)
	x4, k = mulAddWord(x4, y, b2, k)
	x5, x6 := mulAddWord(x5, y, b3, k)
	y = a[3]
	x3, k = mulAddWord(x3, y, b0, 0)
	x4, k = mulAddWord(x4, y, b1, k)
	x5, k = mulAddWord(x5, y, b2, k)
	x6, x7 := mulAddWord(x6, y, b3, k)

	scalarReduceWideGeneric(out, &[8]uint64{x0, x1, x2, x3, x4, x5, x6, x7})
}

// scalarReduceWideGeneric sets out = x mod ℓ. x may be any number below 2^512;
// out < ℓ. Constant time.
func scalarReduceWideGeneric(out *[4]uint64, x *[8]uint64) {
	// As 2^252 = -c mod ℓ, and c < 2^124.4:
	//
	//	x     = x0 + 2^252·h     h  < 2^260     x = x0 - c·h
	//	c·h   = l1 + 2^252·h1    h1 < 2^132.4   x = x0 - l1 + c·h1
	//	c·h1  = l2 + 2^252·h2    h2 < 2^4.8     x = x0 - l1 + l2 - c·h2
	h0 := x[3]>>60 | x[4]<<4
	h1 := x[4]>>60 | x[5]<<4
	h2 := x[5]>>60 | x[6]<<4
	h3 := x[6]>>60 | x[7]<<4
	h4 := x[7] >> 60

	// t = c·h < 2^385.
	t0, k := mulAddWord(0, order0, h0, 0)
	t1, k := mulAddWord(0, order0, h1, k)
	t2, k := mulAddWord(0, order0, h2, k)
	t3, k := mulAddWord(0, order0, h3, k)
	t4, t5 := mulAddWord(0, order0, h4, k)
	t1, k = mulAddWord(t1, order1, h0, 0)
	t2, k = mulAddWord(t2, order1, h1, k)
	t3, k = mulAddWord(t3, order1, h2, k)
	t4, k = mulAddWord(t4, order1, h3, k)
	t5, t6 := mulAddWord(t5, order1, h4, k)

	h0 = t3>>60 | t4<<4
	h1 = t4>>60 | t5<<4
	h2 = t5>>60 | t6<<4 // below 2^5

	// u = c·h1 < 2^257.
	u0, k := mulAddWord(0, order0, h0, 0)
	u1, k := mulAddWord(0, order0, h1, k)
	u2, u3 := mulAddWord(0, order0, h2, k)
	u1, k = mulAddWord(u1, order1, h0, 0)
	u2, k = mulAddWord(u2, order1, h1, k)
	u3, u4 := mulAddWord(u3, order1, h2, k)

	h0 = u3>>60 | u4<<4 // h2 of the derivation

	// v = (x0 + l2 + 2·ℓ) - (l1 + c·h2). The first is below 2^253 + 2·ℓ < 4·ℓ,
	// the second below 2^252 + 2^130 < 2·ℓ, so 0 < v < 4·ℓ < 2^255.
	v0, b := bits.Add64(x[0], u0, 0)
	v1, b := bits.Add64(x[1], u1, b)
	v2, b := bits.Add64(x[2], u2, b)
	v3, _ := bits.Add64(x[3]&low60, u3&low60, b)
	v0, b = bits.Add64(v0, 2*order0, 0)
	v1, b = bits.Add64(v1, 2*order1, b)
	v2, b = bits.Add64(v2, 0, b)
	v3, _ = bits.Add64(v3, 2*order3, b)

	s0, k := mulAddWord(t0, order0, h0, 0)
	s1, k := mulAddWord(t1, order1, h0, k)
	s2, b := bits.Add64(t2, k, 0)
	s3, _ := bits.Add64(t3&low60, 0, b)
	v0, b = bits.Sub64(v0, s0, 0)
	v1, b = bits.Sub64(v1, s1, b)
	v2, b = bits.Sub64(v2, s2, b)
	v3, _ = bits.Sub64(v3, s3, b)

	// Subtract 2·ℓ, then ℓ, where that leaves no borrow.
	d0, b := bits.Sub64(v0, 2*order0, 0)
	d1, b := bits.Sub64(v1, 2*order1, b)
	d2, b := bits.Sub64(v2, 0, b)
	d3, b := bits.Sub64(v3, 2*order3, b)
	out[0] = d0 ^ -b&(d0^v0)
	out[1] = d1 ^ -b&(d1^v1)
	out[2] = d2 ^ -b&(d2^v2)
	out[3] = d3 ^ -b&(d3^v3)
	scalarSubtractOrder(out)
}

// scalarSubtractOrder sets v = v - ℓ if v is not below ℓ. v < 2·ℓ gives v < ℓ.
func scalarSubtractOrder(v *[4]uint64) {
	d0, b := bits.Sub64(v[0], order0, 0)
	d1, b := bits.Sub64(v[1], order1, b)
	d2, b := bits.Sub64(v[2], 0, b)
	d3, b := bits.Sub64(v[3], order3, b)
	v[0] = d0 ^ -b&(d0^v[0])
	v[1] = d1 ^ -b&(d1^v[1])
	v[2] = d2 ^ -b&(d2^v[2])
	v[3] = d3 ^ -b&(d3^v[3])
}

// scalarAdd sets out = a + b mod ℓ for a, b < ℓ.
func scalarAdd(out, a, b *[4]uint64) {
	var c uint64
	out[0], c = bits.Add64(a[0], b[0], 0)
	out[1], c = bits.Add64(a[1], b[1], c)
	out[2], c = bits.Add64(a[2], b[2], c)
	out[3], _ = bits.Add64(a[3], b[3], c)
	scalarSubtractOrder(out)
}

// scalarSubtract sets out = a - b mod ℓ for a, b < ℓ.
func scalarSubtract(out, a, b *[4]uint64) {
	d0, w := bits.Sub64(a[0], b[0], 0)
	d1, w := bits.Sub64(a[1], b[1], w)
	d2, w := bits.Sub64(a[2], b[2], w)
	d3, w := bits.Sub64(a[3], b[3], w)
	m := -w // add ℓ where the difference is negative
	var c uint64
	out[0], c = bits.Add64(d0, order0&m, 0)
	out[1], c = bits.Add64(d1, order1&m, c)
	out[2], c = bits.Add64(d2, 0, c)
	out[3], _ = bits.Add64(d3, order3&m, c)
}

// scalarIsReduced reports whether w < ℓ.
func scalarIsReduced(w *[4]uint64) bool {
	_, b := bits.Sub64(w[0], order0, 0)
	_, b = bits.Sub64(w[1], order1, b)
	_, b = bits.Sub64(w[2], 0, b)
	_, b = bits.Sub64(w[3], order3, b)
	return b == 1
}
