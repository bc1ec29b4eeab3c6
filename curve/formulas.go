package curve

import "github.com/sigcore/sigcore/field"

// The forms in which points pass through the addition laws, after Hisil, Wong,
// Carter and Dawson (eprint 2008/522) for a = -1. The laws are complete: they
// hold for every pair of points of the curve.

// projective is x = X/Z, y = Y/Z.
type projective struct{ x, y, z field.Element }

// completed is x = X/Z, y = Y/T: the result of an addition or a doubling before
// the last multiplications.
type completed struct{ x, y, z, t field.Element }

// cached is the second operand of an addition: Y+X, Y-X, 2Z, 2dT.
type cached struct{ yPlusX, yMinusX, z2, t2d field.Element }

// niels is the affine second operand of an addition: half of y+x, y-x, 2dxy. So
// the sum comes out halved, which makes no difference, and 2Z need not be
// computed.
type niels struct{ yPlusX, yMinusX, t2d field.Element }

// packedNiels is a niels as it stands in the tables: the three coordinates,
// canonical, as four 64-bit words each, little endian.
type packedNiels = [12]uint64

func (v *niels) unpack(p *packedNiels) {
	v.yPlusX.SetWords((*[4]uint64)(p[0:4]))
	v.yMinusX.SetWords((*[4]uint64)(p[4:8]))
	v.t2d.SetWords((*[4]uint64)(p[8:12]))
}

func (v *niels) pack(p *packedNiels) {
	yPlusX, yMinusX, t2d := v.yPlusX.Words(), v.yMinusX.Words(), v.t2d.Words()
	copy(p[0:4], yPlusX[:])
	copy(p[4:8], yMinusX[:])
	copy(p[8:12], t2d[:])
}

func (v *cached) unpack(p *packedCached) {
	v.yPlusX.SetWords((*[4]uint64)(p[0:4]))
	v.yMinusX.SetWords((*[4]uint64)(p[4:8]))
	v.z2.SetWords((*[4]uint64)(p[8:12]))
	v.t2d.SetWords((*[4]uint64)(p[12:16]))
}

func (v *cached) pack(p *packedCached) {
	yPlusX, yMinusX, z2, t2d := v.yPlusX.Words(), v.yMinusX.Words(), v.z2.Words(), v.t2d.Words()
	copy(p[0:4], yPlusX[:])
	copy(p[4:8], yMinusX[:])
	copy(p[8:12], z2[:])
	copy(p[12:16], t2d[:])
}

func (v *cached) fromPoint(p *Point) {
	v.yPlusX.Add(&p.y, &p.x)
	v.yMinusX.Subtract(&p.y, &p.x)
	v.z2.Add(&p.z, &p.z)
	v.t2d.Multiply(&p.t, feD2)
}

func (v *cached) identity() {
	v.yPlusX.One()
	v.yMinusX.One()
	v.z2.Add(feOne, feOne)
	v.t2d.Zero()
}

// double sets v = 2(X:Y:Z): 4 squarings.
func (v *completed) double(x, y, z *field.Element) {
	var xx, yy, zz2, xy2 field.Element
	xx.Square(x)
	yy.Square(y)
	zz2.Square(z)
	zz2.Add(&zz2, &zz2)
	xy2.Add(x, y)
	xy2.Square(&xy2)
	v.y.Add(&yy, &xx)
	v.z.Subtract(&yy, &xx)
	v.x.Subtract(&xy2, &v.y)
	v.t.Subtract(&zz2, &v.z)
}

// add sets v = p + q: 4 multiplications.
func (v *completed) add(p *Point, q *cached) {
	var a, b, c, d field.Element
	a.Add(&p.y, &p.x)
	a.Multiply(&a, &q.yPlusX)
	b.Subtract(&p.y, &p.x)
	b.Multiply(&b, &q.yMinusX)
	c.Multiply(&p.t, &q.t2d)
	d.Multiply(&p.z, &q.z2)
	v.x.Subtract(&a, &b)
	v.y.Add(&a, &b)
	v.z.Add(&d, &c)
	v.t.Subtract(&d, &c)
}

// sub sets v = p - q: 4 multiplications.
func (v *completed) sub(p *Point, q *cached) {
	var a, b, c, d field.Element
	a.Add(&p.y, &p.x)
	a.Multiply(&a, &q.yMinusX)
	b.Subtract(&p.y, &p.x)
	b.Multiply(&b, &q.yPlusX)
	c.Multiply(&p.t, &q.t2d)
	d.Multiply(&p.z, &q.z2)
	v.x.Subtract(&a, &b)
	v.y.Add(&a, &b)
	v.z.Subtract(&d, &c)
	v.t.Add(&d, &c)
}

// addNiels sets v = p + q: 3 multiplications.
func (v *completed) addNiels(p *Point, q *niels) {
	var a, b, c field.Element
	a.Add(&p.y, &p.x)
	a.Multiply(&a, &q.yPlusX)
	b.Subtract(&p.y, &p.x)
	b.Multiply(&b, &q.yMinusX)
	c.Multiply(&p.t, &q.t2d)
	v.x.Subtract(&a, &b)
	v.y.Add(&a, &b)
	v.z.Add(&p.z, &c)
	v.t.Subtract(&p.z, &c)
}

// subNiels sets v = p - q: 3 multiplications.
func (v *completed) subNiels(p *Point, q *niels) {
	var a, b, c field.Element
	a.Add(&p.y, &p.x)
	a.Multiply(&a, &q.yMinusX)
	b.Subtract(&p.y, &p.x)
	b.Multiply(&b, &q.yPlusX)
	c.Multiply(&p.t, &q.t2d)
	v.x.Subtract(&a, &b)
	v.y.Add(&a, &b)
	v.z.Subtract(&p.z, &c)
	v.t.Add(&p.z, &c)
}

// point sets p to v, and returns p: 4 multiplications.
func (v *completed) point(p *Point) *Point {
	p.x.Multiply(&v.x, &v.t)
	p.y.Multiply(&v.y, &v.z)
	p.z.Multiply(&v.z, &v.t)
	p.t.Multiply(&v.x, &v.y)
	return p
}

// projective sets p to v: 3 multiplications.
func (v *completed) projective(p *projective) {
	p.x.Multiply(&v.x, &v.t)
	p.y.Multiply(&v.y, &v.z)
	p.z.Multiply(&v.z, &v.t)
}
