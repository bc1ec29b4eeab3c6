//go:build !purego

package curve

import "github.com/sigcore/sigcore/field"

// selfTestFixedBaseOne reports whether the lanes of the kernel are, each by itself,
// what the twin gives for the digits of the lane.
func selfTestFixedBaseOne(kernel func(out *[4][5][4]uint64, table *[64][8][12]uint64, digits *[4]uint64)) bool {
	others := laneDigits()
	for _, d := range [...]radix16{
		// every digit in each lane
		{0xfedcba9876543210, 0x0123456789abcdef, 0xfedcba9876543210, 0x8023456719abcdef},
		others[0], others[1],
	} {
		var out [4][5][4]uint64
		kernel(&out, &fixedBaseTable, (*[4]uint64)(&d))
		for lane := range 4 {
			var c [4][5]uint64
			for i := range c {
				for j := range 5 {
					c[i][j] = out[i][j][lane]
				}
			}
			// The digits of the other lanes are zero.
			own := radix16{0x8888888888888888, 0x8888888888888888, 0x8888888888888888, 0x0888888888888888}
			own[lane] = d[lane]
			if !selfTestSamePoint(&own, &c) {
				return false
			}
		}
	}
	return true
}

// selfTestSamePoint reports whether the coordinates, in limbs, are those of the
// point that the twin gives, or a multiple of them: the twin adds the identity for
// the digits that are zero.
func selfTestSamePoint(d *radix16, c *[4][5]uint64) bool {
	for i := range c {
		for j := range c[i] {
			if c[i][j]>>52 != 0 {
				return false
			}
		}
	}
	var got, want Point
	*got.x.Limbs(), *got.y.Limbs(), *got.z.Limbs(), *got.t.Limbs() = c[0], c[1], c[2], c[3]
	fixedBaseGeneric(&want, &fixedBaseTable, d)
	var zero, xy, zt field.Element
	xy.Multiply(&got.x, &got.y)
	zt.Multiply(&got.z, &got.t)
	return got.z.Equal(&zero) == 0 && got.Equal(&want) == 1 && xy.Equal(&zt) == 1
}
