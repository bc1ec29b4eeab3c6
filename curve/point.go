package curve

import (
	"fmt"

	"github.com/sigcore/sigcore/field"
)

// A Point is an element of the edwards25519 group, -x^2 + y^2 = 1 + d x^2 y^2
// over GF(2^255-19).
//
// Receivers and arguments may alias. The zero value is not a point: it may only
// be a receiver, and its use as an argument panics.
type Point struct {
	// Equal points may differ in their coordinates: == is refused.
	_ incomparable

	// Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z
	// (Hisil, Wong, Carter, Dawson, eprint 2008/522).
	x, y, z, t field.Element
}

type incomparable [0]func()

var (
	// RFC 8032, Section 5.1: d = -121665/121666.
	feD = new(field.Element).SetWords(&[4]uint64{
		0x75eb4dca135978a3, 0x00700a4d4141d8ab, 0x8cc740797779e898, 0x52036cee2b6ffe73,
	})
	feD2  = new(field.Element).Add(feD, feD)
	feOne = new(field.Element).One()
)

func checkInitialized(p *Point) {
	// Z is never zero, whatever its limbs. One comparison tells nothing else.
	z := p.z.Limbs()
	if z[0]|z[1]|z[2]|z[3]|z[4] == 0 {
		panic("curve: use of uninitialized Point")
	}
}

// NewIdentityPoint returns a new Point set to the identity.
func NewIdentityPoint() *Point { return new(Point).identity() }

// NewGeneratorPoint returns a new Point set to the base point of RFC 8032.
func NewGeneratorPoint() *Point {
	one := [32]byte{1}
	p := new(Point)
	fixedBase(p, &one)
	return p
}

func (v *Point) identity() *Point {
	v.x.Zero()
	v.y.One()
	v.z.One()
	v.t.Zero()
	return v
}

// setWords sets v to the point with the coordinates X, Y, Z and T in w, four
// 64-bit words each, which may be any numbers below 2^256.
func (v *Point) setWords(w *[4][4]uint64) {
	v.x.SetWords(&w[0])
	v.y.SetWords(&w[1])
	v.z.SetWords(&w[2])
	v.t.SetWords(&w[3])
}

// Set sets v = p, and returns v.
func (v *Point) Set(p *Point) *Point {
	checkInitialized(p)
	*v = *p
	return v
}

// Bytes returns the canonical 32-byte encoding of v (RFC 8032, Section 5.1.2).
// Constant time.
func (v *Point) Bytes() []byte {
	// Outlined so that the array is allocated in the caller.
	var b [32]byte
	v.BytesInto(&b)
	return b[:]
}

// BytesInto sets out to the encoding that Bytes returns.
func (v *Point) BytesInto(out *[32]byte) {
	checkInitialized(v)
	v.encode(out)
}

// encode is BytesInto for points that are known to be initialized.
func (v *Point) encode(out *[32]byte) { encodePoint(out, &v.x, &v.y, &v.z) }

// encodePoint sets out to the encoding of (X:Y:Z).
func encodePoint(out *[32]byte, x, y, z *field.Element) {
	var zInv, ax, ay field.Element
	zInv.Invert(z)
	ax.Multiply(x, &zInv)
	ay.Multiply(y, &zInv)
	ay.BytesInto(out)
	out[31] |= byte(ax.IsNegative() << 7)
}

// encodeAffine is encode for a point with Z = 1, without inversion.
func (v *Point) encodeAffine(out *[32]byte) {
	v.y.BytesInto(out)
	out[31] |= byte(v.x.IsNegative() << 7)
}

// BytesMontgomery returns the 32-byte encoding of the u-coordinate of v on
// curve25519, u = (1+y)/(1-y) (RFC 7748, Section 4.1); zero for the identity.
// Constant time.
func (v *Point) BytesMontgomery() []byte {
	var b [32]byte
	v.montgomeryInto(&b)
	return b[:]
}

func (v *Point) montgomeryInto(out *[32]byte) {
	checkInitialized(v)
	v.montgomery(out)
}

// montgomery is montgomeryInto for points that are known to be initialized.
func (v *Point) montgomery(out *[32]byte) {
	var n, d field.Element
	n.Add(&v.z, &v.y)
	d.Subtract(&v.z, &v.y)
	n.Multiply(&n, d.Invert(&d))
	n.BytesInto(out)
}

// SetBytes sets v to the point with the 32-byte encoding b, and returns v. If b
// has another length or encodes no point it returns nil and an error, and v is
// unchanged. Like most decoders it accepts two non-canonical forms that RFC
// 8032, Section 5.1.3 rejects: y not below p, and a sign bit on x = 0.
// Constant time but for the error.
func (v *Point) SetBytes(b []byte) (*Point, error) {
	if len(b) != 32 {
		return nil, fmt.Errorf("curve: point of %d bytes: %w", len(b), ErrKeyLength)
	}
	var y, u, w, x field.Element
	if _, err := y.SetBytes(b); err != nil {
		return nil, err
	}
	// x^2 = (y^2 - 1) / (d y^2 + 1)
	u.Square(&y)
	w.Multiply(&u, feD)
	w.Add(&w, feOne)
	u.Subtract(&u, feOne)
	if _, square := x.SqrtRatio(&u, &w); square == 0 {
		return nil, ErrNotOnCurve
	}
	// The root is the even one.
	var neg field.Element
	neg.Negate(&x)
	x.Select(&neg, &x, int(b[31]>>7))
	v.setAffine(&x, &y)
	return v, nil
}

// SetCanonicalBytes is SetBytes that accepts only what Bytes returns; other
// encodings of a point give ErrNonCanonical.
func (v *Point) SetCanonicalBytes(b []byte) (*Point, error) {
	var p Point
	if _, err := p.SetBytes(b); err != nil {
		return nil, err
	}
	var c [32]byte
	p.encodeAffine(&c)
	if c != [32]byte(b) {
		return nil, fmt.Errorf("curve: point: %w", ErrNonCanonical)
	}
	*v = p
	return v, nil
}

func (v *Point) setAffine(x, y *field.Element) {
	v.x.Set(x)
	v.y.Set(y)
	v.z.One()
	v.t.Multiply(x, y)
}

// Equal returns 1 if v and p are the same point, and 0 otherwise. Constant time.
func (v *Point) Equal(p *Point) int {
	checkInitialized(v)
	checkInitialized(p)
	var a, b, c, d field.Element
	a.Multiply(&v.x, &p.z)
	b.Multiply(&p.x, &v.z)
	c.Multiply(&v.y, &p.z)
	d.Multiply(&p.y, &v.z)
	return a.Equal(&b) & c.Equal(&d)
}

// Negate sets v = -p, and returns v. Constant time.
func (v *Point) Negate(p *Point) *Point {
	checkInitialized(p)
	v.x.Negate(&p.x)
	v.y.Set(&p.y)
	v.z.Set(&p.z)
	v.t.Negate(&p.t)
	return v
}

// Add sets v = p + q, and returns v. Constant time.
func (v *Point) Add(p, q *Point) *Point {
	checkInitialized(p)
	checkInitialized(q)
	var c cached
	var r completed
	c.fromPoint(q)
	r.add(p, &c)
	return r.point(v)
}

// Subtract sets v = p - q, and returns v. Constant time.
func (v *Point) Subtract(p, q *Point) *Point {
	checkInitialized(p)
	checkInitialized(q)
	var c cached
	var r completed
	c.fromPoint(q)
	r.sub(p, &c)
	return r.point(v)
}

// Double sets v = 2p, and returns v. Constant time.
func (v *Point) Double(p *Point) *Point {
	checkInitialized(p)
	var r completed
	r.double(&p.x, &p.y, &p.z)
	return r.point(v)
}

// MultByCofactor sets v = 8p, and returns v. Constant time.
func (v *Point) MultByCofactor(p *Point) *Point {
	checkInitialized(p)
	var r completed
	var m projective
	r.double(&p.x, &p.y, &p.z)
	for range 2 {
		r.projective(&m)
		r.double(&m.x, &m.y, &m.z)
	}
	return r.point(v)
}

// IsSmallOrder reports whether v is one of the eight points whose order divides
// the cofactor.
func (v *Point) IsSmallOrder() bool {
	var p Point
	p.MultByCofactor(v)
	// The identity is the only point with x = 0 and y = z.
	return p.x.Equal(new(field.Element))&p.y.Equal(&p.z) == 1
}
