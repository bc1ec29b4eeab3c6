package curve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/testvec"
)

func TestSignedRadix16(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	check := func(k [32]byte) {
		t.Helper()
		d := signedRadix16(&k)
		sum := new(big.Int)
		for i := 63; i >= 0; i-- {
			n := d.at(i)
			if n < -8 || n > 8 || i < 63 && n > 7 || i == 63 && n < 0 {
				t.Fatalf("%x: digit %d is %d", k, i, n)
			}
			sum.Lsh(sum, 4).Add(sum, big.NewInt(n))
		}
		if sum.Cmp(bigOf(k[:])) != 0 {
			t.Fatalf("%x: the digits give %x", k, sum)
		}
	}
	for _, k := range testvec.EdgeBytes32() {
		k[31] &= 0x7f
		check(k)
	}
	for range 1000 {
		k := testvec.WeirdBytes32(r)
		k[31] &= 0x7f
		check(k)
	}
}

// TestFixedBase compares with filippo.io/edwards25519, also for integers that
// are not reduced, and for each power of 16 and each digit by itself.
func TestFixedBase(t *testing.T) {
	var ks [][32]byte
	for i := range 64 {
		for _, d := range []byte{1, 7, 8, 9, 15} {
			var k [32]byte
			k[i/2] = d << (4 * (i % 2))
			k[31] &= 0x7f
			ks = append(ks, k)
		}
	}
	for _, k := range testvec.EdgeBytes32() {
		k[31] &= 0x7f
		ks = append(ks, k)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		k := testvec.WeirdBytes32(r)
		k[31] &= 0x7f
		ks = append(ks, k)
	}
	want := make([][32]byte, len(ks))
	for i, k := range ks {
		s, err := edwards25519.NewScalar().SetUniformBytes(append(k[:], make([]byte, 32)...))
		if err != nil {
			t.Fatal(err)
		}
		want[i] = [32]byte(new(edwards25519.Point).ScalarBaseMult(s).Bytes())
	}
	eachTier(t, func(t *testing.T) {
		for i, k := range ks {
			var p Point
			if fixedBase(&p, &k); [32]byte(p.Bytes()) != want[i] {
				t.Errorf("%x: %x, want %x", k, p.Bytes(), want[i])
			}
		}
	})
}
