//go:build !purego

package field

// selfTestInvert reports whether the kernel inverts numbers that carry into
// each word, or leave each word, when they are reduced modulo p, and some that
// follow from these.
func selfTestInvert(kernel func(out, a *[4]uint64)) bool {
	const ones = 1<<64 - 1
	for _, a := range [...][4]uint64{
		{},
		{1},
		{ones - 18, ones, ones, ones >> 1}, // p
		{ones - 19, ones, ones, ones >> 1},
		{ones, ones, ones, ones},
		{ones, 0, 0, 1 << 63},
		{ones, ones, 0, 1 << 63},
		{ones, ones, ones, 1 << 63},
		{0, 0, 0, 1 << 63},
		{0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x3333333333333333, 0xcccccccccccccccc},
	} {
		for range 2 {
			b := a
			kernel(&b, &b)
			var x, y Element
			x.SetWords(&a)
			y.SetWords(&b)
			want := [4]uint64{1} // a·b
			if x.Words() == [4]uint64{} {
				want[0] = 0
			}
			feMulGeneric(&x.l, &x.l, &y.l)
			if x.Words() != want || y.Words() != b || want[0] == 0 && b != want {
				return false
			}
			a = [4]uint64{b[1], b[2], b[3], b[0]}
		}
	}
	return true
}
