package asm

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

func kernelNamed(t *testing.T, name string) []instruction {
	t.Helper()
	for _, k := range kernelTexts(t) {
		if k.name == name {
			return program(k)
		}
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

const (
	limbIn  = 1<<52 - 1         // the largest limb that goes in
	limbOut = 1<<51 + 1<<18 - 1 // the largest limb that comes out
)

func fieldLimits() *state {
	s := newState()
	s.set("a", limbIn, limbIn, limbIn, limbIn, limbIn)
	s.set("b", limbIn, limbIn, limbIn, limbIn, limbIn)
	s.mem["n"] = 1<<64 - 1
	return s
}

// The bounds of the field kernels, proved by evaluating their instructions on
// the upper limits of every word: no sum, product or shift leaves 64 bits but
// where an ADCQ takes the carry, and what comes out is as small as stated. The
// loop of feSquareNMULX is proved by induction: what its registers hold at the
// end of a turn is within what they held at its begin.
func TestFieldBounds(t *testing.T) {
	for _, name := range []string{"feMulMULX", "feSquareMULX", "feSquareNMULX"} {
		t.Run(name, func(t *testing.T) {
			s := fieldLimits()
			var begin map[string]uint64
			ends := 0
			err := s.run(kernelNamed(t, name), func(string) (bool, error) {
				if begin == nil {
					begin = map[string]uint64{}
					for r, v := range s.reg {
						if _, isPointer := s.ptr[r]; !isPointer {
							begin[r] = v
						}
					}
					return false, nil
				}
				ends++
				for r, v := range begin {
					if s.reg[r] > v {
						return false, fmt.Errorf("%s grows from %#x to %#x in one turn", r, v, s.reg[r])
					}
				}
				return false, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if (name == "feSquareNMULX") != (ends == 1) {
				t.Errorf("%d loops", ends)
			}
			for i, l := range s.words(t, "out", 5) {
				if l > limbOut {
					t.Errorf("limb %d of the result is up to %#x", i, l)
				}
			}
		})
	}

	// The evaluation can fail: on limbs that are too large, and wherever an
	// instruction does not take the carry that the one before it leaves.
	s := fieldLimits()
	s.set("a", 1<<58, 1<<58, 1<<58, 1<<58, 1<<58)
	s.set("b", 1<<58, 1<<58, 1<<58, 1<<58, 1<<58)
	mul := kernelNamed(t, "feMulMULX")
	if err := s.run(mul, nil); err == nil {
		t.Error("limbs of 2^58 pass")
	}
	found := 0
	for at, i := range mul {
		if i.op == "ADCQ" {
			found++
			broken := slices.Clone(mul)
			broken[at].op = "ADDQ"
			if err := fieldLimits().run(broken, nil); err == nil {
				t.Errorf("instruction %d (%v) without its carry passes", at, i)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d carries", found)
	}
}

// interpret runs a kernel on numbers; a dropped carry is an error. n is the
// parameter of that name.
func interpret(t *testing.T, x *executable, n uint64, arrays map[string][]uint64, size int) *big.Int {
	t.Helper()
	parameters := map[string]any{"n": n, "out": make([]uint64, size)}
	for name, w := range arrays {
		parameters[name] = w
	}
	m := newMachine(x, parameters)
	if err := m.run(x); err != nil {
		t.Fatalf("%v, on %x", err, arrays)
	}
	shift := uint(64)
	if size == 5 {
		shift = 51
	}
	return number(m.words("out"), shift)
}

func number(words []uint64, shift uint) *big.Int {
	n := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		n.Lsh(n, shift).Add(n, new(big.Int).SetUint64(words[i]))
	}
	return n
}

// rounds is how many random inputs the interpreter gets.
func rounds() int {
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") == "1":
		return 100_000
	case testing.Short():
		return 300
	}
	return 3000
}

func weirdArray(r *rand.Rand, n int, bits uint) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = testvec.WeirdUint64(r) >> (64 - bits)
		if bits < 64 && r.IntN(2) == 0 {
			w[i] = testvec.WeirdLimb(r, bits)
		}
	}
	return w
}

// pattern returns n words, each zero or the largest of so many bits.
func pattern(m, n int, bits uint) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = -uint64(m>>i&1) >> (64 - bits)
	}
	return w
}

// The 4 x 64-bit kernels of scalars use whole words, so that limits say nothing:
// the interpreter runs on numbers, compares with math/big, and finds that no
// carry is dropped that is not zero. Where the code ends a chain of additions,
// the bounds in scalarReduceWideGeneric are why.
func TestScalarCarries(t *testing.T) {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	mulAdd, reduceWide := load(t, "scalarMulAddMULX"), load(t, "scalarReduceWideMULX")
	check := func(a, b, c []uint64) {
		t.Helper()
		want := new(big.Int).Mul(number(a, 64), number(b, 64))
		want.Add(want, number(c, 64)).Mod(want, order)
		got := interpret(t, mulAdd, 0, map[string][]uint64{"a": a, "b": b, "c": c}, 4)
		if got.Cmp(want) != 0 {
			t.Fatalf("mulAdd(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
	checkWide := func(x []uint64) {
		t.Helper()
		want := new(big.Int).Mod(number(x, 64), order)
		if got := interpret(t, reduceWide, 0, map[string][]uint64{"x": x}, 4); got.Cmp(want) != 0 {
			t.Fatalf("reduceWide(%x) = %x, want %x", x, got, want)
		}
	}
	for i := range 16 {
		for j := range 16 {
			check(pattern(i, 4, 64), pattern(j, 4, 64), pattern(i^j, 4, 64))
			check(pattern(i, 4, 64), pattern(j, 4, 64), pattern(15, 4, 64))
		}
	}
	for i := range 256 {
		checkWide(pattern(i, 8, 64))
	}
	// Around multiples of ℓ, small and large.
	for shift := range uint(260) {
		n := new(big.Int).Lsh(order, shift)
		for d := int64(-1); d <= 1; d++ {
			v := new(big.Int).Add(n, big.NewInt(d))
			if v.BitLen() > 512 {
				continue
			}
			x := make([]uint64, 8)
			for i := range x {
				x[i] = new(big.Int).Rsh(v, uint(64*i)).Uint64()
			}
			checkWide(x)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds() {
		check(weirdArray(r, 4, 64), weirdArray(r, 4, 64), weirdArray(r, 4, 64))
		checkWide(weirdArray(r, 8, 64))
	}
}

// The interpreter agrees with math/big on the field kernels too.
func TestFieldCarries(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	mul, square, squareN := load(t, "feMulMULX"), load(t, "feSquareMULX"), load(t, "feSquareNMULX")
	check := func(a, b []uint64) {
		t.Helper()
		x := number(a, 51)
		for _, tc := range []struct {
			x      *executable
			n      uint64
			factor *big.Int
		}{
			{mul, 0, number(b, 51)},
			{square, 0, x},
			{squareN, 1, x},
			{squareN, 2, new(big.Int).Exp(x, big.NewInt(3), p)},
		} {
			want := new(big.Int).Mul(x, tc.factor)
			got := interpret(t, tc.x, tc.n, map[string][]uint64{"a": a, "b": b}, 5)
			if got.Sub(got, want).Mod(got, p).Sign() != 0 {
				t.Fatalf("%x, %x, n = %d: the result is wrong", a, b, tc.n)
			}
		}
	}
	for i := range 32 {
		for j := range 32 {
			check(pattern(i, 5, 52), pattern(j, 5, 52))
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds() / 3 {
		check(weirdArray(r, 5, 52), weirdArray(r, 5, 52))
	}
}
