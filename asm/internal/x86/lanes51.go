package x86

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// Numbers modulo p = 2^255-19 in five limbs of 51 bits, several side by side: a
// vector holds one limb of each.
//
// VPMADD52LUQ and VPMADD52HUQ read 52 bits of each factor, whatever is above
// them, and add the lower or the upper half of the product to a word. So
//
//   - factors are carried: each limb below 2^52, after Carry below 2^51 + 2^18;
//   - products are wide: each limb below 2^61. Sums and differences of two wide
//     numbers, or of a wide and a carried one, are what Carry takes.
//
// The weight of an upper half, 2^52, is twice that of the next limb.

// Lanes is how many numbers stand side by side: 4 in YMM registers, 8 in ZMM
// registers.
type Lanes int

// New returns a virtual vector register.
func (l Lanes) New() VecVirtual {
	if l == 8 {
		return ZMM()
	}
	return YMM()
}

// Size returns the size of a vector in bytes.
func (l Lanes) Size() int { return 8 * int(l) }

// Vectors returns n vectors in memory as operands.
func (l Lanes) Vectors(m Mem, n int) []Op {
	ops := make([]Op, n)
	for i := range ops {
		ops[i] = m.Offset(l.Size() * i)
	}
	return ops
}

// Load copies vectors to new registers.
func (l Lanes) Load(a []Op) []Register {
	r := make([]Register, len(a))
	for i := range r {
		r[i] = l.New()
		VMOVDQU64(a[i], r[i])
	}
	return r
}

// Store copies registers to memory.
func (l Lanes) Store(r []Register, to []Op) {
	for i := range r {
		VMOVDQU64(r[i], to[i])
	}
}

// Zero returns a register of zeros.
func (l Lanes) Zero() Register {
	z := l.New()
	i, err := x86.VPXORQ(z, z, z)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true
	Instruction((*ir.Instruction)(i))
	return z
}

// A Constants51 is what a program has in static memory.
type Constants51 struct {
	Mask, Nineteen Mem
	// Bias is 2^11·p in limbs, of which each is above any of a wide number: the
	// first, and the others.
	Bias [2]Mem
}

// NewConstants51 puts the constants into static memory.
func NewConstants51() Constants51 {
	return Constants51{
		Mask:     Word("limb", 1<<51-1),
		Nineteen: Word("nineteen", 19),
		Bias:     [2]Mem{Word("bias0", 1<<11*(1<<51-19)), Word("bias", 1<<11*(1<<51-1))},
	}
}

// Word returns static memory with one word, to be broadcast.
func Word(name string, w uint64) Mem {
	m := GLOBL(name, attr.NOPTR|attr.RODATA)
	DATA(0, U64(w))
	return m
}

// A Field51 writes arithmetic of so many numbers side by side.
type Field51 struct {
	Lanes
	C Constants51
}

// Mul returns the wide product a·b of carried numbers.
//
// Column k of the schoolbook method has at most 5 lower halves, below 2^52 each,
// and 5 upper ones, which count twice: below 15·2^52. Column k+5 comes back to
// column k times 19: below 20·15·2^52 < 2^61.
func (f Field51) Mul(a, b []Op) []Register {
	x, y := f.registers(a), f.registers(b)
	var lo, hi [10]Register
	for i := range x {
		for j := range y {
			f.addProduct(VPMADD52LUQ, &lo[i+j], x[i], y[j])
			f.addProduct(VPMADD52HUQ, &hi[i+j], x[i], y[j])
		}
	}
	for k := 1; k < 10; k++ {
		if lo[k] == nil { // the upper half of the last product alone
			lo[k] = hi[k-1]
			VPADDQ(lo[k], lo[k], lo[k])
			continue
		}
		VPADDQ(hi[k-1], hi[k-1], hi[k-1])
		VPADDQ(hi[k-1], lo[k], lo[k])
	}
	return f.foldColumns(&lo)
}

// Square returns the wide square of a carried number, with the bounds of Mul.
//
//	column      1     2     3     4     5     6     7     8
//	a0        a0·a1 a0·a2 a0·a3 a0·a4
//	a1                    a1·a2 a1·a3 a1·a4
//	a2                                a2·a3 a2·a4
//	a3                                            a3·a4
//
// once, then twice with the upper halves of the squares, which count twice
// anyway, then the lower halves of the squares.
func (f Field51) Square(a []Op) []Register {
	x := f.registers(a)
	var lo, hi [10]Register
	for i := range x {
		for j := i + 1; j < 5; j++ {
			f.addProduct(VPMADD52LUQ, &lo[i+j], x[i], x[j])
			f.addProduct(VPMADD52HUQ, &hi[i+j], x[i], x[j])
		}
	}
	for i := range x {
		f.addProduct(VPMADD52HUQ, &lo[2*i+1], x[i], x[i])
	}
	for k := 1; k < 10; k++ {
		if k > 1 && hi[k-1] != nil {
			VPADDQ(hi[k-1], hi[k-1], hi[k-1])
			if lo[k] == nil {
				lo[k] = hi[k-1]
			} else {
				VPADDQ(hi[k-1], lo[k], lo[k])
			}
		}
		VPADDQ(lo[k], lo[k], lo[k])
	}
	for i := range x {
		f.addProduct(VPMADD52LUQ, &lo[2*i], x[i], x[i])
	}
	return f.foldColumns(&lo)
}

// addProduct adds half of a product to *to, which is zero if it is nil.
func (f Field51) addProduct(op func(...Op), to *Register, a, b Register) {
	if *to == nil {
		*to = f.Zero()
	}
	op(b, a, *to)
}

// foldColumns adds 19 times the columns from 5 on to those from 0 on.
func (f Field51) foldColumns(c *[10]Register) []Register {
	for k := range 5 {
		high := c[k+5]
		t := f.New()
		VPADDQ(high, c[k], c[k])
		VPADDQ(high, high, t)
		VPADDQ(t, c[k], c[k])
		VPSLLQ(U8(4), high, high)
		VPADDQ(high, c[k], c[k])
	}
	return c[:5:5]
}

// registers returns registers with the vectors of a.
func (f Field51) registers(a []Op) []Register {
	r := make([]Register, len(a))
	for i := range a {
		if v, ok := a[i].(Register); ok {
			r[i] = v
		} else {
			r[i] = f.New()
			VMOVDQU64(a[i], r[i])
		}
	}
	return r
}

// Carry moves what each limb has above 51 bits to the next, all at a time, and 19
// times what the last has to the first. What moves is below 2^13.
func (f Field51) Carry(r []Register) {
	up := make([]Register, 5)
	for i := range r {
		up[i] = f.New()
		VPSRLQ(U8(51), r[i], up[i])
		VPANDQ_BCST(f.C.Mask, r[i], r[i])
	}
	VPMADD52LUQ_BCST(f.C.Nineteen, up[4], r[0])
	for i := 1; i < 5; i++ {
		VPADDQ(up[i-1], r[i], r[i])
	}
}

// Add returns a + b without a carry.
func (f Field51) Add(a []Register, b []Op) []Register {
	r := make([]Register, 5)
	for i := range r {
		r[i] = f.New()
		VPADDQ(b[i], a[i], r[i])
	}
	return r
}

// Sub returns 2^11·p + a - b without a carry.
func (f Field51) Sub(a []Register, b []Op) []Register {
	r := make([]Register, 5)
	for i := range r {
		r[i] = f.New()
		VPADDQ_BCST(f.C.Bias[min(i, 1)], a[i], r[i])
		VPSUBQ(b[i], r[i], r[i])
	}
	return r
}

// MulSmallAdd returns k·a + b without a carry, for a carried a and a factor k in
// static memory, below 2^18.
//
// The lower half of a product is below 2^52, the upper one below 2^18.
func (f Field51) MulSmallAdd(k Mem, a []Op, b []Register) []Register {
	factor := f.New()
	VPBROADCASTQ(k, factor)
	x := f.registers(a)
	top := f.Zero()
	VPMADD52HUQ(factor, x[4], top)
	VPADDQ(top, top, top)
	for i := range b {
		VPMADD52LUQ(factor, x[i], b[i])
		if i > 0 {
			VPMADD52HUQ(factor, x[i-1], b[i])
			VPMADD52HUQ(factor, x[i-1], b[i])
		}
	}
	VPMADD52LUQ_BCST(f.C.Nineteen, top, b[0])
	return b
}

// AlignedFrame returns memory of size bytes on the stack, aligned to 64 bytes,
// which Go's stacks are not.
func AlignedFrame(size int) Mem {
	frame := AllocLocal(size + 56)
	base := GP64()
	LEAQ(frame, base)
	ADDQ(U8(56), base)
	ANDQ(I8(-64), base)
	return Mem{Base: base}
}
