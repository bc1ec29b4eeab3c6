//go:build !purego

package field

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/testvec"
)

// mutantRounds is how many random inputs tell a changed kernel from the true one.
const mutantRounds = 400

// What the functions named for a kernel say of one that has changed: whether the
// self-test notices, and whether some inputs give other results. The test of
// package asm that drops each carry of a kernel calls them.

func feMulMULXMutant(f func(out, a, b *[5]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(1, 1))
	for range mutantRounds {
		a, b := weirdLimbs(r), weirdLimbs(r)
		var got, want [5]uint64
		f(&got, &a, &b)
		feMulMULX(&want, &a, &b)
		differs = differs || got != want
	}
	return !selfTest(f, feSquareMULX, feSquareNMULX), differs
}

func feSquareMULXMutant(f func(out, a *[5]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(1, 2))
	for range mutantRounds {
		a := weirdLimbs(r)
		var got, want [5]uint64
		f(&got, &a)
		feSquareMULX(&want, &a)
		differs = differs || got != want
	}
	return !selfTest(feMulMULX, f, feSquareNMULX), differs
}

func feSquareNMULXMutant(f func(out, a *[5]uint64, n int)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(1, 3))
	for i := range mutantRounds {
		a := weirdLimbs(r)
		var got, want [5]uint64
		f(&got, &a, 1+i%3)
		feSquareNMULX(&want, &a, 1+i%3)
		differs = differs || got != want
	}
	return !selfTest(feMulMULX, feSquareMULX, f), differs
}

// weirdLimbs returns limbs in the range of the kernels' inputs, half of them at
// its ends.
func weirdLimbs(r *rand.Rand) (l [5]uint64) {
	for i := range l {
		l[i] = testvec.WeirdLimb(r, 52)
	}
	return l
}

func TestSelfTest(t *testing.T) {
	if !selfTest(feMulGeneric, feSquareGeneric, feSquareNGeneric) {
		t.Error("the twins fail")
	}
	if !cpu.MULX {
		t.Skip(cpu.Reason("mulx"))
	}
	if noticed, differs := feMulMULXMutant(feMulMULX); noticed || differs {
		t.Error("the kernel of Multiply fails")
	}
	if noticed, differs := feSquareMULXMutant(feSquareMULX); noticed || differs {
		t.Error("the kernel of Square fails")
	}
	if noticed, differs := feSquareNMULXMutant(feSquareNMULX); noticed || differs {
		t.Error("the kernel of SquareN fails")
	}
	// Kernels that lie in one bit, for some inputs only: those whose limb 2
	// carries into limb 3.
	lie := func(out, a *[5]uint64) {
		out[0] ^= (a[2]>>51 ^ a[2]>>50) & 1
	}
	if noticed, differs := feMulMULXMutant(func(out, a, b *[5]uint64) { x := *a; feMulMULX(out, a, b); lie(out, &x) }); !noticed || !differs {
		t.Error("a lie of Multiply is not noticed")
	}
	if noticed, differs := feSquareMULXMutant(func(out, a *[5]uint64) { x := *a; feSquareMULX(out, a); lie(out, &x) }); !noticed || !differs {
		t.Error("a lie of Square is not noticed")
	}
	if noticed, differs := feSquareNMULXMutant(func(out, a *[5]uint64, n int) { x := *a; feSquareNMULX(out, a, n); lie(out, &x) }); !noticed || !differs {
		t.Error("a lie of SquareN is not noticed")
	}
}

// A build without generic code refuses to compute where the kernels must not
// run, rather than to give wrong results.
func TestRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { mulxRefused = r }(mulxRefused)
	mulxRefused = true
	v := new(Element).One()
	mustPanic(t, "Multiply", func() { v.Multiply(v, v) })
	mustPanic(t, "Square", func() { v.Square(v) })
	mustPanic(t, "SquareN", func() { v.SquareN(v, 2) })
}
