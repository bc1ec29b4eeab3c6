//go:build !purego

package curve

// laneProducts are known products: of points of large order with a Z that is not
// one, and of one of small order.
type laneProducts [4]struct {
	digits   radix16
	in       [4][5]uint64
	multiple Point
}

// selfTestProducts computes them with the twin.
func selfTestProducts() *laneProducts {
	all := new(laneProducts)
	walk := wordWalk(5)
	digits := laneDigits()
	for i := range all {
		var p Point
		if i == 2 { // (0, -1)
			p.identity()
			p.y.Negate(feOne)
		} else {
			d := radix16{walk.next(), walk.next(), walk.next(), walk.next() >> 4}
			fixedBaseGeneric(&p, &fixedBaseTable, &d)
		}
		all[i].digits = digits[i]
		all[i].in = p.carriedLimbs()
		all[i].multiple.multiply(&p, &digits[i])
	}
	return all
}

// has reports whether the coordinates, in limbs, are those of a product.
func (all *laneProducts) has(i int, c *[4][5]uint64) bool {
	for i := range c {
		for j := range c[i] {
			if c[i][j]>>52 != 0 {
				return false
			}
		}
	}
	var got Point
	*got.x.Limbs(), *got.y.Limbs(), *got.z.Limbs(), *got.t.Limbs() = c[0], c[1], c[2], c[3]
	return got.sameCoordinates(&all[i].multiple)
}

// selfTestScalarMult8 reports whether the kernel gives the products, each in two
// lanes.
func selfTestScalarMult8(all *laneProducts, kernel func(out, p *[4][5][8]uint64, digits *[4][8]uint64)) bool {
	var digits [4][8]uint64
	var p, out [4][5][8]uint64
	for lane := range 8 {
		for j := range digits {
			digits[j][lane] = all[lane%4].digits[j]
		}
		for c, l := range all[lane%4].in {
			for j := range l {
				p[c][j][lane] = l[j]
			}
		}
	}
	kernel(&out, &p, &digits)
	for lane := range 8 {
		var c [4][5]uint64
		for i := range c {
			for j := range 5 {
				c[i][j] = out[i][j][lane]
			}
		}
		if !all.has(lane%4, &c) {
			return false
		}
	}
	return true
}

// selfTestScalarMult4 reports whether the kernel gives the products.
func selfTestScalarMult4(all *laneProducts, kernel func(out, p *[4][5][4]uint64, digits *[4][4]uint64)) bool {
	var digits [4][4]uint64
	var p, out [4][5][4]uint64
	for lane := range 4 {
		for j := range digits {
			digits[j][lane] = all[lane%4].digits[j]
		}
		for c, l := range all[lane%4].in {
			for j := range l {
				p[c][j][lane] = l[j]
			}
		}
	}
	kernel(&out, &p, &digits)
	for lane := range 4 {
		var c [4][5]uint64
		for i := range c {
			for j := range 5 {
				c[i][j] = out[i][j][lane]
			}
		}
		if !all.has(lane%4, &c) {
			return false
		}
	}
	return true
}
