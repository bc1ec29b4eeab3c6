package field

import (
	"math/big"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

// Each kernel by name against its twin: the limbs must be the same, the value
// that of math/big, the bounds those that both state. This holds whatever the
// dispatchers choose.
func TestKernels(t *testing.T) {
	if len(assemblyKernels()) == 0 {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required, and no kernel may run")
		}
		t.Log("no kernel may run here: only the generic code is tested")
	}
	for _, k := range kernels() {
		t.Run(k.name, func(t *testing.T) {
			for _, x := range edges() {
				checkKernelOne(t, k, &x.l)
			}
			maxima := edges()[:32]
			for _, x := range maxima {
				for _, y := range maxima {
					checkKernelMul(t, k, &x.l, &y.l)
				}
			}
			r := newRand(10)
			n := 20_000
			if testing.Short() {
				n = 1000
			}
			for range n {
				x, y := weird(r), weird(r)
				checkKernelMul(t, k, &x.l, &y.l)
				checkKernelOne(t, k, &x.l)
			}
		})
	}
}

func checkKernelMul(t *testing.T, k kernelSet, x, y *[5]uint64) {
	t.Helper()
	var want [5]uint64
	feMulGeneric(&want, x, y)
	// Guards on both sides, and garbage where the result goes.
	out := [7]uint64{11, 1, 2, 3, 4, 5, 12}
	a, b := *x, *y
	k.mul((*[5]uint64)(out[1:]), &a, &b)
	if got := [5]uint64(out[1:]); got != want || out[0] != 11 || out[6] != 12 || a != *x || b != *y {
		t.Fatalf("mul(%x, %x) = %x, want %x; operands after it %x, %x", x, y, out, want, a, b)
	}
	checkColumns(t, &want, new(big.Int).Mul(bigLimbs(x), bigLimbs(y)))
}

func checkKernelOne(t *testing.T, k kernelSet, x *[5]uint64) {
	t.Helper()
	var want [5]uint64
	feSquareGeneric(&want, x)
	out := [7]uint64{11, 1, 2, 3, 4, 5, 12}
	a := *x
	k.square((*[5]uint64)(out[1:]), &a)
	if got := [5]uint64(out[1:]); got != want || out[0] != 11 || out[6] != 12 || a != *x {
		t.Fatalf("square(%x) = %x, want %x; operand after it %x", x, out, want, a)
	}
	checkColumns(t, &want, new(big.Int).Mul(bigLimbs(x), bigLimbs(x)))

	for n := 1; n <= 3; n++ {
		feSquareNGeneric(&want, x, n)
		out := [7]uint64{11, 1, 2, 3, 4, 5, 12}
		k.squareN((*[5]uint64)(out[1:]), &a, n)
		if got := [5]uint64(out[1:]); got != want || out[0] != 11 || out[6] != 12 || a != *x {
			t.Fatalf("squareN(%x, %d) = %x, want %x; operand after it %x", x, n, out, want, a)
		}
		if n > 1 {
			k.squareN(&a, &a, n)
			if a != want {
				t.Fatalf("squareN(%x, %d) in place = %x, want %x", x, n, a, want)
			}
			a = *x
		}
	}
}

func checkColumns(t *testing.T, got *[5]uint64, want *big.Int) {
	t.Helper()
	if n := bigLimbs(got); n.Sub(n, want).Mod(n, p).Sign() != 0 {
		t.Fatalf("%x is not %x", got, want)
	}
	if v := element(got[:]...); !isInBounds(v, 1<<18) {
		t.Fatalf("%x is out of bounds", got)
	}
}

// What a walk from the largest limbs meets stays in bounds, for each tier.
func TestKernelWalk(t *testing.T) {
	for _, k := range kernels() {
		x := [5]uint64{maxLimb, maxLimb, maxLimb, maxLimb, maxLimb}
		y := x
		for range 1000 {
			want := new(big.Int).Mul(bigLimbs(&x), bigLimbs(&y))
			k.mul(&y, &x, &y)
			checkColumns(t, &y, want)
			k.squareN(&x, &x, 7)
		}
		var gx, gy [5]uint64
		gx = [5]uint64{maxLimb, maxLimb, maxLimb, maxLimb, maxLimb}
		gy = gx
		for range 1000 {
			feMulGeneric(&gy, &gx, &gy)
			feSquareNGeneric(&gx, &gx, 7)
		}
		if x != gx || y != gy {
			t.Errorf("%s: the walk ends elsewhere", k.name)
		}
	}
}
