//go:build !purego

package curve

import "github.com/sigcore/sigcore/field"

// selfTestFixedBase reports whether the kernel gives the results of its twin: for
// scalars that have every digit between them and in the first and last places
// the extreme ones, then for as many others as it takes for the carries of the
// last addition, which each call has once.
func selfTestFixedBase(kernel func(out *[4][4]uint64, table *[64][8]packedNiels, digits *[4]uint64)) bool {
	walk := wordWalk(1)
	for i := range 24 {
		var d radix16
		switch i {
		case 0:
			d = radix16{0xfedcba9876543210, 0x0123456789abcdef, 0x8888888888888888, 0x7f0f7f0f7f0f7f0f}
		case 1:
			d = radix16{0x0000000000000000, 0xffffffffffffffff, 0x8080808080808080, 0x8000000000000000}
		default:
			d = radix16{walk.next(), walk.next(), walk.next(), walk.next()}
			d[3] = d[3]&(1<<60-1) | uint64(i%9)<<60 // the last digit is at most 8
		}
		var out [4][4]uint64
		kernel(&out, &fixedBaseTable, (*[4]uint64)(&d))
		var got, want Point
		got.setWords(&out)
		fixedBaseGeneric(&want, &fixedBaseTable, &d)
		if !got.sameCoordinates(&want) {
			return false
		}
	}
	return true
}

// sameCoordinates reports whether all four coordinates are the same, which is
// more than that the points are. Variable time.
func (v *Point) sameCoordinates(p *Point) bool {
	for _, c := range [][2]*field.Element{{&v.x, &p.x}, {&v.y, &p.y}, {&v.z, &p.z}, {&v.t, &p.t}} {
		if c[0].Equal(c[1]) == 0 {
			return false
		}
	}
	return true
}
