// Command doublebase writes the kernels of signature verification.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/edwards"
	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	d2 = GLOBL("d2", attr.NOPTR|attr.RODATA)
	for i, w := range [...]uint64{0xebd69b9426b2f159, 0x00e0149a8283b156, 0x198e80f2eef3d130, 0x2406d9dc56dffce7} {
		DATA(8*i, U64(w))
	}
	oddMultiples()
	evaluate(Kernel{
		Name:      "varTimeDoubleBaseMULX",
		Signature: "func(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64)",
		Twin:      "varTimeDoubleBaseGeneric",
	}, true)
	evaluate(Kernel{
		Name:      "varTimeWideDoubleBaseMULX",
		Signature: "func(out *[4][4]uint64, steps *[96]uint32, n int, a *[64][12]uint64, b *[256][12]uint64)",
		Twin:      "varTimeWideDoubleBaseGeneric",
	}, false)
	Generate()
}

// d2 is twice the d of the curve, modulo 2^255-19.
var d2 Mem

// pointAt returns the point whose coordinates follow one another behind the
// pointer at m.
func pointAt(m Mem) Point {
	return Point{X: Behind(m, 0), Y: Behind(m, 32), Z: Behind(m, 64), T: Behind(m, 96)}
}

// spill stores a parameter on the stack.
func spill(param string) Mem {
	m := AllocLocal(8)
	MOVQ(Load(Param(param), GP64()), m)
	return m
}

// Sizes of the forms of points in memory.
const (
	cachedSize = 128
	nielsSize  = 96
)

func oddMultiples() {
	Kernel{
		Name:      "oddMultiplesMULX",
		Signature: "func(table *[8][16]uint64, p *[4][4]uint64)",
		Formula:   "sets table to 1, 3, ..., 15 times the point p",
		Bounds: []string{
			"p has the coordinates X, Y, Z and T = X·Y/Z, below 2^255 + 2^199; the entries of table",
			"Y+X, Y-X, 2Z and 2dT, below 2^256, and modulo 2^255-19 those of the twin.",
			"table and p do not overlap.",
		},
		Timing: "Constant time.",
		Stack:  "Stack: 600 bytes.",
		Twin:   "oddMultiplesGeneric",
		Split:  true,
	}.Begin()
	law := NewLaw(Field64{})
	r := Completed{X: Local(), Y: Local(), Z: Local(), T: Local()}
	twice, p := NewPoint(), NewPoint()
	given, entry := spill("p"), spill("table")
	count := AllocLocal(8)
	at := Cached{YPlusX: Behind(entry, 0), YMinusX: Behind(entry, 32), Z2: Behind(entry, 64), T2d: Behind(entry, 96)}

	Comment("1 times p; 2 times p")
	copyPoint(p, pointAt(given))
	law.Cache(at, p, At(d2))
	law.Double(r, p)
	law.Extend(twice, r)
	MOVQ(U32(7), count)

	Label("next")
	law.Add(r, twice, at, false)
	law.Extend(p, r)
	ADDQ(U32(cachedSize), entry)
	law.Cache(at, p, At(d2))
	DECQ(count)
	JNZ(LabelRef("next"))
	RET()
}

func copyPoint(to, from Point) {
	Copy(to.X, from.X)
	Copy(to.Y, from.Y)
	Copy(to.Z, from.Z)
	Copy(to.T, from.T)
}

// Fields of a step, by their lowest bits.
const (
	stepDoublings = 0 // 8 bits
	stepB         = 8
	stepNegative  = 9
	stepEntry     = 16
)

// evaluate writes an evaluation of a sum of multiples, of which those of the
// first table are cached points or, like those of the second, niels points.
func evaluate(k Kernel, cached bool) {
	k.Formula = "evaluates steps[:n], beginning with the identity"
	k.Bounds = []string{
		"A step doubles as often as its bits 0 to 7 say; then all but the last add, or with bit 9 subtract,",
		"the entry that is in bits 16 to 31, of a or with bit 8 of b. n is in 1..96.",
		"Entries may be any numbers below 2^256; out has X, Y, Z and T = X·Y/Z, below 2^255 + 2^199,",
		"and modulo 2^255-19 those of the twin.",
		"out does not overlap the inputs.",
	}
	k.Timing = "Variable time in steps and n."
	k.Stack = "Stack: 520 bytes."
	k.Split = true
	k.Begin()

	law := NewLaw(Field64{})
	p := NewPoint()
	zt := AllocLocal(64)
	r := Completed{X: Local(), Y: Local(), Z: At(zt), T: At(zt.Offset(32))}
	steps, count := spill("steps"), spill("n")
	turns := AllocLocal(8)
	// The entry; its coordinates Y+X and Y-X in the order of the sign; what that
	// moves them, and its negative.
	entry, plus, minus, sign, back := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)

	Comment("the identity, with X and Y of r, from which T comes")
	zero, one := GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVL(U32(1), one.As32())
	for i := range 4 {
		MOVQ(zero, p.X.Words()[i])
		MOVQ(zero, r.X.Words()[i])
		first := zero
		if i == 0 {
			first = one
		}
		MOVQ(first, p.Y.Words()[i])
		MOVQ(first, p.Z.Words()[i])
		MOVQ(first, r.Y.Words()[i])
	}

	Label("step")
	w := loadStep(steps)
	d := GP64()
	MOVBQZX(w.As8(), d)
	MOVQ(d, turns)
	TESTQ(d, d)
	JZ(LabelRef("add"))
	Label("double")
	law.Double(r, p)
	law.Project(p, r)
	DECQ(turns)
	JNZ(LabelRef("double"))

	Label("add")
	DECQ(count)
	JZ(LabelRef("end"))
	w = loadStep(steps)
	ADDQ(U8(4), steps)

	Comment("a sign exchanges the first two coordinates of the entry, and the last two of the result")
	s := GP64()
	MOVQ(w, s)
	SHRQ(U8(stepNegative-5), s)
	ANDL(U8(32), s.As32())
	MOVQ(s, sign)
	signed := Completed{X: r.X, Y: r.Y, Z: Moved(zt, sign), T: Moved(zt.Offset(32), back)}
	find := func(param string, size uint64) {
		i := GP64()
		MOVQ(w, i)
		SHRQ(U8(stepEntry), i)
		IMUL3Q(U8(size), i, i)
		q := Load(Param(param), GP64())
		ADDQ(i, q)
		MOVQ(q, entry)
		ADDQ(s, q)
		MOVQ(q, plus)
		NEGQ(s)
		MOVQ(s, back)
		LEAQ(Mem{Base: q, Index: s, Scale: 2, Disp: 32}, q)
		MOVQ(q, minus)
	}
	yPlusX, yMinusX, z2, t2d := Behind(plus, 0), Behind(minus, 0), Behind(entry, 64), Behind(entry, 96)

	BTL(U8(stepB), w.As32())
	JCS(LabelRef("b"))
	if cached {
		find("a", cachedSize)
		law.Add(signed, p, Cached{YPlusX: yPlusX, YMinusX: yMinusX, Z2: z2, T2d: t2d}, true)
		JMP(LabelRef("added"))
	} else {
		find("a", nielsSize)
		JMP(LabelRef("niels"))
	}
	Label("b")
	find("b", nielsSize)
	Label("niels")
	law.AddNiels(signed, p, Niels{YPlusX: yPlusX, YMinusX: yMinusX, T2d: Behind(entry, 64)}, true)
	Label("added")
	law.Project(p, r)
	JMP(LabelRef("step"))

	Label("end")
	law.SetT(p, r)
	copyPoint(pointAt(spill("out")), p)
	RET()
}

// loadStep returns the step at the pointer at m.
func loadStep(m Mem) GPVirtual {
	p, w := GP64(), GP64()
	MOVQ(m, p)
	MOVL(Mem{Base: p}, w.As32())
	return w
}
