package curve

// ScalarMult sets v = x * p, and returns v. Constant time.
func (v *Point) ScalarMult(x *Scalar, p *Point) *Point {
	checkInitialized(p)
	checkGeneric()
	var k [32]byte
	x.bytesInto(&k)
	digits := signedRadix16(&k)
	return v.multiply(p, &digits)
}

// multiply sets v to the sum of digit i times 16^i * p, and returns v. Constant
// time.
func (v *Point) multiply(p *Point, digits *radix16) *Point {
	var table [8]cached // 1..8 times p
	var m, acc Point
	m.Set(p)
	for i := range table {
		table[i].fromPoint(&m)
		if i < len(table)-1 {
			m.Add(&m, p)
		}
	}

	var q cached
	var r completed
	var d projective
	acc.identity()
	for i := 63; i >= 0; i-- {
		q.choose(&table, digits.at(i))
		r.add(&acc, &q)
		if i == 0 {
			break
		}
		for range 4 {
			r.projective(&d)
			r.double(&d.x, &d.y, &d.z)
		}
		r.point(&acc)
	}
	return r.point(v)
}

// choose sets v to digit times the point of which table holds the multiples
// 1..8, for digit in -8..8. Constant time.
func (v *cached) choose(table *[8]cached, digit int64) {
	sign := uint64(digit >> 63)
	index := (uint64(digit) ^ sign) - sign
	v.identity()
	for j := range table {
		here := int(((index ^ uint64(j+1)) - 1) >> 63)
		v.yPlusX.Select(&table[j].yPlusX, &v.yPlusX, here)
		v.yMinusX.Select(&table[j].yMinusX, &v.yMinusX, here)
		v.z2.Select(&table[j].z2, &v.z2, here)
		v.t2d.Select(&table[j].t2d, &v.t2d, here)
	}
	neg := int(sign & 1)
	v.yPlusX.Swap(&v.yMinusX, neg)
	n := v.t2d
	n.Negate(&n)
	v.t2d.Select(&n, &v.t2d, neg)
}
