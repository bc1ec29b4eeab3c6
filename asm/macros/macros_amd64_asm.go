// Command macros writes the arithmetic of package x86 as functions, one each,
// for the tests of this module. No package has them.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	f := Field64{}
	macro("mul", func(a, b []Op) []Register { return f.Mul(a, b) })
	macro("square", func(a, _ []Op) []Register { return f.Square(a) })
	macro("mulSmallAdd", func(a, b []Op) []Register { return f.MulSmallAdd(121666, a, b) })
	macro("mulLargestAdd", func(a, b []Op) []Register { return f.MulSmallAdd(1<<18-1, a, b) })
	macro("addReduced", inPlace(AddReduced))
	macro("subReduced", inPlace(SubReduced))
	macro("addAny", inPlace(AddAny))
	macro("subAny", inPlace(SubAny))
	macro("reduce", inPlace(func(a []Register, _ []Op) { Reduce(a) }))
	macro("oneWordFold", inPlace(oneWordFold))
	steps("mulSteps", func(out, a, b, scratch []Op) Steps { return f.MulSteps(out, a, b, scratch) })
	steps("squareSteps", func(out, a, _, scratch []Op) Steps { return f.SquareSteps(out, a, scratch) })
	Generate()
}

// begin starts a function whose arguments are copied to the stack, where the
// kernels have their numbers.
func begin(name string) (a, b []Op) {
	TEXT(name, 0, "func(out, a, b *[4]uint64)")
	for _, param := range []string{"a", "b"} {
		n := Memory(AllocLocal(32), 4)
		p := Load(Param(param), GP64())
		StoreWords(LoadWords(Memory(Mem{Base: p}, 4)), n)
		if param == "a" {
			a = n
		} else {
			b = n
		}
	}
	return a, b
}

func end(r []Register) {
	out := Load(Param("out"), GP64())
	StoreWords(r, Memory(Mem{Base: out}, 4))
	RET()
}

func macro(name string, f func(a, b []Op) []Register) {
	a, b := begin(name)
	end(f(a, b))
}

// steps computes a·b or a² into a, and beside it, in turns, into b.
func steps(name string, f func(out, a, b, scratch []Op) Steps) {
	a, b := begin(name)
	Interleave(
		f(a, a, b, Memory(AllocLocal(32), 4)),
		f(Memory(AllocLocal(32), 4), b, a, Memory(AllocLocal(32), 4)),
	)
	end(LoadWords(a))
}

func inPlace(f func(a []Register, b []Op)) func(a, b []Op) []Register {
	return func(a, b []Op) []Register {
		r := LoadWords(a)
		f(r, b)
		return r
	}
}

// oneWordFold is AddReduced with the error that random numbers do not find.
func oneWordFold(a []Register, b []Op) {
	Add(a, b)
	m := GP64()
	MOVL(U32(0), m.As32())
	n := GP64()
	MOVL(U32(38), n.As32())
	CMOVQCS(n, m)
	ADDQ(m, a[0])
}
