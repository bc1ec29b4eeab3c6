package curve

// oddMultiples holds 1, 3, ..., 15 times a point.
type oddMultiples [8]cached

func (t *oddMultiples) fromPoint(p *Point) {
	var p2, m Point
	p2.Double(p)
	t[0].fromPoint(p)
	var r completed
	for i := range len(t) - 1 {
		r.add(&p2, &t[i])
		t[i+1].fromPoint(r.point(&m))
	}
}

// oddBase is oddBaseTable unpacked.
var oddBase = func() (t [len(oddBaseTable)]niels) {
	for i := range t {
		t[i].unpack(&oddBaseTable[i])
	}
	return t
}()

// VarTimeDoubleScalarBaseMult sets v = a * A + b * B for the base point B, and
// returns v. Variable time: every argument must be public.
func (v *Point) VarTimeDoubleScalarBaseMult(a *Scalar, A *Point, b *Scalar) *Point {
	checkInitialized(A)
	var t oddMultiples
	t.fromPoint(A)
	var r completed
	varTimeDoubleBase(&r, a, &t, b)
	return r.point(v)
}

// varTimeDoubleBase sets r = a * A + b * B, where t is of A: Straus' method over
// width-5 and width-8 non-adjacent forms. Variable time.
func varTimeDoubleBase(r *completed, a *Scalar, t *oddMultiples, b *Scalar) {
	aNAF := a.nonAdjacentForm(5)
	bNAF := b.nonAdjacentForm(8)

	i := 255
	for i > 0 && aNAF[i]|bNAF[i] == 0 {
		i--
	}
	var m projective
	var p Point
	m.x.Zero()
	m.y.One()
	m.z.One()
	for {
		r.double(&m.x, &m.y, &m.z)
		if n := aNAF[i]; n > 0 {
			r.add(r.point(&p), &t[n/2])
		} else if n < 0 {
			r.sub(r.point(&p), &t[-n/2])
		}
		if n := bNAF[i]; n > 0 {
			r.addNiels(r.point(&p), &oddBase[n/2])
		} else if n < 0 {
			r.subNiels(r.point(&p), &oddBase[-n/2])
		}
		if i == 0 {
			return
		}
		r.projective(&m)
		i--
	}
}
