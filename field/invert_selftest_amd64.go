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
		// Found by search: with these every carry is taken that any input has
		// been seen to take.
		{0x7fffffffffffffed, 0xffffffffffffffda, 0x9c19907ddedefd50, 0x96f118988ca17d16},
		{0xffffffffffffffed, 0xffffffffffffffff, 0x2, 0x12},
		{0x14, 0x0, 0xffffffff, 0xc541f1440e9f7070},
		{0xfffffffffffff, 0x0, 0xffffffff, 0xffffffff},
		{0x7ffffffffffed, 0x8000000000000000, 0x7fffffffffffffff, 0xe8b2f4c7eac25203},
		{0x2, 0x8000000000000, 0x0, 0x13},
		{0x2, 0xffffffffffffffda, 0xffffffff, 0xc2fc0645579c2986},
		{0x13, 0x8940e199f217911a, 0xffffffffffffffda, 0xffffffffffffffda},
		{0x27, 0xfffffffffffdb, 0x955180a8c24a407e, 0x5f98bce36cd9c3c3},
		{0x541a9b7b08895928, 0x1, 0x8000000000000, 0x2},
		{0xffffffffffffffda, 0xffffffffffffffff, 0x7fffffffffffffff, 0xffffffffffffffff},
		{0xffffffffffffffed, 0x61fb15c45788ae6, 0x7fffffffffffffff, 0x1},
		{0x7fffffffffffffed, 0x8c7cb68f3845ca57, 0xffffffff, 0x731a493982520b7e},
		{0x7ffffffffffed, 0x8000000000000, 0x100000000, 0x3e937bfeecf61f97},
		{0xfffffffffffda, 0x8000000000000, 0x8000000000001, 0xfeaf8301ad1309b0},
		{0xfffffffffffff, 0xa9767404b910e30d, 0x7fffffffffffffed, 0xb84bec0c6be77716},
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
