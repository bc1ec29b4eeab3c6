package curve

// selectNiels sets yPlusX, yMinusX and t2d, five 51-bit limbs each, to digit
// times the point of which row holds the multiples 1..8, for digit in -8..8;
// zero gives the identity. It reads the whole row. Limbs of the result are
// below 2^52. Constant time.
func selectNiels(yPlusX, yMinusX, t2d *[5]uint64, row *[8][12]uint64, digit int64) {
	sign := uint64(digit >> 63)
	index := (uint64(digit) ^ sign) - sign

	var w [12]uint64
	// The identity is half of (1, 1, 0).
	zero := uint64(int64(index-1) >> 63)
	for i, half := range [4]uint64{1<<64 - 9, 1<<64 - 1, 1<<64 - 1, 1<<62 - 1} {
		w[i] = half & zero
		w[4+i] = w[i]
	}
	for c := 0; c < 12; c += 4 {
		w0, w1, w2, w3 := w[c], w[c+1], w[c+2], w[c+3]
		for j := range row {
			// All ones where index is j+1.
			mask := uint64(int64((index^uint64(j+1))-1) >> 63)
			e := (*[4]uint64)(row[j][c:])
			w0 |= e[0] & mask
			w1 |= e[1] & mask
			w2 |= e[2] & mask
			w3 |= e[3] & mask
		}
		w[c], w[c+1], w[c+2], w[c+3] = w0, w1, w2, w3
	}

	// -(x, y) is (-x, y): exchange the first two coordinates, negate the third.
	for i := range 4 {
		d := (w[i] ^ w[i+4]) & sign
		w[i] ^= d
		w[i+4] ^= d
	}
	unpackLimbs(yPlusX, (*[4]uint64)(w[0:4]))
	unpackLimbs(yMinusX, (*[4]uint64)(w[4:8]))
	var t [5]uint64
	unpackLimbs(&t, (*[4]uint64)(w[8:12]))
	t2d[0] = t[0] ^ (t[0]^(twoP0-t[0]))&sign
	t2d[1] = t[1] ^ (t[1]^(twoPi-t[1]))&sign
	t2d[2] = t[2] ^ (t[2]^(twoPi-t[2]))&sign
	t2d[3] = t[3] ^ (t[3]^(twoPi-t[3]))&sign
	t2d[4] = t[4] ^ (t[4]^(twoPi-t[4]))&sign
}

// The limbs of 2p, each at least a limb of a canonical element.
const (
	twoP0 = 1<<52 - 38
	twoPi = 1<<52 - 2
)

// unpackLimbs sets l to the five 51-bit limbs of w, which is below 2^255.
func unpackLimbs(l *[5]uint64, w *[4]uint64) {
	const mask = 1<<51 - 1
	l[0] = w[0] & mask
	l[1] = (w[0]>>51 | w[1]<<13) & mask
	l[2] = (w[1]>>38 | w[2]<<26) & mask
	l[3] = (w[2]>>25 | w[3]<<39) & mask
	l[4] = w[3] >> 12
}
