//go:build !purego

package curve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/testvec"
)

func scalarAssembly() []scalarKernels {
	if !cpu.MULX {
		return nil
	}
	return []scalarKernels{{
		"mulx", scalarMulAddMULX, scalarReduceWideMULX,
		func(out, a, b, c *[4]uint64, n int) {
			for range n {
				scalarMulAddMULX(out, a, b, c)
			}
		},
		func(out *[4]uint64, x *[8]uint64, n int) {
			for range n {
				scalarReduceWideMULX(out, x)
			}
		},
	}}
}

// mutantRounds is how many random inputs tell a changed kernel from the true one.
const mutantRounds = 400

// What the functions named for a kernel say of one that has changed: whether the
// self-test notices, and whether some inputs give other results. The test of
// package asm that drops each carry of a kernel calls them.

func scalarMulAddMULXMutant(f func(out, a, b, c *[4]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 1))
	for range mutantRounds {
		a, b, c := mutantWords(r), mutantWords(r), mutantWords(r)
		var got, want [4]uint64
		f(&got, &a, &b, &c)
		scalarMulAddMULX(&want, &a, &b, &c)
		differs = differs || got != want
	}
	return !selfTestScalar(f, scalarReduceWideMULX), differs
}

func scalarReduceWideMULXMutant(f func(out *[4]uint64, x *[8]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 2))
	for range mutantRounds {
		low, high := mutantWords(r), mutantWords(r)
		x := [8]uint64(slices.Concat(low[:], high[:]))
		var got, want [4]uint64
		f(&got, &x)
		scalarReduceWideMULX(&want, &x)
		differs = differs || got != want
	}
	return !selfTestScalar(scalarMulAddMULX, f), differs
}

// mutantWords returns words of which half are special.
func mutantWords(r *rand.Rand) (w [4]uint64) {
	for i := range w {
		w[i] = testvec.WeirdUint64(r)
	}
	return w
}

func TestScalarSelfTest(t *testing.T) {
	if !selfTestScalar(scalarMulAddGeneric, scalarReduceWideGeneric) {
		t.Error("the twins fail")
	}
	if !cpu.MULX {
		t.Skip(cpu.Reason("mulx"))
	}
	if noticed, differs := scalarMulAddMULXMutant(scalarMulAddMULX); noticed || differs {
		t.Error("the kernel of MultiplyAdd fails")
	}
	if noticed, differs := scalarReduceWideMULXMutant(scalarReduceWideMULX); noticed || differs {
		t.Error("the kernel of the reduction fails")
	}
	// Kernels that lie in one bit, for half of the inputs.
	if noticed, differs := scalarMulAddMULXMutant(func(out, a, b, c *[4]uint64) {
		lie := a[0] & b[3] >> 63
		scalarMulAddMULX(out, a, b, c)
		out[3] ^= lie
	}); !noticed || !differs {
		t.Error("a lie of MultiplyAdd is not noticed")
	}
	if noticed, differs := scalarReduceWideMULXMutant(func(out *[4]uint64, x *[8]uint64) {
		lie := x[7] >> 63
		scalarReduceWideMULX(out, x)
		out[0] ^= lie << 40
	}); !noticed || !differs {
		t.Error("a lie of the reduction is not noticed")
	}
}

// A build without generic code refuses to compute where the kernels must not
// run.
func TestScalarRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { scalarMULXRefused = r }(scalarMULXRefused)
	scalarMULXRefused = true
	for name, f := range map[string]func(){
		"Multiply":        func() { new(Scalar).Multiply(new(Scalar), new(Scalar)) },
		"SetUniformBytes": func() { new(Scalar).SetUniformBytes(make([]byte, 64)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
