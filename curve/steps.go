package curve

import "math/bits"

// maxSteps is one more than any number of digits of two scalars below 2^253 of
// widths 5 and 7: as many as one in w neighbours, of 254.
const maxSteps = 96

// steps is a list of steps for an evaluation that begins with the identity. Each
// step begins with doublings; then all but the last of n add an entry of a table.
type steps struct {
	list [maxSteps]uint32
	n    int
}

// Fields of a step, by their lowest bits. The kernels have them too.
const (
	stepDoublings = 0 // 8 bits
	stepB         = 8 // the entry is of the second table
	stepNegative  = 9 // the entry is subtracted
	stepEntry     = 16
)

// A shape is how two scalars are evaluated.
type shape struct {
	logSpan uint    // the doublings number 2^logSpan - 1 at most
	width   [2]uint // of the digits
}

// perBlock returns the logarithm of the number of odd multiples that the digits
// of a scalar select from.
func (f shape) perBlock(list uint) uint { return f.width[list] - 2 }

// set makes s the steps for a·A + b·B. Variable time.
func (s *steps) set(f shape, a, b *Scalar) {
	var d digits
	d.add(a, f.width[0], 0, f.logSpan)
	d.add(b, f.width[1], 1, f.logSpan)

	s.n = 0
	last := uint(0)
	for w := len(d.set) - 1; w >= 0; w-- {
		for set := d.set[w]; set != 0; {
			i := uint(bits.Len64(set) - 1)
			set ^= 1 << i
			n := uint(64*w) + i
			pos, block, list := place(n, f.logSpan)
			if s.n == 0 {
				last = pos
			}
			digit := int64(d.at[n%512])
			sign := uint64(digit) >> 63
			odd := uint64(max(digit, -digit))
			entry := block<<f.perBlock(list) + uint(odd/2)
			s.list[s.n%maxSteps] = uint32((last-pos)<<stepDoublings | list<<stepB | uint(sign)<<stepNegative | entry<<stepEntry)
			s.n++
			last = pos
		}
	}
	s.list[s.n] = uint32(last)
	s.n++
}
