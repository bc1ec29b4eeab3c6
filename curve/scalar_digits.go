package curve

import "math/bits"

// digits holds two scalars as non-adjacent forms: sums of d·2^i with odd digits
// d of both signs, few of which are not zero. They are sorted for an evaluation
// that doubles a sum of multiples span times and has a table for each multiple
// of a power 2^(span·block): by i mod span, then by block, then by scalar.
type digits struct {
	at [512]int8
	// Bit i of these words is one if at[i] is not zero.
	set [8]uint64
}

// add writes the digits of s, each below 2^(w-1) in absolute value, 2 ≤ w ≤ 8,
// at most one of any w neighbours not zero. They are those of scalar list, 0 or
// 1, and the span is 2^logSpan. Variable time.
func (d *digits) add(s *Scalar, w, list, logSpan uint) {
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
		n := (pos<<(9-logSpan) | pos>>logSpan<<1 | list) & 511
		d.at[n] = int8(int64(digit) - int64(carry<<w))
		d.set[n/64] |= 1 << (n % 64)
		pos += w
	}
}

// place is the inverse of the order of digits.at: it returns the position within
// the span, the block and the scalar of at[n].
func place(n, logSpan uint) (pos, block, list uint) {
	return n >> (9 - logSpan), n >> 1 & (256>>logSpan - 1), n & 1
}
