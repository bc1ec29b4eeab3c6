package curve

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// A ladderKernel names the function of one tier.
type ladderKernel struct {
	name string
	f    func(x, z *[4]uint64, k, u *[32]byte)
}

// ladderEdges are u-coordinates at the limits of words, and of the field: words
// of zeros and ones in every pattern, p-1, p, p+18, and others.
func ladderEdges() (edges [][32]byte) {
	for pattern := range 16 {
		var u [32]byte
		for i := range 4 {
			if pattern>>i&1 == 1 {
				binary.LittleEndian.PutUint64(u[8*i:], 1<<64-1)
			}
		}
		edges = append(edges, u)
	}
	for _, d := range []int64{-38, -20, -19, -18, -2, -1, 0, 1, 18, 19} {
		edges = append(edges, bytesOf(new(big.Int).Add(bigP, big.NewInt(d))))
	}
	return append(edges, testvec.EdgeBytes32()...)
}

// Each kernel by name: its results are those of the twin modulo p, within the
// bounds that it states, and those of the twin those of math/big.
func TestLadderKernels(t *testing.T) {
	kernels := ladderAssembly()
	if len(kernels) == 0 {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required, and no kernel may run")
		}
		t.Log("no kernel may run here: only the generic code is tested")
	}
	scalars := [][32]byte{{}, {8}, {31: 0x40}, {0: 0xf8, 31: 0x7f}, {}, {}}
	for i := range 32 {
		scalars[4][i], scalars[5][i] = 0xff, 0xa5
	}
	clamp(&scalars[4])
	clamp(&scalars[5])
	points := ladderEdges()
	if testing.Short() {
		scalars = scalars[4:]
	}
	for i, k := range scalars {
		for j, u := range points {
			x, z := checkLadder(t, kernels, &k, &u)
			if k[31]&0x40 == 0 || (i+j)%8 != 0 {
				continue // the reference clamps, and takes its time
			}
			v := bigX25519(&k, &u)
			want := bigOf(v[:])
			if z.Sign() == 0 { // the point at infinity
				x.Set(z)
			}
			if x.Cmp(new(big.Int).Mod(new(big.Int).Mul(want, z), bigP)) != 0 || want.Sign() != 0 && z.Sign() == 0 {
				t.Fatalf("ladder(%x, %x) = %x/%x, which is not that of math/big", k, u, x, z)
			}
		}
	}
	n := 2000
	switch {
	case longTests():
		n = 1000000
	case testing.Short():
		n = 100
	}
	r := rand.New(rand.NewPCG(3, 1))
	for range n {
		k, u := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
		k[0] &= 248
		k[31] &= 127
		checkLadder(t, kernels, &k, &u)
	}
}

func checkLadder(t *testing.T, kernels []ladderKernel, k, u *[32]byte) (x, z *big.Int) {
	t.Helper()
	var want [2][4]uint64
	ladderGeneric(&want[0], &want[1], k, u)
	for _, kernel := range kernels {
		// Guards around the results, and garbage in their place.
		out := [3][6]uint64{{11, 1, 2, 3, 4, 12}, {13, 5, 6, 7, 8, 14}}
		l, v := *k, *u
		kernel.f((*[4]uint64)(out[0][1:]), (*[4]uint64)(out[1][1:]), &l, &v)
		for i := range want {
			w := [4]uint64(out[i][1:])
			if got := new(field.Element).SetWords(&w).Words(); got != want[i] {
				t.Fatalf("%s: ladder(%x, %x): number %d is %x, that of the twin %x", kernel.name, *k, *u, i, got, want[i])
			}
			if w[3] >= 1<<63+1<<7 { // 2^255 + 2^199
				t.Fatalf("%s: ladder(%x, %x): number %d is %x, out of bounds", kernel.name, *k, *u, i, w)
			}
		}
		if out[0][0] != 11 || out[0][5] != 12 || out[1][0] != 13 || out[1][5] != 14 || l != *k || v != *u {
			t.Fatalf("%s: ladder(%x, %x) has written elsewhere", kernel.name, *k, *u)
		}
	}
	return bigWords(want[0][:]...), bigWords(want[1][:]...)
}
