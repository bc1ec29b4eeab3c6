package field

import (
	"math/big"
	"os"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// An invertKernel names the function of one tier.
type invertKernel struct {
	name string
	f    func(out, a *[4]uint64)
}

func bigWords(w *[4]uint64) *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w[i]))
	}
	return n
}

func wordsOf(n *big.Int) (w [4]uint64) {
	low := new(big.Int).SetUint64(1<<64 - 1)
	for i := range w {
		w[i] = new(big.Int).And(new(big.Int).Rsh(n, uint(64*i)), low).Uint64()
	}
	return w
}

// invertEdges are words of zeros and ones in every pattern, what lies around the
// multiples of p and the powers of two, inverses of small numbers, and ratios to p
// for which algorithms like this one take long.
func invertEdges() (edges [][4]uint64) {
	for pattern := range 16 {
		var a [4]uint64
		for i := range a {
			a[i] = -uint64(pattern >> i & 1)
		}
		edges = append(edges, a)
	}
	add := func(n *big.Int) {
		if n.Sign() >= 0 && n.BitLen() <= 256 {
			edges = append(edges, wordsOf(n))
		}
	}
	for d := int64(-40); d <= 40; d++ {
		for _, n := range []*big.Int{new(big.Int), p, new(big.Int).Lsh(p, 1), new(big.Int).Rsh(p, 1)} {
			add(new(big.Int).Add(n, big.NewInt(d)))
		}
		if n := new(big.Int).Mod(big.NewInt(d), p); n.Sign() != 0 {
			add(n.ModInverse(n, p))
		}
	}
	for bit := uint(0); bit <= 256; bit++ {
		for d := int64(-1); d <= 1; d++ {
			n := new(big.Int).Lsh(big.NewInt(1), bit)
			add(n.Add(n, big.NewInt(d)))
		}
	}
	// (sqrt(5)-1)/2 for Euclid's algorithm, (sqrt(17)-1)/4 for the binary one of
	// Stehlé and Zimmermann.
	for _, ratio := range [][2]int64{{5, 2}, {17, 4}} {
		n := new(big.Int).Mul(big.NewInt(ratio[0]), new(big.Int).Mul(p, p))
		n.Sqrt(n).Sub(n, p).Div(n, big.NewInt(ratio[1]))
		for d := int64(-8); d <= 8; d++ {
			add(new(big.Int).Add(n, big.NewInt(d)))
		}
	}
	return edges
}

// Each inversion by name against math/big, its twin, and the bound that it
// states.
func TestInvertKernels(t *testing.T) {
	kernels := append(invertAssembly(), invertKernel{"generic", invertGeneric})
	if len(kernels) == 1 {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required, and no kernel may run")
		}
		t.Log("no kernel may run here: only the generic code is tested")
	}
	check := func(a [4]uint64) {
		n := bigWords(&a)
		for _, k := range kernels {
			out := [6]uint64{11, 1, 2, 3, 4, 12}
			in := a
			k.f((*[4]uint64)(out[1:]), &in)
			b := [4]uint64(out[1:])
			if out[0] != 11 || out[5] != 12 || in != a {
				t.Fatalf("%s: invert(%x) has written elsewhere", k.name, a)
			}
			// b is the inverse if it is canonical and the product is 1.
			product := bigWords(&b)
			if product.Cmp(p) >= 0 {
				t.Fatalf("%s: invert(%x) = %x is not canonical", k.name, a, b)
			}
			product.Mul(product, n).Mod(product, p)
			if zero := new(big.Int).Mod(n, p).Sign() == 0; zero && b != [4]uint64{} || !zero && (!product.IsUint64() || product.Uint64() != 1) {
				t.Fatalf("%s: invert(%x) = %x, times that %x", k.name, a, b, product)
			}
			k.f(&in, &in)
			if in != b {
				t.Fatalf("%s: invert(%x) in place gives %x, not %x", k.name, a, in, b)
			}
		}
	}
	for _, a := range invertEdges() {
		check(a)
	}
	n := 100_000
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") == "1":
		n = 1_000_000
	case testing.Short():
		n = 1000
	}
	r := newRand(20)
	for range n {
		var a [4]uint64
		if r.IntN(2) == 0 {
			b := testvec.WeirdBytes32(r)
			a = loadWords(b[:])
		} else {
			a = [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
		}
		check(a)
	}
}

// The matrices of division steps, against the steps themselves over math/big;
// their bounds, and those of the numbers that they are applied to.
func TestDivsteps(t *testing.T) {
	r := newRand(21)
	limit := new(big.Int).Lsh(big.NewInt(1), 254)
	limit.Add(limit, new(big.Int).Lsh(big.NewInt(1), 63))
	edges := invertEdges()
	n := 2000
	if testing.Short() {
		n = 200
	}
	for i := range n {
		a := [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
		if i < len(edges) && i%4 == 0 {
			a = edges[i]
		}
		g := reduceWords(&a)
		f := wordsOf(p)
		bigF, bigG, delta := new(big.Int).Set(p), bigWords(&g), 0 // δ - 1/2
		var d [4]uint64
		e := invertScale
		eta := int64(-1)
		for range invertRounds {
			var m transition
			eta, m = divsteps59(eta, f[0], g[0])
			for range invertSteps {
				switch {
				case bigG.Bit(0) == 0:
					delta++
				case delta >= 0:
					bigF, bigG, delta = bigG, new(big.Int).Sub(bigG, bigF), -delta
				default:
					bigG.Add(bigG, bigF)
					delta++
				}
				bigG = new(big.Int).Rsh(bigG, 1)
			}
			for _, row := range [][2]int64{{m.u, m.v}, {m.q, m.r}} {
				if abs(row[0])+abs(row[1]) > 1<<invertSteps {
					t.Fatalf("%x: a row of the matrix is %x", a, row)
				}
			}
			f, g = m.divide(&f, &g)
			d, e = m.modulo(&d, &e)
			// Every round negates.
			bigF.Neg(bigF)
			bigG.Neg(bigG)
			if signed(&f).Cmp(bigF) != 0 || signed(&g).Cmp(bigG) != 0 || eta != int64(-1-delta) {
				t.Fatalf("%x: f, g, eta = %x, %x, %d; want %x, %x, %d", a, signed(&f), signed(&g), eta, bigF, bigG, -1-delta)
			}
			if signed(&d).CmpAbs(limit) >= 0 || signed(&e).CmpAbs(limit) >= 0 {
				t.Fatalf("%x: d, e = %x, %x", a, d, e)
			}
		}
		if bigG.Sign() != 0 {
			t.Fatalf("%x: g = %x after all steps", a, bigG)
		}
	}
}

func abs(x int64) int64 { return max(x, -x) }

// signed returns the value of a two's complement.
func signed(w *[4]uint64) *big.Int {
	n := bigWords(w)
	if w[3]>>63 == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return n
}
