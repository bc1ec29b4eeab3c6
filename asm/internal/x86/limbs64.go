package x86

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// Numbers modulo p = 2^255-19 in four full words.
//
// Any number below 2^256 stands for its residue, and is an operand of
// everything here. Reduced are those below 2^255 + 2^24, which multiplications
// leave: sums and differences of two of them are cheaper. Since 2^256 = 38 and
// 2^255 = 19 modulo p, what leaves the top of a number comes back at its bottom
// times 38 or 19. It comes back through all four words: that a carry ends in the
// lowest one needs a proof, which the functions that rely on it give.
//
// Operands are four words of memory or in registers. A register or memory
// operand is used at any time until the last result is written.

// A Field64 writes multiplications modulo 2^255-19.
type Field64 struct {
	// ADX makes the rows of products two interleaved chains of ADCX and ADOX;
	// without it they are chains of ADD and ADC.
	ADX bool
}

// Mul returns a·b, reduced. It sets RDX, and reads the words of a in order, each
// once, those of b four times. a and b may be any numbers below 2^256.
func (f Field64) Mul(a, b []Op) []Register {
	MOVQ(a[0], RDX)
	r := Row(b)
	for i := 1; i < 4; i++ {
		MOVQ(a[i], RDX)
		r = f.addRow(r, i, b)
	}
	return f.Fold(r)
}

// addRow adds RDX·b, b having four words, to r at word at, and makes r a word
// longer. r[at:] has four words.
//
// r[at:] + RDX·b <= 2^256 - 1 + (2^64 - 1)·(2^256 - 1) < 2^320, so that no carry
// leaves the new word.
func (f Field64) addRow(r []Register, at int, b []Op) []Register {
	if !f.ADX {
		return AddRow(r, at, Row(b))
	}
	zero := GP64()
	XORQ(zero, zero)
	for j := range b {
		lo, hi := GP64(), GP64()
		MULXQ(b[j], lo, hi)
		ADCXQ(lo, r[at+j])
		if j+1 < len(b) {
			ADOXQ(hi, r[at+j+1])
		} else {
			r = append(r, hi)
		}
	}
	ADCXQ(zero, r[at+len(b)])
	ADOXQ(zero, r[at+len(b)])
	return r
}

// Square returns a², reduced. It sets RDX. a may be any number below 2^256.
func (f Field64) Square(a []Op) []Register {
	return f.Fold(f.squareWide(a))
}

// squareWide returns the eight words of a².
func (f Field64) squareWide(a []Op) []Register {
	// The products of different words, by what RDX holds:
	//
	//	word      1     2     3     4     5     6
	//	a0        a0·a1       a0·a3
	//	                a0·a2
	//	a3                          a3·a1
	//	                                  a3·a2
	//	a1                    a1·a2
	//
	// Each product has the word below which it stands and the next one. Their
	// sum is below 2^512/2, so that it does not leave word 7, nor its double;
	// what the chains drop is therefore zero.
	r := make([]Register, 8)
	s := NewWords(4)
	MOVQ(a[0], RDX)
	r[1], r[2], r[3], r[4] = GP64(), GP64(), GP64(), GP64()
	MULXQ(a[1], r[1], r[2])
	MULXQ(a[3], r[3], r[4])
	MULXQ(a[2], s[0], s[1])
	MOVQ(a[3], RDX)
	r[5], r[6] = GP64(), GP64()
	MULXQ(a[2], r[5], r[6])
	MULXQ(a[1], s[2], s[3])
	ADDQ(s[0], r[2])
	ADCQ(s[1], r[3])
	ADCQ(s[2], r[4])
	ADCQ(s[3], r[5])
	ADCQ(Imm(0), r[6])
	MOVQ(a[1], RDX)
	lo, hi := GP64(), GP64()
	MULXQ(a[2], lo, hi)
	ADDQ(lo, r[3])
	ADCQ(hi, r[4])
	ADCQ(Imm(0), r[5])
	ADCQ(Imm(0), r[6])

	// Twice that, and the squares of the words.
	if f.ADX {
		r[7] = GP64()
		XORL(r[7].(GP).As32(), r[7].(GP).As32())
		MOVQ(a[0], RDX)
		r[0] = GP64()
		hi := GP64()
		MULXQ(RDX, r[0], hi)
		ADCXQ(r[1], r[1])
		ADOXQ(hi, r[1])
		for i := 1; i < 4; i++ {
			MOVQ(a[i], RDX)
			lo, hi := GP64(), GP64()
			MULXQ(RDX, lo, hi)
			ADCXQ(r[2*i], r[2*i])
			ADOXQ(lo, r[2*i])
			ADCXQ(r[2*i+1], r[2*i+1])
			ADOXQ(hi, r[2*i+1])
		}
		return r
	}
	ADDQ(r[1], r[1])
	for i := 2; i < 7; i++ {
		ADCQ(r[i], r[i])
	}
	r[7] = GP64()
	MOVL(U32(0), r[7].(GP).As32()) // not XOR, which would clear the carry
	ADCQ(r[7], r[7])
	MOVQ(a[0], RDX)
	r[0] = GP64()
	hi = GP64()
	MULXQ(RDX, r[0], hi)
	ADDQ(hi, r[1])
	for i := 1; i < 4; i++ {
		MOVQ(a[i], RDX)
		lo, hi := GP64(), GP64()
		MULXQ(RDX, lo, hi)
		ADCQ(lo, r[2*i])
		ADCQ(hi, r[2*i+1])
	}
	return r
}

// Fold returns the number of the eight words r modulo p, reduced: below
// 2^255 + 2^11. It takes over the registers and sets RDX.
//
// lo + 38·hi <= 39·(2^256 - 1), so that the fifth word is at most 38.
func (f Field64) Fold(r []Register) []Register {
	MOVL(U32(38), EDX)
	r5 := f.addRow(r[:4:4], 0, Ops(r[4:]))
	top := r5[4]
	// What is above 255 bits is at most 2·38 + 1; times 19 it is below 2^11.
	return foldTop(r5[:4], top)
}

// foldTop returns r + 2^256·top modulo p, for top < 2^58: below
// 2^255 + 19·(2·top + 1).
func foldTop(r []Register, top Register) []Register {
	ADDQ(r[3], r[3])
	ADCQ(top, top) // what is above 255 bits
	SHRQ(U8(1), r[3])
	IMUL3Q(U8(19), top, top)
	// r < 2^255 here, and 19·top < 2^64, so that no carry leaves.
	Add(r, []Op{top, Imm(0), Imm(0), Imm(0)})
	return r
}

// MulSmallAdd returns k·a + b for a constant k below 2^18, reduced: below
// 2^255 + 2^24. a and b may be any numbers below 2^256. It sets RDX.
//
// k·a + b < (2^18 + 1)·2^256, so that the fifth word is at most 2^18; what is
// above 255 bits is at most 2^19 + 1, and times 19 below 2^24.
func (f Field64) MulSmallAdd(k uint32, a, b []Op) []Register {
	MOVL(U32(k), EDX)
	r := Row(a)
	Add(r, append(b[:4:4], Imm(0)))
	return foldTop(r[:4], r[4])
}

// mask sets and returns a register of ones if the carry is set, else of zeros.
func mask() Register {
	m := GP64()
	// The result depends on the flag only: avo is told, lest it keep the
	// register alive before.
	i, err := x86.SBBQ(m, m)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true
	Instruction((*ir.Instruction)(i))
	return m
}

// foldMask returns 38 if the carry is set, else 0.
func foldMask() Register {
	m := mask()
	ANDL(U8(38), m.(GP).As32())
	return m
}

// AddReduced sets a += b for reduced a and b; a is then below 2^256.
//
// The sum is below 2^256 + 2^25. With a carry what stays is below 2^25, so that
// 38 more do not leave the lowest word.
func AddReduced(a []Register, b []Op) {
	Add(a, b)
	ADDQ(foldMask(), a[0])
}

// SubReduced sets a -= b for reduced a and b; a is then below 2^256.
//
// The difference is above -(2^255 + 2^24). With a borrow what stays is above
// 2^255 - 2^24, and 38 less is not negative.
func SubReduced(a []Register, b []Op) {
	Sub(a, b)
	Sub(a, []Op{foldMask(), Imm(0), Imm(0), Imm(0)})
}

// AddAny sets a += b for any a and b below 2^256; a is then below 2^256.
//
// The sum is at most 2^257 - 2. With a carry what stays is at most 2^256 - 2;
// 38 more may carry again, and then what stays is below 38, so that the second
// 38 do not leave the lowest word.
func AddAny(a []Register, b []Op) {
	Add(a, b)
	Add(a, []Op{foldMask(), Imm(0), Imm(0), Imm(0)})
	ADDQ(foldMask(), a[0])
}

// SubAny sets a -= b for any a and b below 2^256; a is then below 2^256.
//
// The difference is above -2^256. With a borrow what stays is at least 1; 38
// less may borrow again, and then what stays is at least 2^256 - 37, whose lowest
// word is at least 2^64 - 37, so that the second 38 do not leave it.
func SubAny(a []Register, b []Op) {
	Sub(a, b)
	Sub(a, []Op{foldMask(), Imm(0), Imm(0), Imm(0)})
	SUBQ(foldMask(), a[0])
}

// LoadWords copies operands to new registers.
func LoadWords(a []Op) []Register {
	r := NewWords(len(a))
	for i := range r {
		MOVQ(a[i], r[i])
	}
	return r
}

// StoreWords copies registers to memory.
func StoreWords(r []Register, to []Op) {
	for i := range r {
		MOVQ(r[i], to[i])
	}
}

// SelectWords sets a = b if the flag Z is clear, reading all words either way.
func SelectWords(a []Register, b []Op) {
	for i := range a {
		CMOVQNE(b[i], a[i])
	}
}

// SwapWords exchanges the registers a and b where the mask, of ones or of zeros,
// is of ones.
func SwapWords(a, b []Register, mask Register) {
	for i := range a {
		t := GP64()
		MOVQ(a[i], t)
		XORQ(b[i], t)
		ANDQ(mask, t)
		XORQ(t, a[i])
		XORQ(t, b[i])
	}
}

// Reduce makes r, any number below 2^256, canonical: below p.
//
// With q the bit 255 of r the number is (r mod 2^255) + 19·q, at most
// 2^255 + 18 < 2·p. It is at least p if 19 more reach 2^255; then that bit goes
// off and the 19 stay. Else they are taken away again.
func Reduce(r []Register) {
	q := GP64()
	MOVQ(r[3], q)
	SHRQ(U8(63), q)
	IMUL3Q(U8(19), q, q)
	ADDQ(U8(19), q)
	t := GP64()
	MOVQ(U64(1<<63-1), t)
	ANDQ(t, r[3])
	// At most 2^255 - 1 + 38: no carry leaves.
	Add(r, []Op{q, Imm(0), Imm(0), Imm(0)})
	// 19 less where that has not reached 2^255. It has not borrowed then: 19
	// have been added.
	u := GP64()
	XORL(u.(GP).As32(), u.(GP).As32())
	MOVL(U32(19), q.(GP).As32())
	TESTQ(r[3], r[3])
	CMOVQMI(u, q)
	ANDQ(t, r[3])
	Sub(r, []Op{q, Imm(0), Imm(0), Imm(0)})
}
