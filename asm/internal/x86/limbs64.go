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
// everything here. Reduced are those below 2^255 + 2^199, which multiplications
// leave: sums and differences of two of them are cheaper. Since 2^256 = 38 and
// 2^255 = 19 modulo p, what leaves the top of a number comes back at its bottom
// times 38 or 19. It comes back through all four words: that a carry ends in the
// lowest one needs a proof, which the functions that rely on it give.
//
// An operand is four words in registers or memory.

// A Field64 writes multiplications modulo 2^255-19.
type Field64 struct {
	// ADX makes the rows of products two interleaved chains of ADCX and ADOX;
	// without it they are chains of ADD and ADC.
	ADX bool
}

// Steps write a computation in parts. Between two parts it needs neither a flag
// nor RDX, and four registers.
type Steps []func()

// Interleave writes computations in turns, part by part, so that the processor
// finds independent instructions close together: those of one multiplication
// depend on each other too much to keep it busy.
func Interleave(computations ...Steps) {
	for i, left := 0, true; left; i++ {
		left = false
		for _, c := range computations {
			if i < len(c) {
				c[i]()
				left = true
			}
		}
	}
}

// Mul returns a·b, reduced. It sets RDX. a and b may be any numbers below 2^256.
func (f Field64) Mul(a, b []Op) []Register {
	var r []Register
	Interleave(f.mul(&r, a, b, nil))
	return r
}

// Square returns a², reduced. It sets RDX. a may be any number below 2^256.
func (f Field64) Square(a []Op) []Register {
	var r []Register
	Interleave(f.square(&r, a, nil))
	return r
}

// MulSteps computes Mul into memory, which may be that of an operand. Scratch is
// memory of four words that nothing else uses meanwhile.
func (f Field64) MulSteps(out, a, b, scratch []Op) Steps {
	var r []Register
	return append(f.mul(&r, a, b, scratch), func() { StoreWords(r, out) })
}

// SquareSteps computes Square into memory, like MulSteps.
func (f Field64) SquareSteps(out, a, scratch []Op) Steps {
	var r []Register
	return append(f.square(&r, a, scratch), func() { StoreWords(r, out) })
}

// mul multiplies by rows: RDX holds a word of a. With scratch the words that no
// row changes any more wait there for the end.
func (f Field64) mul(out *[]Register, a, b, scratch []Op) Steps {
	var low []Op
	var r []Register // the five words at weight 2^(64·i)
	row := func(i int) func() {
		return func() {
			MOVQ(a[i], RDX)
			if i == 0 {
				r = Row(b)
			} else {
				r = f.addRow(r, b)
			}
			low = append(low, keep(r[0], scratch, i))
			r = r[1:]
		}
	}
	return Steps{row(0), row(1), row(2), row(3), func() { *out = fold(low, r) }}
}

// keep returns r, or the word i of scratch, if there is one, with r in it.
func keep(r Register, scratch []Op, i int) Op {
	if scratch == nil {
		return r
	}
	MOVQ(r, scratch[i])
	return scratch[i]
}

// addRow returns r + RDX·b, a word longer. r and b have four words.
//
// r + RDX·b <= 2^256 - 1 + (2^64 - 1)·(2^256 - 1) < 2^320, so that no carry
// leaves the new word.
func (f Field64) addRow(r []Register, b []Op) []Register {
	h := NewWords(4)
	if f.ADX {
		zero := GP64()
		XORL(zero.As32(), zero.As32())
		for i := range b {
			lo := GP64()
			MULXQ(b[i], lo, h[i])
			ADCXQ(lo, r[i])
			if i < 3 {
				ADOXQ(h[i], r[i+1])
			}
		}
		ADCXQ(zero, h[3])
		ADOXQ(zero, h[3])
	} else {
		addLow(Ops(r), h, b)
		Add(r[1:], Ops(h[:3]))
		ADCQ(Imm(0), h[3])
	}
	return append(r[:4:4], h[3])
}

// addLow adds the low halves of the products RDX·b to r, and the carry to the
// last of the high halves, which it puts into h: they are at most 2^64 - 2.
func addLow(r []Op, h []Register, b []Op) (sum []Register) {
	for i := range b {
		lo := GP64()
		MULXQ(b[i], lo, h[i])
		to, from := lo, r[i]
		if w, ok := r[i].(Register); ok {
			to, from = w.(GPVirtual), lo
		}
		if i == 0 {
			ADDQ(from, to)
		} else {
			ADCQ(from, to)
		}
		sum = append(sum, to)
	}
	ADCQ(Imm(0), h[len(b)-1])
	return sum
}

// square has ten products, those of different words by rows:
//
//	word      1     2     3     4     5     6
//	a0        a0·a1 a0·a2 a0·a3
//	a1                    a1·a2 a1·a3
//	a2                                a2·a3
//
// Each product has the word below which it stands and the next one. Their sum is
// below 2^512/2, so that neither it nor its double leaves word 7; the chains drop
// zeros only.
func (f Field64) square(out *[]Register, a, scratch []Op) Steps {
	r := make([]Register, 8)
	var low []Op
	return Steps{func() {
		MOVQ(a[0], RDX)
		copy(r[1:], Row(a[1:]))
		low = []Op{nil, keep(r[1], scratch, 1), keep(r[2], scratch, 2)}
		MOVQ(a[1], RDX)
		s := Row(a[2:])
		r[5] = s[2]
		ADDQ(s[0], r[3])
		ADCQ(s[1], r[4])
		ADCQ(Imm(0), r[5])
		MOVQ(a[2], RDX)
		lo := GP64()
		r[6] = GP64()
		MULXQ(a[3], lo, r[6])
		ADDQ(lo, r[5])
		ADCQ(Imm(0), r[6])
	}, func() {
		if scratch != nil {
			copy(r[1:], LoadWords(low[1:]))
		}
		f.doubleAndAddSquares(r, a)
		low = nil
		for i := range 4 {
			low = append(low, keep(r[i], scratch, i))
		}
	}, func() { *out = fold(low, r[4:]) }}
}

// doubleAndAddSquares sets r to twice r, whose words 0 and 7 are zero and not
// set, and the squares of the words of a: r becomes a².
func (f Field64) doubleAndAddSquares(r []Register, a []Op) {
	r[0], r[7] = GP64(), GP64()
	double, add := ADDQ, ADDQ
	if f.ADX {
		XORL(r[7].(GP).As32(), r[7].(GP).As32())
		double, add = ADCXQ, ADOXQ
	} else {
		for i := 1; i < 7; i++ {
			double(r[i], r[i])
			double = ADCQ
		}
		MOVL(U32(0), r[7].(GP).As32()) // not XOR, which would clear the carry
		double(r[7], r[7])
	}
	for i := range 4 {
		MOVQ(a[i], RDX)
		lo, hi := GP64(), GP64()
		if i == 0 {
			MULXQ(RDX, r[0], hi)
		} else {
			MULXQ(RDX, lo, hi)
			if f.ADX {
				double(r[2*i], r[2*i])
			}
			add(lo, r[2*i])
		}
		if f.ADX {
			double(r[2*i+1], r[2*i+1])
		}
		add(hi, r[2*i+1])
		if !f.ADX {
			add = ADCQ
		}
	}
}

// fold returns low + 2^256·high modulo p, reduced: below 2^255 + 2^198. It sets
// RDX.
//
// low + 38·high is taken apart at 255 bits, with the high halves h0..h2 of the
// products left for the end. These are at most 37, since the other factor is 38;
// h3 with the carry is at most 38, so that q is at most 77, and 19·q below 2^11.
// The last sum is below 2^255 + 38·2^192: no carry leaves.
func fold(low []Op, high []Register) []Register {
	MOVL(U32(38), EDX)
	h := NewWords(4)
	r := addLow(low, h, Ops(high))
	q := h[3]
	ADDQ(r[3], r[3])
	ADCQ(q, q)
	SHRQ(U8(1), r[3])
	IMUL3Q(U8(19), q, q)
	Add(r, []Op{q, h[0], h[1], h[2]})
	return r
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
// The sum is below 2^256 + 2^200. With a carry what stays is below 2^200, so that
// 38 more do not leave the highest word; they may leave the lowest.
func AddReduced(a []Register, b []Op) {
	Add(a, b)
	Add(a, []Op{foldMask(), Imm(0), Imm(0), Imm(0)})
}

// SubReduced sets a -= b for reduced a and b; a is then below 2^256.
//
// The difference is above -(2^255 + 2^199). With a borrow what stays is above
// 2^255 - 2^199, and 38 less is not negative.
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
