package curve

import (
	"math/big"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

// A scalarKernels names the functions of one tier.
type scalarKernels struct {
	name       string
	mulAdd     func(out, a, b, c *[4]uint64)
	reduceWide func(out *[4]uint64, x *[8]uint64)

	// Loops of n calls, for the benchmarks.
	mulAddN     func(out, a, b, c *[4]uint64, n int)
	reduceWideN func(out *[4]uint64, x *[8]uint64, n int)
}

func scalarTiers() []scalarKernels {
	return append([]scalarKernels{{
		"generic", scalarMulAddGeneric, scalarReduceWideGeneric,
		func(out, a, b, c *[4]uint64, n int) {
			for range n {
				scalarMulAddGeneric(out, a, b, c)
			}
		},
		func(out *[4]uint64, x *[8]uint64, n int) {
			for range n {
				scalarReduceWideGeneric(out, x)
			}
		},
	}}, scalarAssembly()...)
}

// Each kernel by name against its twin and math/big, on inputs up to the largest
// that the bounds allow.
func TestScalarKernels(t *testing.T) {
	if len(scalarAssembly()) == 0 {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required, and no kernel may run")
		}
		t.Log("no kernel may run here: only the generic code is tested")
	}
	edges := edgeWords()
	for _, k := range scalarTiers() {
		t.Run(k.name, func(t *testing.T) {
			largest := bitPatterns()[15]
			for _, n := range wideEdges() {
				checkReduceWide(t, k, [8]uint64(toWords(n, 8)))
				// The same number as a product and a sum.
				b, c := new(big.Int).DivMod(n, bigWords(largest[:]...), new(big.Int))
				if b.BitLen() <= 256 {
					checkMulAdd(t, k, largest, [4]uint64(toWords(b, 4)), [4]uint64(toWords(c, 4)))
				}
			}
			r := scalarRand(7)
			for _, a := range edges {
				b := edges[r.IntN(len(edges))]
				c := edges[r.IntN(len(edges))]
				checkMulAdd(t, k, a, b, c)
				checkMulAdd(t, k, a, a, a)
			}
			// Words of zeros and ones in every pattern.
			patterns := bitPatterns()
			for _, a := range patterns {
				for _, b := range patterns {
					for _, c := range patterns {
						checkMulAdd(t, k, a, b, c)
					}
				}
			}
			rounds := 20_000
			if testing.Short() {
				rounds = 1000
			}
			for range rounds {
				x, y := weirdWords(r), weirdWords(r)
				checkReduceWide(t, k, x)
				checkMulAdd(t, k, [4]uint64(x[:4]), [4]uint64(x[4:]), [4]uint64(y[:4]))
			}
		})
	}
}

func checkReduceWide(t *testing.T, k scalarKernels, x [8]uint64) {
	t.Helper()
	want := modOrder(bigWords(x[:]...))
	out := [6]uint64{11, 1, 2, 3, 4, 12}
	in := x
	k.reduceWide((*[4]uint64)(out[1:]), &in)
	if bigWords(out[1:5]...).Cmp(want) != 0 || out[0] != 11 || out[5] != 12 || in != x {
		t.Fatalf("reduceWide(%x) = %x, want %x", x, out, want)
	}
	var twin [4]uint64
	scalarReduceWideGeneric(&twin, &x)
	if twin != [4]uint64(out[1:]) {
		t.Fatalf("reduceWide(%x) = %x, the twin gives %x", x, out, twin)
	}
	for at := range 5 { // the result within the input
		in := x
		k.reduceWide((*[4]uint64)(in[at:]), &in)
		if [4]uint64(in[at:]) != twin {
			t.Fatalf("reduceWide(%x) to word %d of it gives %x, want %x", x, at, in, twin)
		}
	}
}

func checkMulAdd(t *testing.T, k scalarKernels, a, b, c [4]uint64) {
	t.Helper()
	want := new(big.Int).Mul(bigWords(a[:]...), bigWords(b[:]...))
	modOrder(want.Add(want, bigWords(c[:]...)))
	out := [6]uint64{11, 1, 2, 3, 4, 12}
	x, y, z := a, b, c
	k.mulAdd((*[4]uint64)(out[1:]), &x, &y, &z)
	if bigWords(out[1:5]...).Cmp(want) != 0 || out[0] != 11 || out[5] != 12 || x != a || y != b || z != c {
		t.Fatalf("mulAdd(%x, %x, %x) = %x, want %x", a, b, c, out, want)
	}
	var twin [4]uint64
	scalarMulAddGeneric(&twin, &a, &b, &c)
	if twin != [4]uint64(out[1:]) {
		t.Fatalf("mulAdd(%x, %x, %x) = %x, the twin gives %x", a, b, c, out, twin)
	}
	k.mulAdd(&x, &x, &y, &z)
	k.mulAdd(&y, &a, &y, &z)
	k.mulAdd(&z, &a, &b, &z)
	if x != twin || y != twin || z != twin {
		t.Fatalf("mulAdd(%x, %x, %x) in place gives %x, %x, %x", a, b, c, x, y, z)
	}
}

// FuzzScalar compares every tier with math/big on any words.
func FuzzScalar(f *testing.F) {
	f.Add(make([]byte, 96))
	ones := make([]byte, 96)
	for i := range ones {
		ones[i] = 0xff
	}
	f.Add(ones)
	f.Fuzz(func(t *testing.T, b []byte) {
		var w [12]uint64
		for i, v := range b {
			if i < 96 {
				w[i/8] |= uint64(v) << (8 * (i % 8))
			}
		}
		for _, k := range scalarTiers() {
			checkReduceWide(t, k, [8]uint64(w[:]))
			checkMulAdd(t, k, [4]uint64(w[:]), [4]uint64(w[4:]), [4]uint64(w[8:]))
		}
	})
}
