package field

import "math/bits"

// Inversion by division steps: [BY19] with the start δ = 1/2, as below.
//
// A division step takes a number δ, an odd f and any g to
//
//	(1-δ, g, (g-f)/2)  if δ > 0 and g is odd
//	(1+δ, f, (g+f)/2)  if δ <= 0 and g is odd
//	(1+δ, f, g/2)      if g is even
//
// From f = p and 0 <= g < p enough steps lead to g = 0, and f is then the
// greatest common divisor or its negative. What happens to f and g depends on
// their low bits only, and is linear: one does many steps on single words, and
// applies the product of their matrices to f and g, and to d and e, which start
// as 0 and 1 and remain what f and g are divided by the original g modulo p.
//
// With δ = 1/2 at the begin, 590 steps suffice for f and g below 2^256
// [SafegcdBounds]; a start of 1 would need 741. These are done as ten rounds of
// 59, and these as 20, 20 and 19 steps.

const (
	invertRounds = 10
	invertSteps  = 59
)

// invertScale is 2^-590 modulo p, as a signed number: matrices are applied to f
// and g with a division by 2^59, and to d and e without one.
var invertScale = [4]uint64{0xa0f99e2375022099, 0xa8c68f3f1d132595, 0x6c6c893805ac5242, 0x276508b241770615}

// invertGeneric sets out to the inverse of a modulo p, canonical, or to zero if a
// is zero modulo p. a may be any number below 2^256; out may be a. Constant time.
func invertGeneric(out, a *[4]uint64) {
	f := [4]uint64{1<<64 - 19, 1<<64 - 1, 1<<64 - 1, 1<<63 - 1}
	g := reduceWords(a)
	// Signed numbers, above -2^254 - 2^64 and below 2^254 + 2^64.
	var d [4]uint64
	e := invertScale
	eta := int64(-1)
	var m transition
	for i := range invertRounds {
		eta, m = divsteps59(eta, f[0], g[0])
		if i < invertRounds-1 {
			f, g = m.divide(&f, &g)
		}
		d, e = m.modulo(&d, &e)
	}
	// f would be 1 or -1, or p or -p with d = 0. Of these numbers the positive
	// ones are 1 modulo 4, and the negative ones 3.
	low := uint64(m.u)*f[0] + uint64(m.v)*g[0]
	negate := -(low >> (invertSteps + 1) & 1)
	c := negate & 1
	for i := range d {
		d[i], c = bits.Add64(d[i]^negate, 0, c)
	}
	// d lies between -p and p.
	negative := uint64(int64(d[3]) >> 63)
	d[0], c = bits.Add64(d[0], negative&(1<<64-19), 0)
	d[1], c = bits.Add64(d[1], negative, c)
	d[2], c = bits.Add64(d[2], negative, c)
	d[3], _ = bits.Add64(d[3], negative>>1, c)
	*out = d
}

// reduceWords returns a modulo p, canonical.
func reduceWords(a *[4]uint64) [4]uint64 { return new(Element).SetWords(a).Words() }

// A transition is the matrix of some steps, times 2^n for n steps:
//
//	u v
//	q r
//
// In every row the sum of the absolute values is at most 2^n.
type transition struct{ u, v, q, r int64 }

// after returns the matrix of the steps of t after those of s.
func (t transition) after(s transition) transition {
	return transition{
		t.u*s.u + t.v*s.q, t.u*s.v + t.v*s.r,
		t.q*s.u + t.r*s.q, t.q*s.v + t.r*s.r,
	}
}

// divsteps59 does 59 division steps on numbers of which f and g are the lowest
// words, and returns the negative of their matrix. To negate both f and g, or
// both d and e, changes no step, and negates what comes out.
//
// eta is -1/2 - δ, which takes over the sign of δ > 0.
func divsteps59(eta int64, f, g uint64) (int64, transition) {
	eta, a := divsteps(eta, f, g, 20)
	f, g = uint64(a.u*int64(f)+a.v*int64(g))>>20, uint64(a.q*int64(f)+a.r*int64(g))>>20
	eta, b := divsteps(eta, f, g, 20)
	f, g = uint64(b.u*int64(f)+b.v*int64(g))>>20, uint64(b.q*int64(f)+b.r*int64(g))>>20
	eta, c := divsteps(eta, f, g, 19)
	return eta, c.after(b.after(a))
}

// divsteps does n <= 20 division steps on numbers of which f and g are the low
// bits, 20 of them at least, and returns the negative of their matrix.
//
// A word holds the low 20 bits of a number x = u·f + v·g, which have a sign after
// the first step, and -u and -v, which are multiples of 2^-n after n steps:
//
//	x + 2^41·(-u) + 2^62·(-v)
//
// Steps add, subtract and halve whole words. u and v are above -1 and at most 1,
// the sum of their absolute values is at most 1, and only the first step can
// meet a g that has v = 1: sums of two words do not overflow.
func divsteps(eta int64, f, g uint64, n uint) (int64, transition) {
	const low20 = 1<<20 - 1
	x := int64(f&low20) - 1<<41
	y := int64(g&low20) - 1<<62
	for range n {
		odd := -(y & 1)
		swap := odd & (eta >> 63)
		addend := odd & ((x ^ swap) - swap)
		x ^= swap & (x ^ y)
		y = (y + addend) >> 1
		eta = (eta ^ swap) - 1
	}
	u, v := unpack(x, n)
	q, r := unpack(y, n)
	return eta, transition{u, v, q, r}
}

// unpack returns -2^n·u and -2^n·v, rounding away what is below.
func unpack(x int64, n uint) (u, v int64) {
	x = (x + 1<<(40-n)) >> (41 - n)
	u = x << 43 >> 43
	return u, (x - u) >> 21
}

// divide returns (u·f + v·g)/2^59 and (q·f + r·g)/2^59, for f and g that no step
// makes larger than p in absolute value.
func (t transition) divide(f, g *[4]uint64) (a, b [4]uint64) {
	return divided(combine(t.u, t.v, f, g)), divided(combine(t.q, t.r, f, g))
}

// divided returns x/2^59.
func divided(x0, x1, x2, x3, x4 uint64) [4]uint64 {
	const n = invertSteps
	return [4]uint64{x0>>n | x1<<(64-n), x1>>n | x2<<(64-n), x2>>n | x3<<(64-n), x3>>n | x4<<(64-n)}
}

// modulo returns u·d + v·e and q·d + r·e modulo p, for d and e as in
// invertGeneric.
func (t transition) modulo(d, e *[4]uint64) (a, b [4]uint64) {
	return foldSigned(combine(t.u, t.v, d, e)), foldSigned(combine(t.q, t.r, d, e))
}

// foldSigned returns x modulo p, for |x| < 2^59·(2^254 + 2^64): above
// -2^254 - 2^63 and below 2^254 + 2^63.
//
// It is x = h·2^255 + l with l from -2^254 to 2^254 - 1, and becomes l + 19·h;
// the absolute value of h is at most 2^58 + 1, that of 19·h below 2^63.
func foldSigned(x0, x1, x2, x3, x4 uint64) [4]uint64 {
	h := 19 * (x4<<1 + x3>>63 + x3>>62&1)
	sign := uint64(int64(h) >> 63)
	x3 = uint64(int64(x3<<1) >> 1)
	var c uint64
	x0, c = bits.Add64(x0, h, 0)
	x1, c = bits.Add64(x1, sign, c)
	x2, c = bits.Add64(x2, sign, c)
	x3, _ = bits.Add64(x3, sign, c)
	return [4]uint64{x0, x1, x2, x3}
}

// combine returns u·a + v·b, for |u| + |v| <= 2^59 and signed a and b.
func combine(u, v int64, a, b *[4]uint64) (x0, x1, x2, x3, x4 uint64) {
	var y0, y1, y2, y3, y4, c uint64
	x0, x1, x2, x3, x4 = mulSigned(u, a)
	y0, y1, y2, y3, y4 = mulSigned(v, b)
	x0, c = bits.Add64(x0, y0, 0)
	x1, c = bits.Add64(x1, y1, c)
	x2, c = bits.Add64(x2, y2, c)
	x3, c = bits.Add64(x3, y3, c)
	x4, _ = bits.Add64(x4, y4, c)
	return
}

// mulSigned returns u·a.
func mulSigned(u int64, a *[4]uint64) (x0, x1, x2, x3, x4 uint64) {
	// |u| times a or -a = ^a + 1, whose word 4 would be its sign.
	sign := uint64(u >> 63)
	m := (uint64(u) ^ sign) - sign
	a3 := a[3] ^ sign
	h0, x0 := bits.Mul64(m, a[0]^sign)
	h1, x1 := bits.Mul64(m, a[1]^sign)
	h2, x2 := bits.Mul64(m, a[2]^sign)
	h3, x3 := bits.Mul64(m, a3)
	x0, c := bits.Add64(x0, m&sign, 0)
	x1, c = bits.Add64(x1, h0, c)
	x2, c = bits.Add64(x2, h1, c)
	x3, c = bits.Add64(x3, h2, c)
	return x0, x1, x2, x3, h3 + c - m&uint64(int64(a3)>>63)
}
