//go:build !purego

package curve

// laneDigits are what the self-tests multiply by: scalars that have every digit
// between them, in the first and last places the extreme ones.
func laneDigits() (all [8]radix16) {
	walk := wordWalk(3)
	for i := range all {
		switch i {
		case 0:
			all[i] = radix16{0xfedcba9876543210, 0x0123456789abcdef, 0x8888888888888888, 0x7f0f7f0f7f0f7f0f}
		case 1:
			all[i] = radix16{0x0000000000000000, 0xffffffffffffffff, 0x8080808080808080, 0x8000000000000000}
		default:
			all[i] = radix16{walk.next(), walk.next(), walk.next(), walk.next()}
			all[i][3] = all[i][3]&(1<<60-1) | uint64(i)<<60 // the last digit is at most 8
		}
	}
	return all
}

// selfTestMultiple reports whether the coordinates, in limbs, are those of the twin.
func selfTestMultiple(d *radix16, x, y, z, t *[5]uint64) bool {
	for j := range 5 {
		if (x[j]|y[j]|z[j]|t[j])>>52 != 0 {
			return false
		}
	}
	var got, want Point
	*got.x.Limbs(), *got.y.Limbs(), *got.z.Limbs(), *got.t.Limbs() = *x, *y, *z, *t
	fixedBaseGeneric(&want, &fixedBaseTable, d)
	return got.sameCoordinates(&want)
}

// selfTestFixedBase8 reports whether the kernel gives the results of its twin.
func selfTestFixedBase8(kernel func(out *[4][5][8]uint64, table *[64][8][12]uint64, digits *[4][8]uint64)) bool {
	all := laneDigits()
	var digits [4][8]uint64
	for lane, d := range all {
		for j := range d {
			digits[j][lane] = d[j]
		}
	}
	var out [4][5][8]uint64
	kernel(&out, &fixedBaseTable, &digits)
	for lane := range all {
		var c [4][5]uint64
		for i := range c {
			for j := range 5 {
				c[i][j] = out[i][j][lane]
			}
		}
		if !selfTestMultiple(&all[lane], &c[0], &c[1], &c[2], &c[3]) {
			return false
		}
	}
	return true
}
