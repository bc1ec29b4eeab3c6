//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// needIFMA skips a test where no kernel of the tier may run, or those of 512-bit
// registers may not.
func needIFMA(t *testing.T, zmm bool) {
	t.Helper()
	if cpu.IFMA && (cpu.ZMM || !zmm) {
		return
	}
	if impltest.Required("ifma") && (!zmm || !cpu.IFMA) {
		t.Fatal("ifma is required: " + cpu.Reason("ifma"))
	}
	t.Skip(cpu.Reason("ifma") + cpu.Reason("zmm"))
}

// lanesOf8 and lanesOf4 run a kernel on so many scalars and points in limbs.
func lanesOf8(f func(x, z *[5][8]uint64, k *[4][8]uint64, u *[5][8]uint64)) func(x, z, u [][5]uint64, k [][4]uint64) {
	return func(x, z, u [][5]uint64, k [][4]uint64) {
		var kw [4][8]uint64
		var ul, xl, zl [5][8]uint64
		for lane := range 8 {
			for j := range kw {
				kw[j][lane] = k[lane][j]
			}
			for j := range ul {
				ul[j][lane] = u[lane][j]
				xl[j][lane], zl[j][lane] = 0xdead, 0xbeef
			}
		}
		f(&xl, &zl, &kw, &ul)
		for lane := range 8 {
			for j := range xl {
				x[lane][j], z[lane][j] = xl[j][lane], zl[j][lane]
			}
		}
	}
}

func lanesOf4(f func(x, z *[5][4]uint64, k *[4][4]uint64, u *[5][4]uint64)) func(x, z, u [][5]uint64, k [][4]uint64) {
	return func(x, z, u [][5]uint64, k [][4]uint64) {
		var kw [4][4]uint64
		var ul, xl, zl [5][4]uint64
		for lane := range 4 {
			for j := range kw {
				kw[j][lane] = k[lane][j]
			}
			for j := range ul {
				ul[j][lane] = u[lane][j]
				xl[j][lane], zl[j][lane] = 0xdead, 0xbeef
			}
		}
		f(&xl, &zl, &kw, &ul)
		for lane := range 4 {
			for j := range xl {
				x[lane][j], z[lane][j] = xl[j][lane], zl[j][lane]
			}
		}
	}
}

func testLadderLanes(t *testing.T, lanes int, f func(x, z, u [][5]uint64, k [][4]uint64)) {
	r := rand.New(rand.NewPCG(41, uint64(lanes)))
	x, z, u := make([][5]uint64, lanes), make([][5]uint64, lanes), make([][5]uint64, lanes)
	k := make([][4]uint64, lanes)
	n := 300
	switch {
	case longTests():
		n = 100_000
	case testing.Short():
		n = 20
	}
	edges := ladderEdges()
	for round := range n {
		for lane := range lanes {
			switch {
			case round*lanes+lane < 32: // limbs of zeros and the largest in every pattern
				for j := range 5 {
					u[lane][j] = (1<<52 - 1) * uint64((round*lanes+lane)>>j&1)
				}
			case r.IntN(3) == 0:
				u[lane] = limbsOf(&edges[r.IntN(len(edges))])
			default:
				for j := range 5 {
					u[lane][j] = testvec.WeirdLimb(r, 52)
				}
			}
			kb := testvec.WeirdBytes32(r)
			kb[0] &= 248
			kb[31] &= 127
			k[lane], _ = laneScalar(&kb)
		}
		f(x, z, u, k)
		for lane := range lanes {
			var e field.Element
			*e.Limbs() = u[lane]
			var ub [32]byte
			e.BytesInto(&ub)
			_, kb := laneScalar(bytesOfWords(&k[lane]))
			var want [2][4]uint64
			ladderGeneric(&want[0], &want[1], kb, &ub)
			for i, got := range [][5]uint64{x[lane], z[lane]} {
				for _, l := range got {
					if l >= 1<<51+1<<18 {
						t.Fatalf("k = %x, u = %x: a limb of %x is out of bounds", k[lane], u[lane], got)
					}
				}
				*e.Limbs() = got
				if e.Words() != want[i] {
					t.Fatalf("lane %d, k = %x, u = %x: %x, that of the twin is %x", lane, k[lane], u[lane], e.Words(), want[i])
				}
			}
		}
	}
}

// laneScalar returns the words of k, and k.
func laneScalar(k *[32]byte) (w [4]uint64, same *[32]byte) {
	for i := range 32 {
		w[i/8] |= uint64(k[i]) << (i % 8 * 8)
	}
	return w, k
}

func bytesOfWords(w *[4]uint64) *[32]byte {
	b := bytesOf4(w[0], w[1], w[2], w[3])
	return &b
}

// Each lane of the kernels by name gives what the twin gives, within the bounds
// that they state, for limbs up to the bound of what they take.
func TestLadder8IFMA(t *testing.T) {
	needIFMA(t, true)
	testLadderLanes(t, 8, lanesOf8(ladder8IFMA))
	if noticed, differs := ladder8IFMAMutant(ladder8IFMA); noticed || differs {
		t.Error("the self-test fails")
	}
}

func TestLadder4IFMA(t *testing.T) {
	needIFMA(t, false)
	testLadderLanes(t, 4, lanesOf4(ladder4IFMA))
	if noticed, differs := ladder4IFMAMutant(ladder4IFMA); noticed || differs {
		t.Error("the self-test fails")
	}
}

func ladder8IFMAMutant(f func(x, z *[5][8]uint64, k *[4][8]uint64, u *[5][8]uint64)) (noticed, differs bool) {
	return !selfTestLadder8(f), laneMutantDiffers(8, lanesOf8(f), lanesOf8(ladder8IFMA))
}

func ladder4IFMAMutant(f func(x, z *[5][4]uint64, k *[4][4]uint64, u *[5][4]uint64)) (noticed, differs bool) {
	return !selfTestLadder4(f), laneMutantDiffers(4, lanesOf4(f), lanesOf4(ladder4IFMA))
}

func laneMutantDiffers(lanes int, f, honest func(x, z, u [][5]uint64, k [][4]uint64)) (differs bool) {
	r := rand.New(rand.NewPCG(42, uint64(lanes)))
	for range 8 {
		var x, z, u [2][8][5]uint64
		var k [8][4]uint64
		for lane := range k {
			kb := testvec.WeirdBytes32(r)
			clamp(&kb)
			k[lane], _ = laneScalar(&kb)
			for j := range 5 {
				u[0][lane][j] = testvec.WeirdLimb(r, 51)
			}
		}
		f(x[0][:lanes], z[0][:lanes], u[0][:lanes], k[:lanes])
		honest(x[1][:lanes], z[1][:lanes], u[0][:lanes], k[:lanes])
		for lane := range lanes {
			var e [4]field.Element
			for i, l := range [][5]uint64{x[0][lane], x[1][lane], z[0][lane], z[1][lane]} {
				*e[i].Limbs() = l
			}
			differs = differs || e[0].Equal(&e[1]) == 0 || e[2].Equal(&e[3]) == 0
		}
	}
	return differs
}

// A kernel that lies in one bit of one lane does not pass the self-test.
func TestLaneSelfTestsSeeALie(t *testing.T) {
	needIFMA(t, false)
	for lane := range 4 {
		if selfTestLadder4(func(x, z *[5][4]uint64, k *[4][4]uint64, u *[5][4]uint64) {
			ladder4IFMA(x, z, k, u)
			x[3][lane] ^= 1 << 17
		}) {
			t.Errorf("a lie in lane %d of 4 is not noticed", lane)
		}
	}
	needIFMA(t, true)
	for lane := range 8 {
		if selfTestLadder8(func(x, z *[5][8]uint64, k *[4][8]uint64, u *[5][8]uint64) {
			ladder8IFMA(x, z, k, u)
			z[lane%5][lane] ^= 1
		}) {
			t.Errorf("a lie in lane %d of 8 is not noticed", lane)
		}
	}
}
