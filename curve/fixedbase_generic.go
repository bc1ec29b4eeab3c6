package curve

// fixedBaseGeneric sets v to the sum of digit i times the point of which row i
// of table holds the multiples 1..8. Constant time.
func fixedBaseGeneric(v *Point, table *[64][8]packedNiels, digits *radix16) {
	v.identity()
	var q niels
	var r completed
	for i := range table {
		selectNiels(q.yPlusX.Limbs(), q.yMinusX.Limbs(), q.t2d.Limbs(), &table[i], digits.at(i))
		r.addNiels(v, &q)
		r.point(v)
	}
}
