package testvec

import "math/rand/v2"

// WeirdUint64 returns, half of the time, a word near a limit of limbs and
// carries: 0, 2^51, 2^52, 19 and their neighbours; else any word.
func WeirdUint64(r *rand.Rand) uint64 {
	if r.IntN(2) == 0 {
		return r.Uint64()
	}
	edges := [...]uint64{
		0, 1, 2, 18, 19, 20, 37, 38, 39,
		1<<32 - 1, 1 << 32, 1<<32 + 1,
		1<<51 - 20, 1<<51 - 19, 1<<51 - 18, 1<<51 - 1, 1 << 51, 1<<51 + 1,
		1<<52 - 39, 1<<52 - 38, 1<<52 - 37, 1<<52 - 2, 1<<52 - 1,
		1<<63 - 19, 1<<63 - 1, 1 << 63, 1<<64 - 39, 1<<64 - 38, 1<<64 - 19, 1<<64 - 1,
	}
	return edges[r.IntN(len(edges))]
}

// WeirdLimb returns WeirdUint64 reduced to the given number of bits.
func WeirdLimb(r *rand.Rand, bits uint) uint64 { return WeirdUint64(r) & (1<<bits - 1) }

// WeirdBytes32 returns 32 bytes made of weird words, or an edge value of the
// curve's encodings.
func WeirdBytes32(r *rand.Rand) (b [32]byte) {
	switch r.IntN(4) {
	case 0:
		e := EdgeBytes32()
		return e[r.IntN(len(e))]
	case 1: // runs of equal bits
		bit, at := byte(r.IntN(2)), 0
		for at < 256 {
			for n := 1 + r.IntN(64); n > 0 && at < 256; n, at = n-1, at+1 {
				b[at/8] |= bit << (at % 8)
			}
			bit ^= 1
		}
		return b
	}
	for i := range 4 {
		w := WeirdUint64(r)
		for j := range 8 {
			b[8*i+j] = byte(w >> (8 * j))
		}
	}
	return b
}

// small returns d mod 2^256 or, with high, 2^255 + d, little endian.
func small(d int, high bool) (b [32]byte) {
	if high {
		b[31] = 0x80
	}
	return plus(b, d)
}

// plus returns b + d mod 2^256, little endian.
func plus(b [32]byte, d int) [32]byte {
	carry := d
	for i := range b {
		v := int(b[i]) + carry
		b[i] = byte(v)
		carry = v >> 8
	}
	return b
}

// order is the order of the prime subgroup, 2^252 + 27742317777372353535851937790883648493.
var order = [32]byte{
	0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
	31: 0x10,
}

// EdgeBytes32 returns encodings at the edges: around 0, the field prime, its
// double, the group order and 2^255, and the u-coordinates of LowOrderU. They
// serve as field elements, u-coordinates, y-coordinates and scalars.
func EdgeBytes32() [][32]byte {
	var out [][32]byte
	for d := range 20 {
		out = append(out, small(d, false)) // 0 and up
	}
	for d := -40; d <= 20; d++ {
		out = append(out, small(d, true)) // p is 2^255 - 19
	}
	for d := -40; d < 0; d++ {
		out = append(out, small(d, false)) // 2p is 2^256 - 38
	}
	for d := -2; d <= 2; d++ {
		out = append(out, plus(order, d))
	}
	return append(out, LowOrderU()...)
}

// LowOrderU returns every 32-byte encoding of a u-coordinate of small order on
// the curve or its twist, RFC 7748 Section 6.1 with the unreduced forms and
// bit 255 set.
func LowOrderU() [][32]byte {
	eight := [32]byte{
		0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
		0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
	}
	eight2 := [32]byte{
		0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
		0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
	}
	base := [][32]byte{
		small(0, false), small(1, false), eight, eight2,
		small(-20, true), small(-19, true), small(-18, true), // p-1, p, p+1
	}
	out := base
	for _, b := range base {
		b[31] |= 0x80
		out = append(out, b)
	}
	return out
}
