package x86

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// DigitConstants are what digits of several scalars need in static memory.
type DigitConstants struct {
	nibble, sign Mem // the sign of a word of 32 bits
}

// NewDigitConstants puts the constants into static memory.
func NewDigitConstants() DigitConstants {
	return DigitConstants{Word("nibble", 15), Word("sign", 1<<31)}
}

// Digit returns the absolute value of digit number index of each of the scalars
// behind digits, a vector a word, and where it is negative. A digit is a nibble
// less 8, the last one, number 63, a nibble.
func (l Lanes) Digit(c DigitConstants, digits, index Register) (digit, negative Register) {
	word, count, eight, none := GP64(), GP64(), GP64(), GP64()
	MOVQ(index, word)
	SHRQ(U8(4), word)
	SHLQ(U8(map[Lanes]int{4: 5, 8: 6}[l]), word)
	MOVQ(index, count)
	ANDQ(U8(15), count)
	SHLQ(U8(2), count)
	XORL(none.As32(), none.As32())
	MOVL(U32(8), eight.As32())
	CMPQ(index, Imm(63))
	CMOVQEQ(none, eight)
	shift, less, sign := XMM(), l.New(), l.New()
	digit, negative = l.New(), K()
	VMOVQ(count, shift)
	VMOVDQU64(Mem{Base: digits, Index: word, Scale: 1}, digit)
	VPSRLQ(shift, digit, digit)
	VPANDQ_BCST(c.nibble, digit, digit)
	VPBROADCASTQ(eight, less)
	VPSUBD(less, digit, digit) // the upper halves of the words are zero
	VPBROADCASTQ(c.sign, sign)
	VPTESTMQ(sign, digit, negative)
	VPABSD(digit, digit)
	return digit, negative
}
