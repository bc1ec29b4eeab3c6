package curve

import "math/bits"

// nonAdjacentForm returns digits n with s = Σ n[i]·2^i, each zero or odd and
// below 2^(w-1) in absolute value, 2 ≤ w ≤ 8, at most one of any w neighbours
// not zero. Variable time.
func (s *Scalar) nonAdjacentForm(w uint) (naf [256]int8) {
	// One word of zeros above lets every window be read as 64 bits.
	x := [5]uint64{s.s[0], s.s[1], s.s[2], s.s[3]}
	width := uint64(1) << w
	var carry uint64 // 0 or 1, of weight 2^pos
	for pos := uint(0); pos < 256; {
		i, off := pos/64, pos%64
		window := x[i]>>off | x[i+1]<<1<<(63-off)
		// With a carry, ones of the window are zeros of what is left.
		if run := uint(bits.TrailingZeros64(window ^ -carry)); run > 0 {
			pos += run
			continue
		}
		// As s is below 2^253, the last digit is positive.
		digit := carry + window&(width-1)
		carry = digit >> (w - 1)
		naf[pos] = int8(int64(digit) - int64(carry<<w))
		pos += w
	}
	return naf
}
